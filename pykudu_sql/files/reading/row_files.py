"""What readers of all formats have in common: batches of rows with their places in a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError, InvalidSchemaError, UndefinedColumnError

BLOCK_BYTES = 8 << 20
TORN = "22P04"


@dataclass(frozen=True, slots=True)
class TornRow:
    """A record of a file that is no row.

    Attributes:
        record: its number in the file, from 0.
        error: why; `TORN` is the state of one that cannot be taken apart.
        text: it, as the file has it.
    """

    record: int
    error: DataError | UndefinedColumnError
    text: str


def torn_row(record: int, reason: str, text: str) -> TornRow:
    """A record that cannot be taken apart."""
    return TornRow(record, DataError(reason, sqlstate=TORN), text)


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Some rows of a file.

    Attributes:
        arrays: the columns that are read, as they are in the file.
        records: the number of each row in the file, from 0; int64[n].
        torn: records among them that are no rows.
        absent: by the place of a column, the rows that do not have it, which take its default.
    """

    arrays: Sequence[pa.Array]
    records: npt.NDArray[np.int64]
    torn: Sequence[TornRow] = ()
    absent: Mapping[int, pa.Array] = field(default_factory=dict)


class RowFile(Protocol):
    """A file that is read from its first row to its last.

    Attributes:
        columns: of the table, that the file's rows fill.
        count: records read so far, torn ones included.
    """

    columns: Sequence[ColumnSchema]
    count: int

    @property
    def bytes_read(self) -> int:
        """About how many bytes of the file, packed as they are there, the rows so far came from."""

    def batches(self) -> Iterator[FileBatch]:
        """All rows. Raises DataError: the file is damaged, or is none of its format."""

    def values(self, array: pa.Array, column: ColumnSchema) -> pa.Array:
        """A column of a batch, or a slice of it, as values of the table's column.

        Raises DataError: one of them is no such value.
        """

    def lines(self, records: Sequence[int]) -> Mapping[int, int]:
        """The lines at which records of a text begin, from 1; those that can be determined."""

    def close(self) -> None:
        """Give the file up. Closing twice is allowed."""


def positions_of(
    names: Sequence[str],
    table: TableInfo,
    requested_columns: Sequence[ColumnSchema] | None,
    path: str,
) -> list[tuple[int, ColumnSchema]]:
    """Which column of a file fills which of a table, by their names in any case.

    Args:
        names: of the file's columns.
        table: to be filled.
        requested_columns: columns of it that the statement names; None if it names none.
        path: of the file.

    Raises UndefinedColumnError: the file has a column that the table has not, or lacks one that the
    statement names; InvalidSchemaError: it has a column twice.
    """
    positions: dict[str, int] = {}
    for position, name in enumerate(names):
        if positions.setdefault(name.lower(), position) != position:
            raise InvalidSchemaError(f"'{path}' has the column '{name:.80}' twice")
    if requested_columns is not None:
        for column in requested_columns:
            if column.name not in positions:
                raise UndefinedColumnError(
                    f"'{path}' has no column '{column.name}'",
                    hint="its columns are " + ", ".join(name[:80] for name in names),
                )
        return [(positions[column.name], column) for column in requested_columns]
    by_name = {column.name: column for column in table.schema.visible_columns}
    for name in positions:
        if name not in by_name:
            raise UndefinedColumnError(
                f"'{path}' has a column '{name:.80}' that table '{table.name}' has not",
                hint="name the columns to be read: COPY t (a, b) FROM ..; those of the table are "
                + ", ".join(by_name),
            )
    return [(position, by_name[name]) for name, position in positions.items()]
