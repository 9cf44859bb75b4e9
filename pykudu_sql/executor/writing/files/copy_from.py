"""COPY FROM: the rows of files into a table, in one commit or none.

They are read while they are written, so that memory does not grow with them. A row whose values do
not fit, or that the table refuses, ends the statement, with its file and line; where row errors are
collected it is left out and reported with that place. What the table refuses is known of a chunk:
which row it was is found by reading the files once more, up to it. What concerns a whole file (a
column that the table has not, a damaged file) is an error in either mode.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import NoReturn

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import (
    ArrowColumns,
    ChunkedRows,
    chunk_bytes,
    file_rows,
    write_rows,
)
from pykudu_sql.executor.writing.collecting import collect_columns, faults, first_fault, row_error
from pykudu_sql.executor.writing.files.copy_options import access_of, kind_of
from pykudu_sql.executor.writing.files.file_rows import UnfitRow, fitting_rows, open_rows
from pykudu_sql.executor.writing.present_keys import IN_COPY, way_out
from pykudu_sql.executor.writing.writes import mode_of, written
from pykudu_sql.files.file_access import FileAccess, PermittedFile
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.reading.row_files import RowFile
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.copy_plans import CopyFrom
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.rows.row_result import (
    MAX_ROW_ERRORS,
    RowError,
    RowErrorMode,
    RowResults,
)
from pykudu_sql.storage.errors import (
    DataError,
    Error,
    IntegrityError,
    InvalidSchemaError,
    UndefinedColumnError,
    ValueTooLargeError,
)
from pykudu_sql.storage.transaction.transaction import Transaction


def copy_from(state: SessionState, plan: CopyFrom, parameters: ParameterValues) -> Outcome:
    """Insert the rows of files into a table; the outcome has their number.

    Raises FileAccessError, OperationalError: see `FileAccess.to_read`; DataError, IntegrityError: a
    file is damaged, or a row does not fit; UndefinedColumnError, InvalidSchemaError: the files and
    the table do not go together. Nothing was done then.
    """
    return copy_files(state, plan, access_of(state))


def copy_files(state: SessionState, plan: CopyFrom, access: FileAccess) -> Outcome:
    """The same with files of which somebody else says which may be read."""
    state.row_errors = ()
    permitted = access.to_read(plan.source)
    kinds = [(file, kind_of(file.name, plan.options)) for file in permitted]
    files = [(file, kind) for file, kind in kinds if not kind.is_empty(file.size)]
    mode = mode_of(state)

    def action(transaction: Transaction) -> RowResults:
        if not files:
            return RowResults(0, 0, 0, ())
        with closing(_FileRows(state, plan, files, mode)) as source:
            return source.insert(transaction)

    def look(error: IntegrityError | ValueTooLargeError, transaction: Transaction) -> NoReturn:
        with closing(_FileRows(state, plan, files, RowErrorMode.COLLECT)) as source:
            raise source.placed(transaction, error) or error

    with way_out(IN_COPY):
        try:
            results = state.transactions.write(action)
        except (IntegrityError, ValueTooLargeError) as error:
            if mode is RowErrorMode.COLLECT:
                raise
            # What it raises takes back what it wrote.
            state.transactions.write(partial(look, error))
            raise
    outcome = written(state, RowOpKind.INSERT, results)
    failed = (outcome.message or "").partition(",")[1:]
    return replace(outcome, message=f"Copied {outcome.rowcount} row(s){''.join(failed)}")


@dataclass(frozen=True, slots=True)
class _Part:
    """A file among those of a statement.

    `start`: the position in the statement of its first record.
    """

    name: str
    rows: RowFile
    start: int


class _FileRows:
    """The rows of a statement's files that fit, and the errors of the others."""

    def __init__(
        self,
        state: SessionState,
        plan: CopyFrom,
        files: Sequence[tuple[PermittedFile, FileKind]],
        mode: RowErrorMode,
    ) -> None:
        """Open the first file, whose columns are those of all."""
        self._state = state
        self._plan = plan
        self._files = files
        self._mode = mode
        self._parts = [_Part(files[0][0].name, self._opened(*files[0]), 0)]
        self._columns = self._parts[0].rows.columns
        self._names = [column.name for column in self._columns]
        # Where a row ends the statement, the first of a batch will do.
        self._find = first_fault if mode is RowErrorMode.FAIL else faults
        self._rejected_positions: list[int] = []
        self._errors: list[RowError] = []

    def insert(self, transaction: Transaction) -> RowResults:
        """Insert the rows that fit."""
        rows = self._rows()
        with self._state.followed():
            table, kind = self._plan.table, RowOpKind.INSERT
            check = self._state.check_cancelled
            results = write_rows(self._mode, transaction, table, kind, rows, self._by_id, check)
        if self._mode is RowErrorMode.FAIL:
            return results
        positions = _AcceptedPositions(self._rejected_positions)
        errors = [replace(one, position=positions.position(one.position)) for one in results.errors]
        errors = sorted([*errors, *self._errors], key=lambda one: one.position)
        return RowResults(
            results.applied,
            results.ignored,
            results.failed + len(self._rejected_positions),
            tuple(self._located(errors[:MAX_ROW_ERRORS])),
        )

    def placed(
        self, transaction: Transaction, error: IntegrityError | ValueTooLargeError
    ) -> Error | None:
        """An error with the place of the first row that the table refuses so; None without one.

        `error`: of the same rows, where all of them were inserted or none.
        """
        table, start = self._plan.table, 0
        with self._state.followed():
            for chunk in self._rows().chunks():
                columns = self._by_id(chunk)
                results = collect_columns(
                    transaction, table, RowOpKind.INSERT, columns, self._state.check_cancelled
                )
                duplicates = [one for one in results.errors if one.sqlstate == error.sqlstate]
                if duplicates:
                    # Of a key given twice the later row is meant.
                    named = [one for one in duplicates if one.key and one.key in error.message]
                    row = replace(named[-1], message=error.message) if named else duplicates[0]
                    positions = _AcceptedPositions(self._rejected_positions)
                    row = replace(row, position=positions.position(start + row.position))
                    (located,) = self._located([row])
                    return type(error)(located.message, hint=error.hint, sqlstate=error.sqlstate)
                start += len(chunk)
        return None

    def _rows(self) -> ChunkedRows:
        schema = pa.schema([(column.name, column.type.arrow) for column in self._columns])
        batches = self._batches()
        most = chunk_bytes(self._state.store.budget)
        return file_rows(schema, lambda: next(batches, None), most)

    def _by_id(self, chunk: pa.Table) -> ArrowColumns:
        self._state.check_cancelled()
        columns = zip(self._columns, chunk.columns, strict=True)
        return {column.id: values for column, values in columns}

    def _opened(self, file: PermittedFile, kind: FileKind) -> RowFile:
        return open_rows(file, kind, self._plan.table, self._plan.columns)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        sizes = [file.size for file, _ in self._files]
        counter = self._state.counter(
            f"reading files for {self._plan.table.name}", sum(sizes), "bytes"
        )
        for place, (file, kind) in enumerate(self._files):
            if place:
                before = self._parts[-1]
                start = before.start + before.rows.count
                self._parts.append(_Part(file.name, self._opened(file, kind), start))
                self._check_columns(self._parts[-1])
            part = self._parts[-1]
            cancel_check, refuse = self._state.check_cancelled, partial(self._refuse, part)
            counted_bytes = 0
            time = self._state.time
            for fitting in fitting_rows(part.rows, self._find, time, cancel_check, refuse):
                position = min(part.rows.bytes_read, sizes[place])
                counter.add(position - counted_bytes)
                counted_bytes = position
                yield fitting.rows.select(self._names)
            counter.add(sizes[place] - counted_bytes)
            part.rows.close()

    def _check_columns(self, part: _Part) -> None:
        first = self._parts[0]
        if set(part.rows.columns) != set(self._columns):
            raise InvalidSchemaError(
                f"'{part.name}' has other columns than '{first.name}'",
                hint="name the columns that all files have: COPY t (a, b) FROM ..",
            )

    def _refuse(self, part: _Part, unfit: UnfitRow) -> None:
        """Leave a row out; or end the statement."""
        if self._mode is RowErrorMode.FAIL:
            raise self._placed(part, unfit)
        position = part.start + unfit.record
        self._rejected_positions.append(position)
        if len(self._errors) < MAX_ROW_ERRORS:
            key = unfit.key(self._plan.table)
            self._errors.append(row_error(position, key, unfit.error))

    def _placed(self, part: _Part, unfit: UnfitRow) -> DataError | UndefinedColumnError:
        """The error of a row with its place."""
        error, lines = unfit.error, part.rows.lines([unfit.record])
        kind = UndefinedColumnError if isinstance(error, UndefinedColumnError) else DataError
        return kind(
            f"{_place(part, unfit.record, lines)}: {error.message}",
            hint=error.hint or "SET row_errors = 'collect' leaves such rows out and reports them",
            sqlstate=error.sqlstate,
        )

    def _located(self, errors: Sequence[RowError]) -> Iterator[RowError]:
        """The errors of rows with their places in the files."""
        starts = [part.start for part in self._parts]
        by_part: dict[int, list[RowError]] = {}
        for error in errors:
            by_part.setdefault(bisect_right(starts, error.position) - 1, []).append(error)
        for number, own in by_part.items():
            part = self._parts[number]
            lines = part.rows.lines([error.position - part.start for error in own])
            for error in own:
                place = _place(part, error.position - part.start, lines)
                yield replace(error, message=f"{place}: {error.message}")

    def close(self) -> None:
        """Close the files."""
        for part in self._parts:
            part.rows.close()


def _place(part: _Part, record: int, lines: Mapping[int, int]) -> str:
    line = lines.get(record)
    return f"'{part.name}', " + (f"row {record + 1}" if line is None else f"line {line}")


class _AcceptedPositions:
    """Positions in a statement of rows that are numbered without those left out."""

    def __init__(self, positions: Sequence[int]) -> None:
        self._before = [position - place for place, position in enumerate(sorted(positions))]

    def position(self, number: int) -> int:
        """Of the row that has a number among those kept."""
        return number + bisect_right(self._before, number)
