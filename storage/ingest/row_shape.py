"""The shape of operations on single rows: what follows from table, kind and columns alone.

A statement does one kind of operation on the same columns of one table each time it runs. So what
these decide is worked out for its first row, and looked up for those after it.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.auto_increment import counted_column
from pykudu_sql.storage.ingest.row_batch import SetColumns, check_set, complete_cells, set_columns
from pykudu_sql.storage.ingest.validation import Precheck, check_row, prechecks

_MOST_SHAPES: Final = 1024

RowShapes: TypeAlias = "dict[tuple[str, RowOpKind, tuple[int, ...]], RowShape]"


class RowShape(NamedTuple):
    """The shape of operations on one row.

    Attributes:
        table: as it was when the shape was made.
        kind: of operation.
        changed: what is set in a row that is there already.
        counter: the column that is numbered; None if the table has none, or no row is inserted.
        is_complete: whether no default is needed, and the columns are in the table's order.
        prechecks: see `validation`.
    """

    table: TableInfo
    kind: RowOpKind
    changed: SetColumns
    counter: ColumnSchema | None
    is_complete: bool
    prechecks: tuple[Precheck, ...]

    @classmethod
    def of(cls, table: TableInfo, kind: RowOpKind, column_ids: tuple[int, ...]) -> "RowShape":
        """The shape of operations that set some columns.

        Raises NotNullError, ProgrammingError: the kind may not set just these; see `check_set`.
        """
        schema = table.schema
        check_set(schema, kind, column_ids, table.name)
        return cls(
            table,
            kind,
            set_columns(schema, kind, dict.fromkeys(column_ids)),
            counted_column(schema) if kind.may_insert else None,
            not kind.may_insert or column_ids == tuple(column.id for column in schema.columns),
            prechecks(table),
        )

    def complete(
        self, cells: Mapping[int, Cell], time: StatementTime | None = None
    ) -> Mapping[int, Cell]:
        """The cells of one row with those that an insert leaves out; see `complete_cells`."""
        return cells if self.is_complete else complete_cells(self.table, cells, time)

    def check(self, cells: Mapping[int, Cell], explicit: Mapping[int, Cell]) -> None:
        """See that a row fits its table; see `check_row`."""
        for precheck in self.prechecks:
            if not precheck(cells):
                check_row(self.table, self.kind, cells, explicit)
                return


def shape_of(
    shapes: RowShapes, table: TableInfo, kind: RowOpKind, cells: Mapping[int, Cell]
) -> RowShape:
    """The shape of an operation that sets some cells; see `RowShape.of`.

    `shapes`: those that are known already; it is added to them.
    """
    key = table.id, kind, tuple(cells)
    shape = shapes.get(key)
    if shape is None or shape.table is not table:
        shape = RowShape.of(table, kind, key[2])
        if len(shapes) >= _MOST_SHAPES:
            shapes.clear()
        shapes[key] = shape
    return shape
