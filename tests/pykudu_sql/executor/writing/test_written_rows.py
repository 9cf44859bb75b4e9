"""The relation that RETURNING reads: what is set, else what is stored, else the default."""

import pyarrow as pa

from pykudu_sql.executor.writing.written_rows import written_columns
from pykudu_sql.planner.plan.change_plans import ACTION, Returning, written_name
from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type

INT = parse_type("INT")


def table() -> TableInfo:
    columns = [ColumnSchema(0, "k", INT), ColumnSchema(1, "v", INT, write_default=7)]
    return new_table("t", create_schema(columns, ["k"]), PartitionSchema(), "", {})


def test_a_column_that_is_not_set_is_as_stored_or_at_its_default() -> None:
    returning = Returning(None, (0, 1))  # type: ignore[arg-type]
    keys = RowOperations(RowOpKind.INSERT, {0: pa.array([1, 2], pa.int32())}, 2)
    inserted = written_columns(table(), returning, RowOpKind.INSERT, keys, {})
    assert inserted.column(written_name(1)).to_pylist() == [7, 7]
    assert inserted.column(ACTION).to_pylist() == ["INSERT", "INSERT"]
    before = {1: pa.array([20, 30], pa.int32())}
    updated = written_columns(table(), returning, RowOpKind.UPDATE_IGNORE, keys, before)
    assert updated.column(written_name(1)).to_pylist() == [20, 30]
    assert updated.column(ACTION).to_pylist() == ["UPDATE", "UPDATE"]
