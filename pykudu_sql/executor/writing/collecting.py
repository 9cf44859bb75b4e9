"""Rows whose values fit no cell of their columns, where row errors are collected.

Columns are converted whole; only when one does not fit are the rows at fault looked for, by
halving. They are reported like rows that the table refuses (`storage.common.row_result`), and the
others are written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import (
    MAX_ROW_ERRORS,
    RowError,
    RowErrorMode,
    RowResults,
    status_of,
)
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
        try:
            attempt(start, stop)
        except (DataError, InterfaceError) as error:
            if not is_row_error(error):
                raise
            if stop - start == 1:
                errors[start] = error
                continue
            middle = (start + stop) // 2
            parts += [(middle, stop), (start, middle)]
    return errors


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
        try:
            attempt(start, middle)
        except (DataError, InterfaceError) as error:
            if not is_row_error(error):
                raise
            stop, first_error = middle, error
        else:
            if first_error is None:
                return {}
            start = middle
    return {} if first_error is None else {start: first_error}


def collect_columns(
    transaction: Transaction, table: TableInfo, kind: RowOpKind, columns: Columns
) -> RowResults:
    """Do an operation on those rows that fit, and report the others.

    `columns`: of any Arrow type, by column id.
    """
    length = max(map(len, columns.values()), default=0)
    try:
        fitting = transaction.coerce(table, columns)
        return transaction.write(table, RowOperations(kind, fitting, length), RowErrorMode.COLLECT)
    except DataError:
        bad = _bad_rows(transaction, table, columns)
        if not bad:
            raise
    accepted = np.setdiff1d(np.arange(length), np.fromiter(bad, np.int64, len(bad)))
    rest = {i: values.take(pa.array(accepted)) for i, values in columns.items()}
    operations = RowOperations(kind, transaction.coerce(table, rest), len(accepted))
    errors = [row_error(row, key_of(table, columns, row), error) for row, error in bad.items()]
    results = transaction.write(table, operations, RowErrorMode.COLLECT)
    return reported(results, accepted.tolist(), errors)


def _bad_rows(
    transaction: Transaction, table: TableInfo, columns: Columns
) -> dict[int, DataError | InterfaceError]:
    bad: dict[int, DataError | InterfaceError] = {}
    for column_id, values in columns.items():

        def attempt(
            start: int,
            stop: int,
            column_id: int = column_id,
            values: pa.Array | pa.ChunkedArray = values,
        ) -> object:
            return transaction.coerce(table, {column_id: values.slice(start, stop - start)})

        for row, error in faults(len(values), attempt).items():
            bad.setdefault(row, error)
    return bad


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


def reported(
    results: RowResults, positions: Sequence[int], errors: Sequence[RowError]
) -> RowResults:
    """The results of a statement whose batch leaves some rows out.

    Args:
        results: of the batch.
        positions: in the statement, of the batch's rows.
        errors: of the other rows.
    """
    moved = [replace(error, position=positions[error.position]) for error in results.errors]
    together = sorted([*moved, *errors], key=lambda error: error.position)
    return RowResults(
        results.applied,
        results.ignored,
        results.failed + len(errors),
        tuple(together[:MAX_ROW_ERRORS]),
    )
