"""Operations on one tablet, their keys encoded, and what each does to the row it finds.

The table of Kudu's row operations (`tablet/row_op.h`): by kind and by whether the key exists, an
operation inserts, changes, deletes, does nothing, or fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pykudu_sql.storage.common.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types import Cell
from pykudu_sql.storage.errors import AlreadyPresentError, RowNotFoundError
from pykudu_sql.storage.tablet.delta_store import DeltaKind
from pykudu_sql.storage.tablet.rowset import KeyProbe, RowSet
from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class KeyedOperations:
    """A batch of operations on one tablet, its keys encoded and distinct.

    Attributes:
        operations: what to do; INSERT and UPSERT carry every column (see `set_ids`).
        keys: encoded.
        set_ids: the columns outside the key that an UPSERT or UPDATE of a present row sets.
    """

    operations: RowOperations
    keys: EncodedKeys
    set_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeyedRow:
    """One operation on one row.

    Attributes:
        kind: what to do.
        probe: its key.
        cells: for INSERT and UPSERT every column; for UPDATE those set.
        set_ids: as in `KeyedOperations`.
    """

    kind: RowOpKind
    probe: KeyProbe
    cells: Mapping[int, Cell]
    set_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NewRow:
    """The operation appends its row to the MemRowSet."""

    cells: Mapping[int, Cell]


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """The operation changes a row that is there, or inserts a ghost again."""

    rowset: RowSet
    ordinal: int
    kind: DeltaKind
    cells: Mapping[int, Cell]


def decide(
    tablet: Tablet, table_name: str, row: KeyedRow, found: tuple[RowSet, int, bool] | None
) -> NewRow | ChangedRow | bool:
    """What an operation does.

    Args:
        tablet: that the row belongs to.
        table_name: for messages.
        row: the operation.
        found: where the key was found, and whether alive (see `locator.find_row`).

    Returns:
        The effect; or, when there is none, whether the row counts as changed.

    Raises:
        AlreadyPresentError, RowNotFoundError: the operation does not fit.
    """
    kind = row.kind
    if found is None or not found[2]:
        if kind is RowOpKind.UPDATE or kind is RowOpKind.DELETE:
            raise absent(tablet, table_name, row.probe.encoded)
        if not kind.may_insert:
            return False
        if found is None:
            return NewRow(row.cells)
        key_ids = tablet.schema.key_ids
        cells = {i: cell for i, cell in row.cells.items() if i not in key_ids}
        return ChangedRow(found[0], found[1], DeltaKind.REINSERT, cells)
    if kind is RowOpKind.INSERT:
        raise present(tablet, table_name, row.probe.encoded)
    if kind is RowOpKind.INSERT_IGNORE:
        return False
    if kind is RowOpKind.DELETE or kind is RowOpKind.DELETE_IGNORE:
        return ChangedRow(found[0], found[1], DeltaKind.DELETE, {})
    if not row.set_ids:
        return True
    return ChangedRow(found[0], found[1], DeltaKind.UPDATE, {i: row.cells[i] for i in row.set_ids})


def present(tablet: Tablet, table_name: str, key: bytes) -> AlreadyPresentError:
    """The error that says a key is there already."""
    return AlreadyPresentError(
        f"key already present in table '{table_name}': {_describe(tablet, key)}",
        hint="use UPSERT to overwrite, or INSERT OR IGNORE to skip",
    )


def absent(tablet: Tablet, table_name: str, key: bytes) -> RowNotFoundError:
    """The error that says a key is not there."""
    return RowNotFoundError(f"key not found in table '{table_name}': {_describe(tablet, key)}")


def _describe(tablet: Tablet, key: bytes) -> str:
    columns = tablet.schema.key_columns
    cells = tablet.key_encoder.decode_one(key)
    values = [str(c.type.from_cell(v)) for c, v in zip(columns, cells, strict=True)]
    return f"({', '.join(c.name for c in columns)}) = ({', '.join(values)})"
