"""Bulk append: columns of any shape that Python's data tools have, as one batch of operations.

Taken are Arrow tables, batches and readers, pandas frames, dicts of columns, and whatever else
offers Arrow's C stream (polars frames, our own cursors). Columns are matched by name; a column left
out takes its default. In a pandas frame, NaN and NaT are missing values and become NULL.
"""

import difflib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.error_boundary import check_text
from pykudu_sql.executor.data_columns import (
    Columns,
    Values,
    columns_by_name,
    columns_of_data,
    is_stream,
    not_appended,
)
from pykudu_sql.executor.frames import columns_of_rows, opened, reader_of_stream
from pykudu_sql.executor.row_iterators import is_iterator, reader_of_items, with_tables_joined
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import (
    ArrowColumns,
    ChunkedRows,
    chunk_bytes,
    operations_of,
    reader_rows,
    write_rows,
)
from pykudu_sql.executor.writing.collecting import (
    FittingRows,
    faults,
    fitting_columns,
    row_error,
    write_fitting,
)
from pykudu_sql.executor.writing.column_values import array_of
from pykudu_sql.executor.writing.files.copy_from import copy_files
from pykudu_sql.executor.writing.parameter_batches import (
    collect_pieces,
    cut,
    have_few_bytes,
    text_bytes,
    write_pieces,
)
from pykudu_sql.executor.writing.present_keys import IN_APPEND, way_out
from pykudu_sql.executor.writing.writes import mode_of, written
from pykudu_sql.files.file_access import FileAccess
from pykudu_sql.planner.plan.context import check_writable
from pykudu_sql.planner.plan.copy_plans import CopyFrom
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cancellation import CancelCheck
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowError, RowErrorMode, RowResults
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import MAX_CELL_BYTES
from pykudu_sql.storage.errors import (
    DataError,
    NotSupportedError,
    ProgrammingError,
    UndefinedColumnError,
)
from pykudu_sql.storage.ingest.bulk_writer import BULK_ROWS
from pykudu_sql.storage.transaction.transaction import Transaction

_ROWS = (Mapping, list, tuple)
SchemaColumns = Mapping[int, tuple[ColumnSchema, Values]]


def append(state: SessionState, name: str, data: object, operation: str) -> Outcome:
    """Do one operation on many rows, all or nothing unless the session collects row errors.

    Args:
        name: of the table, in the session's database if it says none.
        data: the rows; see above.
        operation: a name of Kudu's: "insert", "upsert", "delete-ignore", ...

    Raises UndefinedTableError, UndefinedColumnError: no such table or column; IntegrityError: a key
    is present already, or missing, or a NULL where none may be; DataError: a value does not fit its
    column; ProgrammingError: no such operation, or it cannot set these columns; ReadOnlyError: the
    session reads at a past moment.
    """
    state.row_errors = ()
    check_writable(state.settings.as_of)
    check_not_system(name.lower())
    table, kind = state.catalog.table(name.lower()), _kind(operation)
    with way_out(IN_APPEND):
        return _append(state, table, kind, data)


def _append(state: SessionState, table: TableInfo, kind: RowOpKind, data: object) -> Outcome:
    if isinstance(data, str | os.PathLike):
        return _append_files(state, table, kind, os.fspath(data))
    with state.error_boundary.program_code():
        data = opened(data)
        if isinstance(data, list | tuple):
            data = with_tables_joined(data)
        if is_iterator(data):
            data = _read_items(state, table, kind, data)
    if is_stream(data):
        with state.error_boundary.program_code():
            reader = _reader(data)
        most = chunk_bytes(state.store.budget)
        rows = reader_rows(reader, most, state.error_boundary, state.check_cancelled)
        return _append_stream(state, table, kind, rows)
    with state.error_boundary.program_code():
        names = [column.name for column in table.schema.visible_columns]
        source_columns = columns_of_rows(data, names) or columns_of_data(data)
    matched = _matched(table, kind, source_columns)
    action = _action(state, table, kind, matched)
    return written(state, kind, state.transactions.write(action))


def _read_items(state: SessionState, table: TableInfo, kind: RowOpKind, items: Any) -> object:
    """What an iterator gives as a reader; its rows as a list where errors of rows are collected."""
    names = [column.name for column in table.schema.visible_columns]

    def batch_of_rows(rows: Sequence[Any], first: int) -> pa.RecordBatch:
        state.check_cancelled()
        columns = columns_of_rows(rows, names, first)
        if columns is None:
            raise not_appended(next(row for row in rows if not isinstance(row, _ROWS)))
        matched = _matched(table, kind, columns)
        arrays = _arrays(matched, first)
        return pa.record_batch(
            {matched[column_id][0].name: values for column_id, values in arrays.items()}
        )

    if mode_of(state) is RowErrorMode.FAIL:
        most = chunk_bytes(state.store.budget)
        return reader_of_items(items, batch_of_rows, most) or []
    rows = list(items)
    is_rows = all(isinstance(row, _ROWS) for row in rows)
    return rows if is_rows else reader_of_items(iter(rows), batch_of_rows, MAX_CELL_BYTES)


def _action(
    state: SessionState, table: TableInfo, kind: RowOpKind, matched: SchemaColumns
) -> Callable[[Transaction], RowResults]:
    """What does an operation on rows, in pieces where they are large."""
    parts = _pieces(matched, chunk_bytes(state.store.budget))
    if len(parts) > 1:
        return partial(_do_in_pieces, state, table, kind, matched, parts)
    if mode_of(state) is RowErrorMode.FAIL:
        columns = _arrays(matched)
        return lambda t: t.write(table, operations_of(t, table, kind, columns))
    fitting = _fitting(table, matched, state.check_cancelled)
    return lambda t: write_fitting(t, table, fitting.rows(t, kind, state.check_cancelled))


def _append_files(state: SessionState, table: TableInfo, kind: RowOpKind, path: str) -> Outcome:
    """Insert the rows of files, which the program permits by naming them."""
    if kind is not RowOpKind.INSERT:
        raise NotSupportedError(
            f"files are not appended by {kind.lower()}",
            hint="read them to a table and append that, or use pykudu_sql.jobs.load",
        )
    database = None if state.in_memory else state.database_path
    plan = CopyFrom(table, None, path, {})
    return copy_files(state, plan, FileAccess(True, database, False))


def _kind(operation: str) -> RowOpKind:
    name = operation.upper().replace("-", "_")
    if name not in RowOpKind.__members__:
        raise ProgrammingError(
            f"there is no operation '{operation}'",
            hint=f"operations are {', '.join(kind.lower() for kind in RowOpKind)}",
            sqlstate="22023",
        )
    return RowOpKind[name]


def _reader(data: Any) -> pa.RecordBatchReader:
    # Exceptions that pass Arrow's C interface are texts; a reader gives them as they are.
    return data if isinstance(data, pa.RecordBatchReader) else reader_of_stream(data)


def _append_stream(
    state: SessionState, table: TableInfo, kind: RowOpKind, rows: ChunkedRows
) -> Outcome:
    """Do an operation on rows, which are read while they are written."""
    mode = mode_of(state)

    def columns_of(chunk: pa.Table) -> ArrowColumns:
        state.check_cancelled()
        return _arrays(_matched(table, kind, columns_by_name(chunk.schema.names, chunk.columns)))

    def action(transaction: Transaction) -> RowResults:
        with state.followed():
            check = state.check_cancelled
            return write_rows(mode, transaction, table, kind, rows, columns_of, check)

    return written(state, kind, state.transactions.write(action))


def _matched(table: TableInfo, kind: RowOpKind, data: Columns) -> SchemaColumns:
    """The table's columns with their values, all of one length."""
    columns: dict[int, tuple[ColumnSchema, Values]] = {}
    for name, values in data.items():
        check_text(str(name), "the name of a column")
        column = _column(table, kind, str(name))
        if column.id in columns:
            raise ProgrammingError(f"column '{column.name}' is given twice", sqlstate="42701")
        columns[column.id] = (column, values)
    if len({len(values) for _, values in columns.values()}) > 1:
        lengths = ", ".join(f"{column.name}: {len(v)}" for column, v in columns.values())
        raise DataError(f"columns differ in length ({lengths})", sqlstate="22026")
    return columns


def _arrays(matched: SchemaColumns, first: int = 0) -> ArrowColumns:
    """The columns as Arrow's; `first`: how many rows are before these."""
    return {
        column_id: array_of(values, column, first) if isinstance(values, list) else values
        for column_id, (column, values) in matched.items()
    }


