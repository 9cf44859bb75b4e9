"""Rows as the engine takes them: no vector of it has more than some bytes of a relation.

The engine works on vectors of 2048 rows, and counts what functions make of one against no limit,
nor can it be stopped meanwhile: `s || s || s || s` over texts of 60 kB is 500 MB at once. Into a
vector it takes no more rows than a batch of a relation has, though. So batches of wide rows are
cut, which copies nothing; what is computed of them stays small, and in the processor's caches.
What joins, sorts, groups and windows hand on are vectors of 2048 rows again. Filters and products
would gather the short vectors into long ones too, which engines of wide rows are told not to do.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, inf, log2
from typing import Any, Final
from weakref import ReferenceType, ref

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.planner.value_bounds.excess import VECTOR_ROWS
from pykudu_sql.storage.common.row_allowance import LEAST_WIDE_BYTES, rows_within
from pykudu_sql.storage.common.types.arrays import filled_numbers
from pykudu_sql.storage.common.types.value_bytes import value_bytes

_VIEW_BYTES = 16
_LEAST_BYTES = 256 << 10
_MOST_BYTES = 4 << 20
_ENGINE_SHARE = 64
_FEW_VECTORS = 8  # that a vector of rows may take the bytes of before its rows are wide


def vector_bytes(memory_limit: int) -> int:
    """The bytes of a vector. `memory_limit`: of the engine, 0 for its own default."""
    return min(_MOST_BYTES, max(_LEAST_BYTES, memory_limit // _ENGINE_SHARE or _MOST_BYTES))


def table_in_vectors(table: pa.Table, size: int) -> pa.Table:
    """The same rows, of which no vector has more bytes than `size`, but for rows that do alone."""
    if not _wide_columns(table.schema):
        return table
    batches = table.to_batches()
    slices = list(batches_in_vectors(batches, table.schema, size))
    return table if len(slices) == len(batches) else pa.Table.from_batches(slices, table.schema)


def batches_in_vectors(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, size: int
) -> Iterator[pa.RecordBatch]:
    """Batches of the same rows, of which no vector has more bytes than `size`."""
    wide = _wide_columns(schema)
    for batch in batches:
        if _vector_bytes_bound(batch, wide) <= size or _largest_vector(batch, wide) <= size:
            yield batch
            continue
        for first in range(0, batch.num_rows, VECTOR_ROWS):
            part = batch.slice(first, VECTOR_ROWS)
            rows = rows_within(size, _bytes_of(part, wide) / part.num_rows, VECTOR_ROWS)
            for begin in range(0, part.num_rows, rows):
                yield part.slice(begin, rows)


def pieces(width: float, size: int) -> int:
    """Into how many parts a vector of 2048 rows of a width is to be cut: a power of two.

    One where the rows are not wide. `size`: see `vector_bytes`.
    """
    parts = VECTOR_ROWS * width / size
    return 1 if parts < _FEW_VECTORS else min(VECTOR_ROWS, 1 << ceil(log2(parts)))


@dataclass(frozen=True, slots=True)
class Width:
    """How wide the rows of a relation are.

    Attributes:
        row_bytes: in the mean.
        sized_columns: that have values of any length.
        vector_bytes: of those in a vector, at most; infinite where they are not at hand.
    """

    row_bytes: float
    sized_columns: int
    vector_bytes: float


class _TableWidths(dict[int, tuple[ReferenceType[pa.Table], Width]]):
    """How wide the rows of tables are, by identity, as long as these are there.

    A query looks at each of its relations several times, and dictionaries take a while.
    """

    def of(self, table: pa.Table) -> Width:
        key = id(table)
        entry = self.get(key)
        if entry is not None and entry[0]() is table:
            return entry[1]
        wide = _wide_columns(table.schema)
        width = Width(row_bytes(table), len(wide), _most_of_a_vector(table, wide))
        self[key] = (ref(table, lambda _: self.pop(key, None)), width)
        return width


_TABLE_WIDTHS: Final = _TableWidths()


def width_of(relation: Relation) -> Width:
    """How wide the rows of a relation are."""
    if isinstance(relation, pa.Table):
        return _TABLE_WIDTHS.of(relation)
    return Width(row_bytes(relation), len(_wide_columns(relation.schema)), inf)


def row_bytes(relation: Relation) -> float:
    """Bytes of a row of a relation in the mean; of narrow rows they may be fewer."""
    if not isinstance(relation, pa.Table):
        return float(relation.row_bytes)
    kinds = enumerate(relation.schema.types)
    coded = [relation.column(i) for i, kind in kinds if pa.types.is_dictionary(kind)]
    words = sum([_column_bytes(chunk) for column in coded for chunk in column.chunks])
    most = (relation.get_total_buffer_size() + words) / max(1, relation.num_rows)
    # To add up what slices have of their buffers takes a while where they are many.
    return float(most) if most < LEAST_WIDE_BYTES else bytes_of_row(relation)


def bytes_of_row(table: pa.Table) -> float:
    """Bytes of a row in the mean, once its dictionaries are words."""
    size = sum(_column_bytes(chunk) for column in table.columns for chunk in column.chunks)
    return float(size / max(1, table.num_rows))


def _wide_columns(schema: pa.Schema) -> Sequence[int]:
    """The places of columns whose values may have any size."""
    return [i for i, kind in enumerate(schema.types) if not _is_narrow(kind)]


def _is_narrow(kind: pa.DataType) -> bool:
    tests = pa.types
    return bool(tests.is_primitive(kind) or tests.is_decimal(kind) or tests.is_null(kind))


def _most_of_a_vector(table: pa.Table, columns: Sequence[int]) -> float:
    """An upper bound of the bytes of a vector of a table's rows."""
    chunks = [table.column(i).chunks for i in columns]
    return sum([max(map(_column_vector_bytes_bound, each), default=0.0) for each in chunks])


