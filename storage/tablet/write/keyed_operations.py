"""Operations on one tablet, their keys encoded, and what each does to the row it finds.

The table of Kudu's row operations (`tablet/row_op.h`): by kind and by whether the key exists, an
operation inserts, changes, deletes, does nothing, or fails.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.cells import from_cell
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    ImmutableColumnError,
    IntegrityError,
    RowNotFoundError,
)
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe, RowSet
from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class KeyedOperations:
    """A batch of operations on one tablet, its keys encoded and distinct.

    Attributes:
        operations: what to do; INSERT and UPSERT carry every column (see `set_ids`).
        set_ids: the columns outside the key that an UPSERT or UPDATE of a present row sets.
        fixed: name of an immutable column for whose sake a present row is refused, or None.
    """

    operations: RowOperations
    keys: EncodedKeys
    set_ids: tuple[int, ...]
    fixed: str | None = None

    @property
    def kind(self) -> RowOpKind:
        """What to do."""
        return self.operations.kind


class KeyedRow(NamedTuple):
    """One operation on one row.

    Attributes:
        probe: its key.
        cells: for INSERT and UPSERT every column; for UPDATE those set.
        set_ids, fixed: as in `KeyedOperations`.
    """

    kind: RowOpKind
    probe: KeyProbe
    cells: Mapping[int, Cell]
    set_ids: tuple[int, ...]
    fixed: str | None = None


class NewRow(NamedTuple):
    """The operation appends its row to the MemRowSet."""

    cells: Mapping[int, Cell]


class ChangedRow(NamedTuple):
    """The operation changes a row that is there, or inserts a ghost again."""

    rowset: RowSet
    ordinal: int
    kind: DeltaKind
    cells: Mapping[int, Cell]


def decide(
    tablet: Tablet, table_name: str, row: KeyedRow, location: tuple[RowSet, int, bool] | None
) -> NewRow | ChangedRow | bool:
    """What an operation does.

    `row`: the operation; `location`: of the key, and whether it is alive (see `locator.find_row`).
    Returns the effect; or, when there is none, whether the row counts as changed. Raises
    AlreadyPresentError, RowNotFoundError, ImmutableColumnError: the operation does not fit.
    """
    kind = row.kind
    if location is None or not location[2]:
        if kind is RowOpKind.UPDATE or kind is RowOpKind.DELETE:
            raise misfit(tablet, table_name, row, row.probe.encoded, False)
        if not kind.may_insert:
            return False
        if location is None:
            return NewRow(row.cells)
        key_ids = tablet.schema.key_ids
        cells = {i: cell for i, cell in row.cells.items() if i not in key_ids}
        return ChangedRow(location[0], location[1], DeltaKind.REINSERT, cells)
    if kind is RowOpKind.INSERT or row.fixed is not None:
        raise misfit(tablet, table_name, row, row.probe.encoded, True)
    if kind is RowOpKind.INSERT_IGNORE:
        return False
    if kind is RowOpKind.DELETE or kind is RowOpKind.DELETE_IGNORE:
        return ChangedRow(location[0], location[1], DeltaKind.DELETE, {})
    if not row.set_ids:
        return kind is not RowOpKind.UPDATE_IGNORE
    return ChangedRow(
        location[0], location[1], DeltaKind.UPDATE, {i: row.cells[i] for i in row.set_ids}
    )


def misfit(
    tablet: Tablet, table_name: str, operation: KeyedOperations | KeyedRow, key: bytes, alive: bool
) -> IntegrityError:
    """The error for an operation that the row's state does not allow.

    `operation`: that the row is of; `key`: of the row, encoded; `alive`: whether the key exists.
    """
    where = f"table '{table_name}': {_describe(tablet, key)}"
    if not alive:
        return RowNotFoundError(f"key not found in {where}")
    if operation.fixed is not None:
        return ImmutableColumnError(
            f"UPDATE not allowed for immutable column '{operation.fixed}' of {where}",
            hint="leave the column out, or use an IGNORE form to keep its value",
        )
    return AlreadyPresentError(
        f"key already present in {where}",
        hint="use UPSERT to overwrite, or INSERT OR IGNORE to skip",
    )


def _describe(tablet: Tablet, key: bytes) -> str:
    columns = tablet.schema.key_columns
    cells = tablet.key_encoder.decode_one(key)
    values = [str(from_cell(v, c.type)) for c, v in zip(columns, cells, strict=True)]
    return f"({', '.join(c.name for c in columns)}) = ({', '.join(values)})"


def misfits(batch: KeyedOperations, located: Located) -> npt.NDArray[np.bool_]:
    """The rows of a batch that cannot be done where they were found, bool[n]."""
    kind, alive = batch.kind, located.alive
    wrong = np.zeros(len(alive), np.bool_)
    if kind is RowOpKind.UPDATE or kind is RowOpKind.DELETE:
        wrong |= ~alive
    if kind is RowOpKind.INSERT or batch.fixed is not None:
        wrong |= alive
    return wrong


def effective_rows(batch: KeyedOperations, alive: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The rows that an *_IGNORE operation does not skip, bool[n]; of other kinds all.

    `alive`: which of their keys exist.
    """
    match batch.kind:
        case RowOpKind.INSERT_IGNORE:
            return ~alive
        case RowOpKind.DELETE_IGNORE:
            return alive
        case RowOpKind.UPDATE_IGNORE:
            return alive if batch.set_ids else np.zeros(len(alive), np.bool_)
        case _:
            return np.ones(len(alive), np.bool_)
