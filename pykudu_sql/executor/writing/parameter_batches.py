"""Statements over values or keys that run for many sets of parameters, as one batch of rows.

A batch whose texts take more than a chunk is converted and written a piece at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from sys import getsizeof
from typing import Any, Protocol

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import chunk_bytes, write_batches
from pykudu_sql.executor.writing.collecting import (
    FittingRows,
    faults,
    is_row_error,
    row_error,
    write_fitting,
    write_fitting_batches,
)
from pykudu_sql.planner.operands.value import (
    InsertedValue,
    Parameter,
    ParameterKey,
    ParameterValues,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults
from pykudu_sql.storage.common.types.types import MAX_CELL_BYTES
from pykudu_sql.storage.errors import DataError, InterfaceError
from pykudu_sql.storage.transaction.transaction import Transaction

_EMPTY = getsizeof("")
_CHARACTER_BYTES = 4


@dataclass(frozen=True, slots=True)
class ConvertedRows:
    """Sets of parameters as operations.

    `sets`: the places of those whose rows these are, the others having no row in the table.
    """

    operations: RowOperations
    sets: Sequence[int]


class _Convert(Protocol):
    """The operations of some sets of parameters; `first`: how many sets are before these."""

    def __call__(
        self, parameter_rows: Sequence[ParameterValues], first: int = 0
    ) -> ConvertedRows: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """A statement over values or a key, which runs for many sets of parameters.

    Attributes:
        values: that it writes for each of them.
        rows: that each of them has.
    """

    table: TableInfo
    kind: RowOpKind
    values: Iterable[InsertedValue]
    convert: _Convert
    rows: int


def batch_action(
    state: SessionState,
    mode: RowErrorMode,
    batch: Batch,
    parameter_rows: Sequence[ParameterValues],
) -> Callable[[Transaction], RowResults]:
    """What writes the operations of all sets of parameters.

    `mode`: what to do about bad rows. Raises DataError, InterfaceError: a value does not fit.
    """
    table = batch.table
    parts = pieces(batch.values, parameter_rows, chunk_bytes(state.store.budget))
    if len(parts) > 1:
        return partial(_write_in_pieces, state, batch, parameter_rows, parts, mode)
    if mode is RowErrorMode.FAIL:
        operations = batch.convert(parameter_rows).operations
        return lambda transaction: transaction.write(table, operations)
    fitting = _fitting(state, batch, parameter_rows, range(len(parameter_rows)))
    return lambda transaction: write_fitting(transaction, table, fitting)


def _write_in_pieces(
    state: SessionState,
    batch: Batch,
    parameter_rows: Sequence[ParameterValues],
    parts: Sequence[range],
    mode: RowErrorMode,
    transaction: Transaction,
) -> RowResults:
    """Write the operations of some sets of parameters after others': all or none, or what fits."""
    table = batch.table

    def operations_of(part: range) -> RowOperations:
        rows = parameter_rows[part.start : part.stop]
        return batch.convert(rows, part.start).operations

    if mode is RowErrorMode.FAIL:
        return write_pieces(state, table, batch.kind, parts, operations_of, transaction)
    fitting_of = partial(_fitting, state, batch, parameter_rows)
    return collect_pieces(state, table, parts, fitting_of, transaction)


def write_pieces(
    state: SessionState,
    table: TableInfo,
    kind: RowOpKind,
    parts: Sequence[range],
    operations_of: Callable[[range], RowOperations],
    transaction: Transaction,
) -> RowResults:
    """Do operations of one kind a part at a time; the session's time limit holds between them.

    `operations_of`: converts the rows of a part, once those of the one before are written.
    """

    def convert(part: range) -> RowOperations:
        state.check_cancelled()
        return operations_of(part)

    with state.followed():
        return write_batches(transaction, table, kind, map(convert, parts))


