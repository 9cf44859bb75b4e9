"""Rows of VALUES as cells and columns: constants, parameters, and functions of defaults."""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from pykudu_sql.executor.writing.column_values import array_of
from pykudu_sql.executor.writing.parameter_batches import ConvertedRows
from pykudu_sql.planner.operands.value import (
    InsertedValue,
    Parameter,
    ParameterValues,
    Value,
    bind_value,
    received_value,
)
from pykudu_sql.planner.plan.plan import InsertValues
from pykudu_sql.storage.common.column_defaults import default_array, default_cell
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.rows.row_operation import RowOperations
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell


def insert_cells(
    plan: InsertValues, time: StatementTime
) -> Callable[[ParameterValues], Mapping[int, Cell]]:
    """Makes the cells of the one row of a plan, by column id; raises as `bind_value`.

    `time`: of the statement that runs.
    """
    values = tuple(column[0] for column in plan.columns)
    pairs = tuple(zip(plan.column_ids, values, strict=True))
    if DefaultFunction in map(type, values):
        by_id = plan.table.schema.by_id
        return lambda row: {i: inserted_cell(by_id[i], value, row, time) for i, value in pairs}
    return lambda row: {i: bind_value(value, row) for i, value in pairs}  # type: ignore[arg-type]


def inserted_cell(
    column: ColumnSchema, value: InsertedValue, parameters: ParameterValues, time: StatementTime
) -> Cell:
    """A value of a row to be inserted as a cell. `time`: of the statement. Raises: `bind_value`."""
    if isinstance(value, DefaultFunction):
        return default_cell(column, time)
    return bind_value(value, parameters)


def inserted_rows(
    plan: InsertValues,
    time: StatementTime,
    parameter_rows: Sequence[ParameterValues],
    first: int = 0,
) -> ConvertedRows:
    """The rows of a plan for each set of parameters.

    `time`: of the statement; `first`: how many sets are before these, for messages. Raises
    DataError: a value does not fit its column.
    """
    by_id = plan.table.schema.by_id
    columns = {
        i: _inserted_column(by_id[i], values, time, parameter_rows, first)
        for i, values in zip(plan.column_ids, plan.columns, strict=True)
    }
    operations = RowOperations(plan.kind, columns, plan.rows * len(parameter_rows))
    return ConvertedRows(operations, range(len(parameter_rows)))


def _inserted_column(
    column: ColumnSchema,
    values: Sequence[InsertedValue],
    time: StatementTime,
    parameter_rows: Sequence[ParameterValues],
    first: int,
) -> pa.Array:
    """`value_column` of values among which may be the function of the column's default."""
    kinds = set(map(type, values))
    if DefaultFunction not in kinds:
        return value_column(column, values, parameter_rows, first)  # type: ignore[arg-type]
    if kinds == {DefaultFunction}:
        return default_array(column, time, len(values) * len(parameter_rows))
    rows = ((row, value) for row in parameter_rows for value in values)
    cells = [inserted_cell(column, value, row, time) for row, value in rows]
    return cells_to_array(cells, column.type)


def value_column(
    column: ColumnSchema,
    values: Sequence[Value],
    parameter_rows: Sequence[ParameterValues],
    first: int,
) -> pa.Array:
    """A column of VALUES, repeated for each set of parameters.

    `first`: how many sets are before these, for messages.
    """
    if len(values) == 1 and type(values[0]) is Parameter:
        key = values[0].key
        row_values = [received_value(row, key, column.name) for row in parameter_rows]
        return array_of(row_values, column, first)
    if Parameter in map(type, values):
        cells = [bind_value(value, row) for row in parameter_rows for value in values]
    else:
        cells = [*values] * len(parameter_rows)  # type: ignore[list-item]
    return cells_to_array(cells, column.type)
