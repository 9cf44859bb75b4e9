"""Bulk append: columns of any shape that Python's data tools have, as one batch of operations.

Taken are Arrow tables, batches and readers, pandas frames, dicts of columns, and whatever else
offers Arrow's C stream (polars frames, our own cursors). Columns are matched by name; a column left
out takes its default. In a pandas frame, NaN and NaT are missing values and become NULL.
"""

import difflib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from pykudu_sql.executor.column_values import array_of
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writes import ArrowColumns, write_columns, writer_of, written
from pykudu_sql.planner.context import check_writable
from pykudu_sql.result import Outcome
from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.common.row_operation import RowOpKind
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.errors import (
    DataError,
    InterfaceError,
    ProgrammingError,
    UndefinedColumnError,
)
from pykudu_sql.storage.system_catalog import check_not_system

Columns = Mapping[str, Any]


def append(state: SessionState, name: str, data: object, operation: str) -> Outcome:
    """Do one operation on many rows, all or nothing unless the session collects row errors.

    Args:
        state: of the session.
        name: of the table, in the session's database if it says none.
        data: the rows; see above.
        operation: a name of Kudu's: "insert", "upsert", "delete-ignore", ...

    Raises:
        UndefinedTableError, UndefinedColumnError: no such table or column.
        IntegrityError: a key is present already, or missing, or a NULL where none may be.
        DataError: a value does not fit its column.
        ProgrammingError: no such operation, or it cannot set these columns.
        ReadOnlyError: the session reads at a past moment.
    """
    state.row_errors = ()
    check_writable(state.settings.as_of)
    check_not_system(name.lower())
    table, kind = state.catalog.table(name.lower()), _kind(operation)
    columns = _arrow_columns(table, kind, _columns(data))
    write = writer_of(state)
    results = state.transactions.write(lambda t: write_columns(write, t, table, kind, columns))
    return written(state, kind, results)


def _kind(operation: str) -> RowOpKind:
    name = operation.upper().replace("-", "_")
    if name not in RowOpKind.__members__:
        raise ProgrammingError(
            f"there is no operation '{operation}'",
            hint=f"operations are {', '.join(kind.lower() for kind in RowOpKind)}",
            sqlstate="22023",
        )
    return RowOpKind[name]


def _columns(data: object) -> Columns:
    """Data as columns by name: Arrow arrays, or sequences of Python values."""
    if isinstance(data, Mapping):
        return data
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _by_name(data)
    if type(data).__module__.partition(".")[0] == "pandas":
        return _by_name(pa.Table.from_pandas(data, preserve_index=False))
    if hasattr(data, "__arrow_c_stream__"):
        return _by_name(pa.table(data))
    raise InterfaceError(
        f"cannot append a {type(data).__name__}",
        hint="give an Arrow table, a pandas frame or a dict of columns",
        sqlstate="07006",
    )


def _by_name(data: pa.Table | pa.RecordBatch) -> Columns:
    names = data.schema.names
    for name in names:
        if names.count(name) > 1:
            raise ProgrammingError(f"column '{name}' is given twice", sqlstate="42701")
    return dict(zip(names, data.columns, strict=True))


def _arrow_columns(table: TableInfo, kind: RowOpKind, given: Columns) -> ArrowColumns:
    columns: dict[int, pa.Array | pa.ChunkedArray] = {}
    for name, values in given.items():
        column = _column(table, kind, str(name))
        if column.id in columns:
            raise ProgrammingError(f"column '{column.name}' is given twice", sqlstate="42701")
        columns[column.id] = _array(values, column)
    if len({len(values) for values in columns.values()}) > 1:
        shown = ", ".join(f"{n}: {len(v)}" for n, v in given.items())
        raise DataError(f"columns differ in length ({shown})", sqlstate="22026")
    return columns


def _column(table: TableInfo, kind: RowOpKind, name: str) -> ColumnSchema:
    schema = table.schema
    column = schema.by_name.get(name) or schema.by_name.get(name.lower())
    if column is None or (kind.numbers and schema.is_hidden(column)):
        names = [c.name for c in schema.visible_columns]
        near = difflib.get_close_matches(name.lower(), names, n=1)
        raise UndefinedColumnError(
            f"column '{name}' does not exist in table '{table.name}'",
            hint=f"did you mean '{near[0]}'?" if near else f"columns are {', '.join(names)}",
        )
    return column


def _array(values: Any, column: ColumnSchema) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if hasattr(values, "__array__"):
        return _from_numpy(values, column)
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InterfaceError(
            f"column '{column.name}' needs a sequence of values, not {type(values).__name__}",
            sqlstate="07006",
        )
    return array_of(list(values), column)


def _from_numpy(values: Any, column: ColumnSchema) -> pa.Array:
    is_pandas = type(values).__module__.partition(".")[0] == "pandas"
    try:
        return pa.array(values, from_pandas=is_pandas)
    except pa.ArrowException:
        # An array of mixed Python objects: value by value, with an error that names the row.
        return array_of(list(values), column)
