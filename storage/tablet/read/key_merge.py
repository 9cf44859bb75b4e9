"""Rows of many rowsets in the order of their keys: a merge of blocks, streamed.

Kudu's MergeIterator (`common/generic_iterators.cc`, KUDU-2466). A source is *cold* until the merge
comes to its lowest key; only then it is opened, so rowsets that follow each other are in memory one
after the other. Of the *hot* sources each has one block at hand. All rows up to the lowest of these
blocks' last keys can be given: they are put together and sorted by key at once, instead of row by
row through a heap. A source that stands alone is passed on without a copy.

A key lives in one rowset at a time, so no two rows have the same.
"""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.tablet.history.row_slice import join
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock


@dataclass(frozen=True, slots=True)
class KeyedBlock:
    """Rows with their keys, by key.

    `keys`: encoded, ascending and distinct; `columns`: the wanted ones, as many cells each.
    """

    keys: EncodedKeys
    columns: Sequence[pa.Array]

    def part(self, start: int, stop: int) -> "KeyedBlock":
        """The rows start <= place < stop."""
        cells = [values.slice(start, stop - start) for values in self.columns]
        return KeyedBlock(self.keys.slice(start, stop), cells)


@dataclass(frozen=True, slots=True)
class KeyedSource:
    """Rows that come by key.

    Attributes:
        min_key: no row's key is below it.
        open: begins to read; the blocks ascend, and none is empty.
    """

    min_key: bytes
    open: Callable[[], Iterator[KeyedBlock]]


class _Hot:
    """A source being read, and the rest of its block at hand."""

    def __init__(self, blocks: Iterator[KeyedBlock], first: KeyedBlock) -> None:
        self._blocks = blocks
        self._block: KeyedBlock | None = first

    def has_more(self) -> bool:
        """Whether there are more rows; a used block is followed by the next only here."""
        if self._block is None:
            self._block = next(self._blocks, None)
        return self._block is not None

    @property
    def last_key(self) -> bytes:
        """Of the block at hand."""
        assert self._block is not None
        return self._block.keys.max_key()

    def take_to(self, key: bytes) -> KeyedBlock | None:
        """The rows with keys up to and including one, None when there are none."""
        block = self._block
        assert block is not None
        rows = len(block.keys)
        count = block.keys.lower_bound(key + b"\0")
        if count == rows:
            self._block = None
        elif count:
            self._block = block.part(count, rows)
        return block.part(0, count) if count else None


def merge_by_key(sources: Sequence[KeyedSource]) -> Iterator[KeyedBlock]:
    """The rows of all sources in the order of their keys."""
    cold = sorted(sources, key=lambda source: source.min_key, reverse=True)
    hot: list[_Hot] = []
    while cold or hot:
        if not hot:
            hot += _opened(cold.pop())
            continue
        edge = min(source.last_key for source in hot)
        while cold and cold[-1].min_key <= edge:
            opened = _opened(cold.pop())
            hot += opened
            edge = min([edge, *(source.last_key for source in opened)])
        parts = [part for source in hot if (part := source.take_to(edge)) is not None]
        yield _merged(parts)
        hot = [source for source in hot if source.has_more()]


def _opened(source: KeyedSource) -> Sequence[_Hot]:
    """A source's first block at hand, or nothing when it has no rows."""
    blocks = source.open()
    first = next(blocks, None)
    return [] if first is None else [_Hot(blocks, first)]


def _merged(parts: Sequence[KeyedBlock]) -> KeyedBlock:
    if len(parts) == 1:
        return parts[0]
    keys = EncodedKeys.concat([part.keys for part in parts])
    order = keys.argsort()
    indices = integers(order)
    columns = zip(*(part.columns for part in parts), strict=True)
    return KeyedBlock(keys.take(order), [join(values).take(indices) for values in columns])


def keyed(blocks: Iterator[RowBlock], encoder: KeyEncoder) -> Iterator[KeyedBlock]:
    """Blocks of rows by key, whose first columns are the key's, with their keys encoded."""
    width = len(encoder.columns)
    ids = [column.id for column in encoder.columns]
    for block in blocks:
        keys = encoder.encode(dict(zip(ids, block.columns, strict=False)))
        yield KeyedBlock(keys, block.columns[width:])