def _bytes_of(batch: pa.RecordBatch, columns: Sequence[int]) -> float:
    return sum(_column_bytes(batch.column(i)) for i in columns)


def _vector_bytes_bound(batch: pa.RecordBatch, columns: Sequence[int]) -> float:
    """An upper bound of the bytes of a vector; only of views it reads the lengths of texts."""
    return sum([_column_vector_bytes_bound(batch.column(i)) for i in columns])


def _column_vector_bytes_bound(column: pa.Array) -> float:
    if pa.types.is_string_view(column.type) and len(column):
        return float(VECTOR_ROWS * (int(_view_lengths(column).max()) + _VIEW_BYTES))
    lengths = _text_lengths(column.dictionary) if isinstance(column, pa.DictionaryArray) else None
    if lengths is None:
        return _column_bytes(column)
    return float(min(len(column), VECTOR_ROWS) * int(lengths.max()))


def _largest_vector(batch: pa.RecordBatch, columns: Sequence[int]) -> float:
    """Bytes of the values of the vector that has most; of lists and the like, all that there are.

    Without a look at each vector: a large table has thousands, and most have small texts.
    """
    edges = np.append(np.arange(0, batch.num_rows, VECTOR_ROWS), batch.num_rows)
    total = np.zeros(len(edges) - 1)
    for place in columns:
        total += _bytes_between(batch.column(place), edges)
    return float(total.max())


def _bytes_between(column: pa.Array, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Bytes of the values from each edge to the next."""
    if isinstance(column, pa.DictionaryArray):
        lengths = _wide_words(column.dictionary)
        if lengths is None:
            return np.diff(edges) * (_column_bytes(column) / len(column))
        return np.add.reduceat(lengths[_codes(column)], edges[:-1]).astype(np.float64)
    if pa.types.is_string_view(column.type):
        return np.add.reduceat(_view_lengths(column), edges[:-1], dtype=np.float64)
    offsets = _text_offsets(column)
    if offsets is None:
        return np.full(len(edges) - 1, float(column.nbytes))
    return np.diff(offsets[edges]).astype(np.float64)


def _column_bytes(column: pa.Array) -> float:
    """Bytes of the values; of a dictionary's, those of its words for each row that has them."""
    if pa.types.is_string_view(column.type):
        return float(_view_lengths(column).sum(dtype=np.int64) + _VIEW_BYTES * len(column))
    if not isinstance(column, pa.DictionaryArray):
        return float(value_bytes(column))
    words = column.dictionary
    lengths = _wide_words(words)
    if lengths is None:
        return float(len(column) * words.nbytes / max(1, len(words)))
    return float(lengths[_codes(column)].sum())


def _view_lengths(column: pa.Array) -> npt.NDArray[np.int32]:
    """Bytes of each text of a column of views, each of which begins with that; none is NULL."""
    data, first = column.buffers()[1], _VIEW_BYTES * column.offset
    words = _VIEW_BYTES // 4
    return np.frombuffer(data, np.int32, words * len(column), first)[::words]


def _wide_words(words: pa.Array) -> npt.NDArray[np.int64] | None:
    """Bytes of each word of a dictionary, none behind them; None where the mean is good enough."""
    offsets = _text_offsets(words) if len(words) else None
    if offsets is None or offsets[-1] - offsets[0] < LEAST_WIDE_BYTES:
        return None
    lengths = np.diff(offsets)
    if lengths.max() < LEAST_WIDE_BYTES:
        return None
    return np.append(lengths, 0).astype(np.int64)


def _text_lengths(words: pa.Array) -> npt.NDArray[Any] | None:
    """Bytes of each word of a dictionary; None where it has none, or no texts."""
    offsets = _text_offsets(words) if len(words) else None
    return None if offsets is None else np.diff(offsets)


def _text_offsets(column: pa.Array) -> npt.NDArray[Any] | None:
    """Where the texts of a column begin, and where the last one ends; None of other types."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        width: np.dtype[Any] = np.dtype(np.int32)
    elif pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        width = np.dtype(np.int64)
    else:
        return None
    start = width.itemsize * column.offset
    return np.frombuffer(column.buffers()[1], width, len(column) + 1, start)


def _codes(column: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """Places of each row's word in a dictionary; that behind them for NULL."""
    return filled_numbers(column.indices, len(column.dictionary)).astype(np.int64, copy=False)
