"""A table as a plain dictionary with its whole history, to hold the engine against."""

from dataclasses import dataclass, field

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import array_to_cells, cells_to_array
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.transaction.transaction import Transaction

Key = tuple[Cell, ...]
Row = dict[int, Cell]


@dataclass
class ModelTable:
    """Rows by key, each as cells by column id, and what they were after every commit.

    Attributes:
        rows: now.
        past: hybrid time bounds with the rows and the columns visible below them, oldest first.
    """

    rows: dict[Key, Row] = field(default_factory=dict)
    past: list[tuple[int, dict[Key, Row], TableInfo]] = field(default_factory=list)

    def remember(self, bound: int, table: TableInfo) -> None:
        """Note what a snapshot of a bound sees."""
        self.past.append((bound, {key: dict(row) for key, row in self.rows.items()}, table))


class Refused(Exception):
    """The model says that the operation must fail."""


def apply(
    rows: dict[Key, Row], table: TableInfo, kind: RowOpKind, batch: list[Row]
) -> dict[Key, Row]:
    """The rows after a batch, or Refused; the rows given stay as they are."""
    schema = table.schema
    changed = {key: dict(row) for key, row in rows.items()}
    for given in batch:
        key = tuple(given[i] for i in schema.key_ids)
        present = key in changed
        if kind is RowOpKind.INSERT and present:
            raise Refused(key)
        if kind in (RowOpKind.UPDATE, RowOpKind.DELETE) and not present:
            raise Refused(key)
        if kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE):
            changed.pop(key, None)
        elif present and kind is not RowOpKind.INSERT_IGNORE:
            changed[key].update(given)
        elif not present and kind.may_insert:
            changed[key] = {c.id: given.get(c.id, c.write_default) for c in schema.columns}
    return changed


def operations(table: TableInfo, kind: RowOpKind, batch: list[Row]) -> RowOperations:
    """A batch of rows that all set the same columns, as the engine takes it."""
    columns = {
        i: cells_to_array([row[i] for row in batch], table.schema.by_id[i].type) for i in batch[0]
    }
    return RowOperations(kind, columns, len(batch))


def read(txn: Transaction, table: TableInfo, bound: int | None = None) -> dict[Key, Row]:
    """All rows of a table as the engine sees them, in the shape of the model."""
    schema = table.schema
    spec = ScanSpec(tuple(c.id for c in schema.columns))
    found = txn.table_scan(table, spec, bound)
    cells = [
        array_to_cells(found.column(place).combine_chunks(), column.type)
        for place, column in enumerate(schema.columns)
    ]
    rows: dict[Key, Row] = {}
    for values in zip(*cells, strict=True):
        row = {c.id: v for c, v in zip(schema.columns, values, strict=True)}
        key = tuple(row[i] for i in schema.key_ids)
        assert key not in rows, f"key {key} is alive twice"
        rows[key] = row
    return rows


def visible(rows: dict[Key, Row], table: TableInfo) -> dict[Key, Row]:
    """Model rows with just the columns of a schema, columns that they lack at the read default."""
    return {
        key: {c.id: row.get(c.id, c.read_default) for c in table.schema.columns}
        for key, row in rows.items()
    }