def _pieces(matched: SchemaColumns, most: int) -> Sequence[range]:
    """The places of rows that are converted together.

    Arrow's own values are copied where they are few, and go to the log; many become files as they
    are. `most`: bytes of a piece.
    """
    length = max((len(values) for _, values in matched.values()), default=0)
    texts = [v for column, v in matched.values() if isinstance(v, list) and column.type.is_variable]
    arrays = [values for _, values in matched.values() if not isinstance(values, list)]
    copied = sum(values.nbytes for values in arrays) if length < BULK_ROWS else 0
    left = most - copied
    if length * len(texts) * MAX_CELL_BYTES <= left:
        return [range(length)]
    if left >= 0 and have_few_bytes(texts, left):
        return [range(length)]
    if sum(text_bytes(values, length) for values in texts) <= left:
        return [range(length)]
    each = copied // length
    return list(cut([each + text_bytes(row, len(row)) for row in _rows(texts, length)], most))


def _rows(columns: Sequence[list[Any]], length: int) -> Iterator[Sequence[Any]]:
    return zip(*columns, strict=True) if columns else repeat((), length)


def _do_in_pieces(
    state: SessionState,
    table: TableInfo,
    kind: RowOpKind,
    matched: SchemaColumns,
    parts: Sequence[range],
    transaction: Transaction,
) -> RowResults:
    """Do an operation on some rows after others: on all or none, or on those that fit."""

    def operations_in(part: range) -> RowOperations:
        columns = _arrays(_slice(matched, part), part.start)
        return operations_of(transaction, table, kind, columns)

    def fitting_in(part: range) -> FittingRows:
        check = state.check_cancelled
        return _fitting(table, _slice(matched, part), check).rows(transaction, kind, check)

    if mode_of(state) is RowErrorMode.FAIL:
        return write_pieces(state, table, kind, parts, operations_in, transaction)
    return collect_pieces(state, table, parts, fitting_in, transaction)


def _slice(matched: SchemaColumns, part: range) -> SchemaColumns:
    return {
        column_id: (
            column,
            values[part.start : part.stop]
            if isinstance(values, list)
            else values.slice(part.start, len(part)),
        )
        for column_id, (column, values) in matched.items()
    }


@dataclass(frozen=True, slots=True)
class _FittingColumns:
    """Rows whose Python values fit, as columns.

    `positions`: of each among the rows; `errors`: of the others; `length`: of all.
    """

    table: TableInfo
    columns: ArrowColumns
    positions: Sequence[int]
    errors: Sequence[RowError]
    length: int

    def rows(
        self, transaction: Transaction, kind: RowOpKind, cancel_check: CancelCheck
    ) -> FittingRows:
        """Operations on those whose Arrow values fit too."""
        fitting = fitting_columns(transaction, self.table, kind, self.columns, cancel_check)
        if not self.errors:
            return fitting
        return fitting.within(self.positions, self.errors, self.length)


def _fitting(
    table: TableInfo, matched: SchemaColumns, cancel_check: CancelCheck
) -> _FittingColumns:
    """The rows whose Python values fit."""
    length = max((len(values) for _, values in matched.values()), default=0)
    try:
        return _FittingColumns(table, _arrays(matched), range(length), (), length)
    except DataError:
        pass  # which rows are at fault is looked for
    bad: dict[int, DataError] = {}
    for column, values in matched.values():
        if isinstance(values, list):
            for row in faults(len(values), partial(_attempt, values, column, cancel_check)):
                bad.setdefault(row, _fault(values[row], column))
    accepted = [row for row in range(length) if row not in bad]
    rest: dict[int, tuple[ColumnSchema, Values]] = {
        column_id: (column, _take(values, accepted))
        for column_id, (column, values) in matched.items()
    }
    keys = [matched[column.id] for column in table.schema.key_columns if column.id in matched]
    errors = [row_error(row, _key(keys, row), error) for row, error in bad.items()]
    return _FittingColumns(table, _arrays(rest), accepted, errors, length)


def _attempt(
    values: list[Any], column: ColumnSchema, cancel_check: CancelCheck, start: int, stop: int
) -> pa.Array:
    cancel_check()
    return array_of(values[start:stop], column)


def _take(values: Values, accepted: list[int]) -> Values:
    if isinstance(values, list):
        return [values[row] for row in accepted]
    return values.take(pa.array(accepted, pa.int64()))


def _fault(value: object, column: ColumnSchema) -> DataError:
    """The reason why a value fits no cell; its position is reported beside it."""
    try:
        array_of([value], column)
    except DataError as error:
        return error
    raise AssertionError("the value has just been found not to fit")


def _key(keys: Sequence[tuple[ColumnSchema, Values]], row: int) -> str:
    """A row's key as the data has it: `(id) = (x)`."""
    names = ", ".join(column.name for column, _ in keys)
    key_cells = (v[row] if isinstance(v, list) else v[row].as_py() for _, v in keys)
    return f"({names}) = ({', '.join(map(str, key_cells))})"


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
