"""Rows whose values fit no cell of their columns, where row errors are collected.

Columns are converted whole; only when one does not fit are the rows at fault looked for, by
halving. They are reported like rows that the table refuses (`storage.common.row_result`), and the
others are written.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cancellation import CancelCheck, never_cancelled
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import (
    MAX_ROW_ERRORS,
    RowError,
    RowErrorMode,
    RowResults,
    joined,
    status_of,
)
from pykudu_sql.storage.common.types.from_buffers import numbers_of
from pykudu_sql.storage.errors import DataError, InterfaceError, UndefinedColumnError
from pykudu_sql.storage.transaction.transaction import Transaction

Columns = Mapping[int, pa.Array | pa.ChunkedArray]
_NO_VALUE = "07006"  # of an object that SQL has no value for


def is_row_error(error: DataError | InterfaceError) -> bool:
    """Whether an error concerns the value of one row, and not how the driver is used."""
    return isinstance(error, DataError) or error.sqlstate == _NO_VALUE


def faults(
    length: int, attempt: Callable[[int, int], object]
) -> dict[int, DataError | InterfaceError]:
    """The indices of values that cannot be converted, each with its error.

    Args:
        length: of the values.
        attempt: converts the values from one index to before another, or raises the error of a row.
    """
    errors: dict[int, DataError | InterfaceError] = {}
    parts = [(0, length)] if length else []
    while parts:
        start, stop = parts.pop()
        error = _fault(attempt, start, stop)
        if error is not None and stop - start == 1:
            errors[start] = error
        elif error is not None:
            middle = (start + stop) // 2
            parts += [(middle, stop), (start, middle)]
    return errors


def _fault(
    attempt: Callable[[int, int], object], start: int, stop: int
) -> DataError | InterfaceError | None:
    """The error of one of some values, None if all can be converted; see `faults`."""
    try:
        attempt(start, stop)
    except (DataError, InterfaceError) as error:
        if not is_row_error(error):
            raise
        return error
    return None


def first_fault(
    length: int, attempt: Callable[[int, int], object]
) -> dict[int, DataError | InterfaceError]:
    """The first of the values that `faults` finds, none if all can be converted."""
    start, stop, first_error = 0, length, None
    while start < stop:
        # As long as no fault is known the whole is tried, from then on its first half.
        middle = stop if first_error is None else (start + stop) // 2
        if first_error is not None and stop - start == 1:
            break
        error = _fault(attempt, start, middle)
        if error is not None:
            stop, first_error = middle, error
        elif first_error is None:
            return {}
        else:
            start = middle
    return {} if first_error is None else {start: first_error}


@dataclass(frozen=True, slots=True)
class FittingRows:
    """Those of some rows whose values fit.

    Attributes:
        operations: on them.
        positions: of each among the rows.
        errors: of the others, by position; not of those that nobody is to hear of.
        length: of all rows.
    """

    operations: RowOperations
    positions: Sequence[int]
    errors: Sequence[RowError]
    length: int

    def within(self, positions: Sequence[int], errors: Sequence[RowError], length: int) -> Self:
        """The same among more rows, of which others do not fit either.

        `positions`: of these rows there; `errors`: of the others; `length`: of all.
        """
        inner = [replace(error, position=positions[error.position]) for error in self.errors]
        own = [positions[position] for position in self.positions]
        return replace(self, positions=own, errors=[*inner, *errors], length=length)

    def reported(self, results: RowResults) -> RowResults:
        """What became of all rows; `results`: of the operations."""
        positions, errors = self.positions, self.errors
        moved = [replace(error, position=positions[error.position]) for error in results.errors]
        together = sorted([*moved, *errors], key=lambda error: error.position)
        return RowResults(
            results.applied,
            results.ignored + self.length - len(positions) - len(errors),
            results.failed + len(errors),
            tuple(together[:MAX_ROW_ERRORS]),
        )


def write_fitting(transaction: Transaction, table: TableInfo, rows: FittingRows) -> RowResults:
    """Do the operations on those rows that the table does not refuse; report the others."""
    return rows.reported(transaction.write(table, rows.operations, RowErrorMode.COLLECT))


def write_fitting_batches(
    transaction: Transaction, table: TableInfo, batches: Iterable[FittingRows]
) -> RowResults:
    """The same with rows that come in batches, in memory for one of them.

    `batches`: each taken when the one before is written. Raises what taking one raises; the
    transaction must go back to where it was.
    """
    waiting: list[FittingRows] = []

    def operations_of(rows: FittingRows) -> RowOperations:
        waiting.append(replace(rows, operations=_nothing(rows.operations)))
        return rows.operations

    total = RowResults(0, 0, 0, ())
    for results in transaction.collect_batches(table, map(operations_of, batches)):
        total = joined([total, waiting.pop().reported(results)])
    return total


def _nothing(operations: RowOperations) -> RowOperations:
    return RowOperations(operations.kind, {}, 0)


def collect_columns(
    transaction: Transaction,
    table: TableInfo,
    kind: RowOpKind,
    columns: Columns,
    cancel_check: CancelCheck = never_cancelled,
) -> RowResults:
    """Do an operation on those rows that fit, and report the others.

    `columns`: of any Arrow type, by column id. Raises what `cancel_check` raises; nothing was done.
    """
    fitting = fitting_columns(transaction, table, kind, columns, cancel_check)
    return write_fitting(transaction, table, fitting)


def fitting_columns(
    transaction: Transaction,
    table: TableInfo,
    kind: RowOpKind,
    columns: Columns,
    cancel_check: CancelCheck = never_cancelled,
) -> FittingRows:
    """Those rows that fit, of columns of any Arrow type, by column id.

    `cancel_check`: called while the others are looked for. Raises what it raises.
    """
    length = max(map(len, columns.values()), default=0)
    try:
        fitting = transaction.coerce(table, columns)
        return FittingRows(RowOperations(kind, fitting, length), range(length), (), length)
    except DataError:
        bad = _bad_rows(transaction, table, columns, cancel_check)
        if not bad:
            raise
    accepted = np.setdiff1d(np.arange(length), np.fromiter(bad, np.int64, len(bad)))
    rest = {i: values.take(pa.array(accepted)) for i, values in columns.items()}
    operations = RowOperations(kind, transaction.coerce(table, rest), len(accepted))
    errors = [row_error(row, key_of(table, columns, row), error) for row, error in bad.items()]
    return FittingRows(operations, accepted.tolist(), errors, length)


def _bad_rows(
    transaction: Transaction, table: TableInfo, columns: Columns, cancel_check: CancelCheck
) -> dict[int, DataError | InterfaceError]:
    """The rows with a value that does not fit, each with the error of its first one."""
    bad: dict[int, DataError | InterfaceError] = {}
    for column_id, values in columns.items():
        words, places = _distinct(values)

        def attempt(
            start: int,
            stop: int,
            column_id: int = column_id,
            words: pa.Array | pa.ChunkedArray = words,
        ) -> object:
            cancel_check()
            return transaction.coerce(table, {column_id: words.slice(start, stop - start)})

        errors = faults(len(words), attempt)
        rows = np.flatnonzero(np.isin(places, np.fromiter(errors, np.int64, len(errors))))
        for row, place in zip(rows.tolist(), places[rows].tolist(), strict=True):
            bad.setdefault(row, errors[place])
    return bad


def _distinct(
    values: pa.Array | pa.ChunkedArray,
) -> tuple[pa.Array | pa.ChunkedArray, npt.NDArray[np.integer[Any]]]:
    """Values without repetitions, and the place of each among them, shape (values,).

    The values themselves where they have a dictionary already, or Arrow compares none such.
    """
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(array, pa.Array) and not pa.types.is_dictionary(array.type):
        try:
            encoded = array.dictionary_encode("encode")
        except pa.ArrowNotImplementedError:  # of lists and the like
            return values, np.arange(len(values))
        return encoded.dictionary, numbers_of(encoded.indices)
    return values, np.arange(len(values))


def key_of(table: TableInfo, columns: Columns, row: int) -> str:
    """A row's key as the data has it: `(id) = (x)`."""
    key = [(c.name, columns[c.id]) for c in table.schema.key_columns if c.id in columns]
    names = ", ".join(name for name, _ in key)
    return f"({names}) = ({', '.join(str(values[row].as_py()) for _, values in key)})"


def row_error(
    position: int, key: str, error: DataError | InterfaceError | UndefinedColumnError
) -> RowError:
    """The row error of a row that cannot be converted."""
    return RowError(position, key, status_of(error), error.sqlstate, error.message)
