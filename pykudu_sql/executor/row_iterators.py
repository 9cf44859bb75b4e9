"""Iterators of a program, generators among them, as readers of Arrow: rows in bounded memory.

What an iterator gives is batches, tables or frames, each with the columns of the first, or rows:
dicts or tuples, of which so many are converted together as take few bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from sys import getsizeof
from typing import Any, TypeAlias

import pyarrow as pa

from pykudu_sql.executor.frames import arrow_of
from pykudu_sql.storage.errors import ProgrammingError

_MOST_ROWS = 8_192
# The rows of a piece, and how many came before, as a batch.
BatchOfRows: TypeAlias = Callable[[Sequence[Any], int], pa.RecordBatch]


def is_iterator(data: object) -> bool:
    """Whether data gives one item after another, and offers nothing better."""
    return isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__")


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
    head = next(batches)
    return pa.RecordBatchReader.from_batches(head.schema, chain([head], batches))


def _batches_of_tables(items: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    schema: pa.Schema | None = None
    for number, item in enumerate(items, 1):
        source = arrow_of(item)
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
