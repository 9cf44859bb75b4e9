"""Large inserts: rows straight into DiskRowSets, without log and MemRowSet.

The rows of a large INSERT would otherwise be written twice, to the log and at the flush. Here they
are sorted and encoded at once; the files exist once the transaction's commit names them in the
manifest. It goes in three steps, each side by side on the store's threads, since the kernels
release the interpreter:

1. `coerce_columns`, a column a task.
2. `share_out`: keys are encoded and tablets found in blocks of rows that fit the cache, then each
   tablet's share is sorted and searched for keys given twice.
3. `write_rowset`, a rowset a task: a column is gathered, encoded and written before the next, so
   that little memory is ever touched for the first time, which costs as much as the work itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.encoding.type_encodings import resolve_encoding
from pykudu_sql.storage.common.cancellation import CancelCheck, never_cancelled
from pykudu_sql.storage.common.coercion.coercion import coerce_chunks
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types.arrays import combine
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import UNCOMMITTED
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.ingest.routing import duplicate_key_error
from pykudu_sql.storage.ingest.row_batch import Positions, RowBatch
from pykudu_sql.storage.ingest.validation import raise_first, validate_keys
from pykudu_sql.storage.tablet.history.row_slice import ColumnGather, ColumnsInMemory
from pykudu_sql.storage.tablet.maintenance.diskrowset_writer import write_base
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.tablet import Tablet

BULK_ROWS = 50_000
ROWSET_ROWS = 1 << 20
_BLOCK_ROWS = 32 * 1024
_SAMPLE = 4096


def coerce_columns(
    pool: Executor, schema: Schema, columns: Mapping[int, pa.Array | pa.ChunkedArray]
) -> dict[int, pa.Array]:
    """Columns of any Arrow type as the table's own, side by side where there are many rows.

    Strings of few distinct values become dictionaries: gathering codes is much cheaper than
    gathering strings, and the files keep them so. `columns`: by column id. Raises DataError: a
    value does not fit its column.
    """
    rows = max((len(values) for values in columns.values()), default=0)
    large = rows >= BULK_ROWS

    def one(column_id: int) -> pa.Array:
        column = schema.by_id[column_id]
        chunks = coerce_chunks(columns[column_id], column.type, column.name)
        if large and _takes_dictionary(column, chunks):
            return _encode_words(chunks)
        return combine(pa.chunked_array(chunks))

    # The longest tasks first, so that no thread is left with one at the end.
    order = sorted(columns, key=lambda i: not schema.by_id[i].type.is_variable)
    results = dict(zip(order, (pool.map if large else map)(one, order), strict=True))
    return {i: results[i] for i in columns}


def _takes_dictionary(column: ColumnSchema, chunks: Sequence[pa.Array]) -> bool:
    """Whether a column is one of strings, kept with a dictionary, that repeat."""
    if not column.type.is_variable or pa.types.is_dictionary(chunks[0].type):
        return False
    if resolve_encoding(column.type, column.encoding).codes is None:
        return False
    sample = pa.chunked_array([_sample(chunk, _SAMPLE // len(chunks) + 1) for chunk in chunks])
    return len(sample.unique()) < len(sample) // 2


def _sample(values: pa.Array, count: int) -> pa.Array:
    """Some values, evenly spread, or all when there are not so many."""
    step = -(-len(values) // count)
    return values.take(integers(np.arange(0, len(values), max(1, step))))


def _encode_words(chunks: Sequence[pa.Array]) -> pa.Array:
    """Strings as codes, as narrow as they can be, of one dictionary."""
    encoded = pa.chunked_array(chunks).dictionary_encode().chunks
    words = encoded[0].dictionary
    narrow = pa.from_numpy_dtype(np.min_scalar_type(-max(1, len(words))))
    codes = [chunk.indices.cast(narrow) for chunk in encoded]
    return pa.DictionaryArray.from_arrays(pa.concat_arrays(codes), words)


@dataclass(frozen=True, slots=True)
class TabletShare:
    """The rows of an INSERT that belong to one tablet, sorted by key.

    Attributes:
        tablet: index into the table's tablets.
        keys: encoded, ascending.
        indices: of the rows in the batch, int64[len(keys)].
    """

    tablet: int
    keys: EncodedKeys
    indices: Positions

    def rowsets(self) -> Iterator["TabletShare"]:
        """The share in parts of one size, of at most `ROWSET_ROWS` rows."""
        parts = -(-len(self.keys) // ROWSET_ROWS)
        cuts = [len(self.keys) * part // parts for part in range(parts + 1)]
        for start, stop in pairwise(cuts):
            yield TabletShare(self.tablet, self.keys.slice(start, stop), self.indices[start:stop])


def share_out(pool: Executor, batch: RowBatch) -> Sequence[TabletShare]:
    """The rows of an INSERT by tablet, in the tablets' order.

    `batch`: validated; at least one row. Raises AlreadyPresentError: a key is given twice;
    UncoveredRangeError: a key lies outside all range partitions; ValueTooLargeError: a key is over
    its limit.
    """
    length = batch.operations.length

    def share_block(start: int) -> list[TabletShare]:
        block = validate_keys(batch.key_block(start, start + _BLOCK_ROWS), raise_first)
        return _by_tablet(block.keys, block.tablets, start)

    def merge(parts: Sequence[TabletShare]) -> TabletShare:
        keys = EncodedKeys.concat([part.keys for part in parts])
        indices = np.concatenate([part.indices for part in parts])
        if not keys.is_sorted():
            order = keys.argsort()
            keys, indices = keys.take(order), indices[order]
        repeated = _first_repeated(keys)
        if repeated is not None:
            raise duplicate_key_error(batch.table, batch.operations.columns, int(indices[repeated]))
        return TabletShare(parts[0].tablet, keys, indices)

    by_tablet: dict[int, list[TabletShare]] = {}
    for block in pool.map(share_block, range(0, length, _BLOCK_ROWS)):
        for part in block:
            by_tablet.setdefault(part.tablet, []).append(part)
    return list(pool.map(merge, [by_tablet[tablet] for tablet in sorted(by_tablet)]))


def _by_tablet(keys: EncodedKeys, tablets: npt.NDArray[np.int32], start: int) -> list[TabletShare]:
    """A block of rows, from place `start` on, by tablet; rows keep their order."""
    # numpy sorts integers of 16 bits by radix.
    narrow = tablets.astype(np.uint16) if int(tablets.max()) < 1 << 16 else tablets
    order = np.argsort(narrow, kind="stable")
    keys, grouped = keys.take(order), tablets[order]
    cuts = [0, *(np.flatnonzero(grouped[1:] != grouped[:-1]) + 1).tolist(), len(grouped)]
    order += start
    return [
        TabletShare(int(grouped[first]), keys.slice(first, last), order[first:last])
        for first, last in pairwise(cuts)
    ]


def _first_repeated(keys: EncodedKeys) -> int | None:
    """Position of the first of ascending keys that equals the one before, or None."""
    in_order = np.arange(_BLOCK_ROWS + 1, dtype=np.int64)
    for start in range(0, len(keys), _BLOCK_ROWS):
        block = keys.slice(start, min(start + _BLOCK_ROWS + 1, len(keys)))
        repeated = block.duplicates(in_order[: len(block)])
        if len(repeated):
            return start + int(repeated[0])
    return None


def write_rowset(
    tablet: Tablet,
    columns: Mapping[int, pa.Array],
    part: TabletShare,
    before_column: CancelCheck = never_cancelled,
) -> DiskRowSet:
    """Write rows of an INSERT as a staged rowset of their tablet.

    A column that the table got since the rows were collected is left out: rows without it read its
    default, as those do that were there before it.

    Args:
        tablet: that the rows belong to; it does not hold their keys.
        columns: of the whole batch, by column id.
        part: the rows.
        before_column: called before each column is written, and behind the last.

    Raises DiskError: the disk refused.
    """
    schema, files = tablet.schema, tablet.files
    rowset_id = tablet.new_rowset_id()
    part_columns = ColumnGather([ColumnsInMemory(columns)], part.indices)
    present = [column for column in schema.columns if column.id in columns]
    meta = write_base(
        files, rowset_id, present, part_columns, part.keys, UNCOMMITTED, before_column
    )
    path = files.staging_path("base", meta.base)
    return files.open_rowset(meta, schema.key_columns, tablet.types, path)
