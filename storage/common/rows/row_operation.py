"""Row operations: what a batch of rows does to a table.

The eight operations are Kudu's (`common/row_operations.cc`). A batch has one kind and only the
columns it sets: an UPSERT of a present row and an UPDATE leave the others as they are.
"""

from collections.abc import Mapping
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass


class RowOpKind(StrEnum):
    """What happens to each row of a batch, by whether its key exists.

    Attributes:
        may_insert: whether a row with an unknown key is inserted.
        numbers: whether a table's hidden counter numbers the rows.
        updates, deletes: whether it is of that family.
        ignores: whether rows that do not fit are skipped and counted rather than refused.
    """

    INSERT = "INSERT"
    INSERT_IGNORE = "INSERT_IGNORE"
    UPSERT = "UPSERT"
    UPSERT_IGNORE = "UPSERT_IGNORE"
    UPDATE = "UPDATE"
    UPDATE_IGNORE = "UPDATE_IGNORE"
    DELETE = "DELETE"
    DELETE_IGNORE = "DELETE_IGNORE"

    def __init__(self, name: str) -> None:
        """Compute the properties once, as they are read for each row."""
        self.may_insert = name.startswith(("INSERT", "UPSERT"))
        self.numbers = name.startswith("INSERT")
        self.updates = name.startswith("UPDATE")
        self.deletes = name.startswith("DELETE")
        self.ignores = name.endswith("_IGNORE")


@dataclass(frozen=True, slots=True)
class RowOperations:
    """A batch of one kind of operation.

    Attributes:
        columns: the columns set, by id, of equal length and of each column's own Arrow type
            (strings may be dictionaries); the key's columns among them, unless there are addresses.
        length: rows.
        addresses: of living rows, int64[length], any of those that the transaction's latest scan
            with `ScanSpec.addressed` gave; of one that repeats the last row counts. None when the
            rows are named by their keys.
    """

    kind: RowOpKind
    columns: Mapping[int, pa.Array]
    length: int
    addresses: npt.NDArray[np.int64] | None = None