def collect_pieces(
    state: SessionState,
    table: TableInfo,
    parts: Sequence[range],
    fitting_of: Callable[[range], FittingRows],
    transaction: Transaction,
) -> RowResults:
    """The same with rows of which those that fit are written and the others reported.

    `fitting_of`: converts the rows of a part, with positions within it.
    """

    def convert(part: range) -> FittingRows:
        state.check_cancelled()
        return fitting_of(part)

    with state.followed():
        return write_fitting_batches(transaction, table, map(convert, parts))


def _fitting(
    state: SessionState, batch: Batch, every: Sequence[ParameterValues], part: range
) -> FittingRows:
    """The operations of a part of all sets of parameters; the rows of those that do not fit."""
    parameter_rows, convert = every[part.start : part.stop], batch.convert
    bad: Mapping[int, DataError | InterfaceError] = {}
    accepted: Sequence[int] = range(len(parameter_rows))
    try:
        converted = convert(parameter_rows)
    except (DataError, InterfaceError) as error:
        if not is_row_error(error):
            raise

        def attempt(start: int, stop: int) -> object:
            state.check_cancelled()
            return convert(parameter_rows[start:stop])

        bad = faults(len(parameter_rows), attempt)
        accepted = [index for index in accepted if index not in bad]
        converted = convert([parameter_rows[index] for index in accepted])
    rows = batch.rows
    positions = [accepted[place] * rows + row for place in converted.sets for row in range(rows)]
    errors = [
        row_error(index * rows + row, f"parameters {part.start + index + 1}", error)
        for index, error in bad.items()
        for row in range(rows)
    ]
    return FittingRows(converted.operations, positions, errors, len(parameter_rows) * rows)


def pieces(
    values: Iterable[InsertedValue], parameter_rows: Sequence[ParameterValues], most: int
) -> Sequence[range]:
    """The places of sets of parameters whose rows have few bytes of texts together.

    Args:
        values: that are written for each set; those that are constants have their bytes there too.
        parameter_rows: the sets.
        most: bytes of a piece, which one set alone may exceed.
    """
    every = range(len(parameter_rows))
    if len(every) < 2:
        return [every]
    written = list(values)
    texts = [value for value in written if isinstance(value, Parameter) and value.type.is_variable]
    constant = sum(len(value) for value in written if isinstance(value, str | bytes))
    keys = [value.key for value in texts]
    left = most - constant * len(every)
    if len(every) * len(keys) * MAX_CELL_BYTES <= left:
        return [every]
    if left >= 0 and have_few_bytes((map(itemgetter(key), parameter_rows) for key in keys), left):
        return [every]
    if sum(_bytes_of(parameter_rows, key) for key in keys) <= left:
        return [every]
    return list(cut([constant + _row_bytes(row, keys) for row in parameter_rows], most))


def _row_bytes(row: ParameterValues, keys: Sequence[ParameterKey]) -> int:
    return sum(_bytes_of([row], key) for key in keys)


def _bytes_of(rows: Sequence[ParameterValues], key: ParameterKey) -> int:
    """About what the texts of a parameter take."""
    return text_bytes(map(itemgetter(key), rows), len(rows))


def have_few_bytes(columns: Iterable[Iterable[Any]], most: int) -> bool:
    """Whether texts are sure to have at most some bytes together; a quick look at their lengths.

    False where other values are among them, but for NULL.
    """
    try:
        return sum(sum(map(len, filter(None, each))) for each in columns) * _CHARACTER_BYTES <= most
    except Exception:
        return False  # of values that are no texts, or cannot be read


def text_bytes(values: Iterable[object], count: int) -> int:
    """About what so many values take beyond empty texts."""
    try:
        return max(0, sum(map(getsizeof, values)) - _EMPTY * count)
    except Exception:
        return 0  # a value that cannot be read: whoever converts it says so


def cut(sizes: Sequence[int], most: int) -> Iterator[range]:
    """Places that are next to each other and have few bytes together; `most`: see `pieces`."""
    start = size = 0
    for place, each in enumerate(sizes):
        if size + each > most and place > start:
            yield range(start, place)
            start, size = place, 0
        size += each
    yield range(start, len(sizes))
