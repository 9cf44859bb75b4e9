"""Iterators of a program, generators among them, as readers of Arrow: rows in bounded memory.

What an iterator gives is batches, tables or frames, each with the columns of the first, or rows:
dicts or tuples, of which so many are converted together as take few bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from sys import getsizeof
from typing import Any, TypeAlias

import pyarrow as pa

from pykudu_sql.executor.frames import arrow_of, opened
from pykudu_sql.storage.errors import ProgrammingError

_MOST_ROWS = 8_192
# The rows of a piece, and how many came before, as a batch.
BatchOfRows: TypeAlias = Callable[[Sequence[Any], int], pa.RecordBatch]


def is_iterator(data: object) -> bool:
    """Whether data gives one item after another, and offers nothing better."""
    return isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__")


def with_tables_joined(data: Any) -> Any:
    """A list or iterator of batches, tables or frames as a reader of their rows; other data as is.

    The first item of an iterator is read at once. Raises: see `reader_of_items`.
    """
    if not isinstance(data, list | tuple) and not is_iterator(data):
        return data
    items = iter(data)
    heads = list(islice(items, 1))
    if any(map(_is_tabular, heads)):
        return _reader(_batches_of_tables(chain(heads, items)))
    return chain(heads, items) if is_iterator(data) else data


def _is_tabular(item: object) -> bool:
    """Whether an item has columns with names. Of a lazy frame only its class may be asked."""
    is_row = isinstance(item, Mapping | list | tuple)
    return not is_row and any(hasattr(type(item), name) for name in ("columns", "read_all"))


def reader_of_items(
    items: Iterator[Any], batch_of_rows: BatchOfRows, most_bytes: int
) -> pa.RecordBatchReader | None:
    """A reader of all that an iterator gives; None if that is nothing.

    Args:
        items: of the program, whose first one is read at once.
        batch_of_rows: makes a batch of dicts or tuples.
        most_bytes: of rows that are converted together.

    Raises InterfaceError: an item has no columns; ProgrammingError: not those of the first.
    """
    heads = list(islice(items, 1))
    if not heads:
        return None
    items = chain(heads, items)
    if isinstance(heads[0], Mapping | list | tuple):
        batches = _batches_of_rows(items, batch_of_rows, most_bytes)
    else:
        batches = _batches_of_tables(items)
    return _reader(batches)


def _reader(batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    """A reader of at least one batch."""
    head = next(batches)
    return pa.RecordBatchReader.from_batches(head.schema, chain([head], batches))


def _batches_of_tables(items: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    schema: pa.Schema | None = None
    for number, item in enumerate(items, 1):
        source = arrow_of(opened(item))
        if schema is None:
            schema = source.schema
            yield pa.RecordBatch.from_pylist([], schema)
        _check_names(schema.names, source.schema.names, f"item {number}")
        table = source if isinstance(source, pa.Table) else source.read_all()
        yield from (table if table.schema == schema else table.cast(schema)).to_batches()


def _check_names(first: Sequence[str], names: Sequence[str], what: str) -> None:
    if list(first) != list(names):
        raise ProgrammingError(
            f"{what} has the columns ({', '.join(names)}), the first ({', '.join(first)})",
            hint="give each the same columns in the same order",
            sqlstate="07001",
        )


def _batches_of_rows(
    rows: Iterator[Any], batch_of_rows: BatchOfRows, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    before = 0
    names: list[str] = []
    for piece in _pieces(rows, most_bytes):
        batch = batch_of_rows(piece, before)
        names = names or batch.schema.names
        _check_names(names, batch.schema.names, f"row {before + 1}")
        yield batch
        before += len(piece)


def _pieces(rows: Iterator[Any], most_bytes: int) -> Iterator[list[Any]]:
    piece: list[Any] = []
    size = 0
    for row in rows:
        piece.append(row)
        if isinstance(row, Mapping | list | tuple):
            size += sum(map(getsizeof, row.values() if isinstance(row, Mapping) else row))
        if len(piece) == _MOST_ROWS or size > most_bytes:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece
