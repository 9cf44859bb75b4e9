"""The shape of operations on single rows: worked out once for a table, a kind and some columns."""

from dataclasses import replace

import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import NotNullError, ProgrammingError
from pykudu_sql.storage.ingest import row_shape
from pykudu_sql.storage.ingest.row_shape import RowShape, RowShapes, shape_of
from pykudu_sql.storage.ingest.validation import prechecks

INT = DataType(Kind.INT64)
ID, N, TEXT = 0, 1, 2


def table_of(*, nullable: bool = True, text: Kind = Kind.STRING) -> TableInfo:
    columns = [
        ColumnSchema(0, "id", INT),
        ColumnSchema(0, "n", INT, nullable=nullable, write_default=7),
        ColumnSchema(0, "text", DataType(text), nullable=True),
    ]
    return new_table("t", create_schema(columns, ["id"]), PartitionSchema((), (), ()), "", {})


TABLE = table_of()


def test_rows_of_the_same_columns_share_a_shape() -> None:
    shapes: RowShapes = {}
    shape = shape_of(shapes, TABLE, RowOpKind.UPDATE, {ID: 1, N: 2})
    assert shape_of(shapes, TABLE, RowOpKind.UPDATE, {ID: 3, N: 4}) is shape
    others = [
        shape_of(shapes, TABLE, RowOpKind.UPDATE, {N: 2, ID: 1}),
        shape_of(shapes, TABLE, RowOpKind.UPDATE, {ID: 1, TEXT: "a"}),
        shape_of(shapes, TABLE, RowOpKind.UPDATE_IGNORE, {ID: 1, N: 2}),
    ]
    assert all(other is not shape for other in others)
    assert shape.changed.ids == (N,)


def test_a_table_that_was_altered_gets_new_shapes() -> None:
    shapes: RowShapes = {}
    before = shape_of(shapes, TABLE, RowOpKind.INSERT, {ID: 1})
    altered = replace(TABLE, schema=table_of(nullable=False).schema)
    after = shape_of(shapes, altered, RowOpKind.INSERT, {ID: 1})
    assert before.table is TABLE and after.table is altered
    assert len(shapes) == 1


def test_a_set_of_columns_is_refused_each_time() -> None:
    shapes: RowShapes = {}
    for _ in range(2):
        with pytest.raises(NotNullError):
            shape_of(shapes, TABLE, RowOpKind.UPDATE, {N: 2})
        with pytest.raises(ProgrammingError):
            shape_of(shapes, TABLE, RowOpKind.DELETE, {ID: 1, N: 2})
    assert not shapes


def test_an_insert_is_completed_in_the_order_of_the_table() -> None:
    full = {ID: 1, N: 2, TEXT: "a"}
    assert RowShape.of(TABLE, RowOpKind.INSERT, tuple(full)).complete(full) is full
    turned = {TEXT: "a", ID: 1}
    completed = RowShape.of(TABLE, RowOpKind.INSERT, tuple(turned)).complete(turned)
    assert list(completed.items()) == [(ID, 1), (N, 7), (TEXT, "a")]
    changed = {N: 3, ID: 1}
    assert RowShape.of(TABLE, RowOpKind.UPDATE, tuple(changed)).complete(changed) is changed


def test_only_rules_that_a_row_of_the_table_can_break_are_checked() -> None:
    assert len(prechecks(TABLE)) == len(prechecks(table_of(text=Kind.INT32))) + 1


def test_the_number_of_shapes_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_shape, "_MOST_SHAPES", 2)
    shapes: RowShapes = {}
    for kind in (RowOpKind.INSERT, RowOpKind.UPSERT, RowOpKind.INSERT_IGNORE):
        shape_of(shapes, TABLE, kind, {ID: 1})
        assert len(shapes) <= 2
