"""One scan of one table: which rowsets it reads, side by side or in order, whole or as a stream.

What Kudu's client does with the tablets of a table (`client/scanner-internal.h`), with rowsets for
tablets, since they are in the same process: partitions are pruned by whoever makes the scan, then
rowsets are read by the threads of a pool, each by itself.

* `to_table` brings everything into memory, a rowset a task.
* `batches` streams: a stretch of a rowset is at hand and the next ones are being read, so what
  memory holds does not grow with the table; `exact_blocks` gives no more than matches.
* With a limit, or in key order, rowsets are read a stretch at a time and no further than needed.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.snapshots import Hold
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, ScanSpec
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.progress import Counter
from pykudu_sql.storage.common.row_allowance import rows_within
from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.validity_array import validity_array
from pykudu_sql.storage.ingest.table import assemble
from pykudu_sql.storage.scan.decoded_size import decoded_bytes
from pykudu_sql.storage.scan.first_rows import first_rows
from pykudu_sql.storage.scan.read_ahead import Source, read_ahead, task_of
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.scan_token import BATCH_ROWS, batches_of, scan_schema
from pykudu_sql.storage.scan.side_by_side import side_by_side
from pykudu_sql.storage.tablet.read.key_merge import KeyedSource, keyed, merge_by_key
from pykudu_sql.storage.tablet.read.memory_order import ordinals_by_key
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS, located
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock, TextForm

PARALLEL_ROWS = 200_000
# Of no more rows, those that match are copied however many they are: it costs little, and the
# values of a few rows narrow the scans that they are joined with.
_EXACT_ROWS = 16 * 1024
# Rowsets read at once: two processors are busy while the few rows that match in a third wait for
# who asked. Of a stream rows are many, and its engine computes too.
_MOST_AT_ONCE = 3
_MOST_STREAMED = 2
ORDERED_ROWS = 16 * 1024
_LEAST_STRETCH = 1024
_UNCHECKED_ROWS = 1 << 20
_STRETCH_BYTES = 64 << 20
MOST_DECODED = 128 << 20
_STRING_BYTES = 8
_BEST_COMPRESSION = 256
_FLAG = DataType(Kind.BOOL)


@dataclass(frozen=True)
class TableScan:
    """A scan, its tablets pruned.

    Attributes:
        schema: of the table at the moment that is read.
        spec: of the scan.
        snapshot: whose history is kept for as long as the scan lasts.
        reads: the rowsets of the tablets that may have matching rows.
        pool: its threads read.
        stats: counts what is done; None for nobody who wants to know.
        cache_blocks: whether the block cache keeps what is decoded; see `cache_use`.
        cancel_check: called between the stretches that are read; may raise to end the scan.
        counter: counts the rows of the rowsets as they are read; None for nobody.
        piece_bytes: that the rows of a stretch may take once they are decoded.
        texts: how texts come.
    """

    schema: Schema
    spec: ScanSpec
    snapshot: Hold
    reads: Sequence[RowSetRead]
    pool: ThreadPool
    stats: ScanStats | None
    cancel_check: Callable[[], None] = lambda: None
    cache_blocks: bool = True
    counter: Counter | None = None
    piece_bytes: int = MOST_DECODED
    texts: TextForm = TextForm.STRINGS

    @property
    def bound(self) -> SnapshotBound:
        """Of the snapshot."""
        return self.snapshot.bound

    @cached_property
    def columns(self) -> tuple[ColumnSchema, ...]:
        """The columns wanted, in order."""
        by_id = self.schema.by_id
        stored = tuple([by_id[i] for i in self.spec.column_ids])
        return (*stored, ROW_ADDRESS) if self.spec.addressed else stored

    @property
    def decoded_columns(self) -> tuple[ColumnSchema, ...]:
        """Those of them of which more is wanted than where they are NULL."""
        validity_ids = self.spec.validity_ids
        return tuple([column for column in self.columns if column.id not in validity_ids])

    @cached_property
    def shown_columns(self) -> tuple[ColumnSchema, ...]:
        """The columns as they come, of which `ScanSpec.validity_ids` changes the types."""
        validity_ids = self.spec.validity_ids
        return tuple([replace(c, type=_FLAG) if c.id in validity_ids else c for c in self.columns])

    @property
    def batch_schema(self) -> pa.Schema:
        """Of the batches that `batches` gives."""
        return scan_schema(self.shown_columns)

    def project(self, indices: Sequence[int]) -> "TableScan":
        """The scan with some of its columns only; `indices` of them, from 0 and ascending."""
        ids = self.spec.column_ids
        addressed = len(ids) in indices
        stored = tuple(ids[index] for index in indices if index < len(ids))
        return replace(self, spec=replace(self.spec, column_ids=stored, addressed=addressed))

    @property
    def row_count(self) -> int:
        """Rows of the rowsets, whatever the predicate and the limit, deleted ones among them."""
        return sum([read.rows for read in self.reads])

    @property
    def estimated_bytes(self) -> int:
        """Bytes that all rows together may take in memory, whatever the predicate and the limit.

        A guess that reads nothing, from rows, widths and the sizes of files.
        """
        total = self.row_count * (self._fixed_width + _STRING_BYTES * self._strings)
        if self._strings:
            total += sum([read.size for read in self.reads])
        return total

    @cached_property
    def _fixed_width(self) -> int:
        """Bytes that the columns of a fixed width have in a row."""
        return sum([column.type.width for column in self.decoded_columns])

    @cached_property
    def _strings(self) -> int:
        """Columns of any length."""
        return sum([column.type.is_variable for column in self.decoded_columns])

    def estimated_within(self, size: int) -> int:
        """The same; from footers where files may hold more than `size` bytes, packed."""
        estimated = self.estimated_bytes
        if estimated > size or estimated * _BEST_COMPRESSION <= size:
            return estimated
        return max(estimated, sum(map(self._decoded, self.reads)))

    @property
    def row_bytes(self) -> int:
        """What a row takes in memory in the rowset with the widest."""
        return max((self._decoded(read) // read.rows for read in self.reads), default=0)

    def _decoded(self, read: RowSetRead) -> int:
        return decoded_bytes(read.rowset, self.decoded_columns, self.bound)

    def row_filter(self) -> RowFilter | None:
        """The predicate, ready to drop rows."""
        if self.spec.predicate is None:
            return None
        return RowFilter.of(self.spec.predicate, self.schema.key_columns, self.schema.columns)

    def to_table(self) -> pa.Table:
        """All rows, a chunk a stretch, with the columns' names."""
        return assemble(self.shown_columns, self._blocks())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows as they are read, strings without dictionaries."""
        schema = self.batch_schema
        for block in self.stretches():
            yield from batches_of(schema, block.columns, block.length)

    def stretches(self) -> Iterator[RowBlock]:
        """All rows as they are read, strings with the dictionaries of their files."""
        return self._blocks() if self._stops_early else self._streamed()

    @property
    def _stops_early(self) -> bool:
        return self.spec.limit is not None or self.spec.order is ScanOrder.KEY

    def _blocks(self) -> Iterator[RowBlock]:
        """Blocks of any size."""
        if self.spec.order is ScanOrder.KEY:
            return first_rows(self._by_key(), self.spec.limit)
        if self.spec.limit is not None:
            exact = self._exactly(self.row_filter(), self._stretch(BATCH_ROWS))
            return first_rows(exact, self.spec.limit)
        return self._whole_rowsets()

    def exact_blocks(self, scan_filter: RowFilter | None) -> Iterator[RowBlock]:
        """Exactly the rows that match; no more than the limit, in the order.

        A stretch of a few rowsets each is in memory at a time. `scan_filter`: the scan's own.
        """
        if self._stops_early:
            return self._blocks()
        if not self._is_large(scan_filter):
            return self._exactly(scan_filter, None)
        exact = None if scan_filter is None else scan_filter.exactly()
        return self._read_ahead(self.reads, exact, None, _MOST_AT_ONCE)

    def matching_blocks(
        self, scan_filter: RowFilter | None, note: Callable[[RowBlock], None]
    ) -> list[RowBlock]:
        """Exactly the rows that match, all of them in memory.

        Args:
            scan_filter: the scan's own.
            note: called with each block, by several threads; may raise to end the scan.
        """
        if not self._stops_early and self._is_large(scan_filter):
            part = replace(self, piece_bytes=self.piece_bytes // self.pool.workers)
            exact = None if scan_filter is None else scan_filter.exactly()
            return part._side_by_side(exact, note)
        blocks = []
        for block in self._blocks() if self._stops_early else self._exactly(scan_filter, None):
            note(block)
            blocks.append(block)
        return blocks

    def _whole_rowsets(self) -> Iterator[RowBlock]:
        """Every rowset in one go; side by side, when they are large."""
        scan_filter = self.row_filter()
        if scan_filter is not None and self.row_count <= _EXACT_ROWS:
            scan_filter = scan_filter.exactly()
        if not self._is_large(scan_filter):
            for read in self.reads:
                yield from self._scan(read, scan_filter, None, self.stats)
            return
        yield from self._side_by_side(scan_filter, lambda block: None)

    def _side_by_side(
        self, scan_filter: RowFilter | None, note: Callable[[RowBlock], None]
    ) -> list[RowBlock]:
        """All blocks, of several rowsets at once. `note`: see `matching_blocks`."""

        def scan(read: RowSetRead) -> tuple[list[RowBlock], ScanStats | None]:
            stats, blocks = None if self.stats is None else ScanStats(), list[RowBlock]()
            for block in self._scan(read, scan_filter, None, stats):
                note(block)
                blocks.append(block)
            return blocks, stats

        results = side_by_side(self.pool, [task_of(scan, read) for read in self.reads])
        for _, stats in results:
            if self.stats is not None and stats is not None:
                self.stats.add(stats)
        return [block for blocks, _ in results for block in blocks]

    def _is_large(self, scan_filter: RowFilter | None) -> bool:
        """Whether the rows of several rowsets are so many that threads should read them."""
        sizes = [read.most_rows(scan_filter, self.bound) for read in self.reads]
        return sum(size > 0 for size in sizes) > 1 and sum(sizes) > PARALLEL_ROWS

    def _exactly(self, scan_filter: RowFilter | None, stretch: int | None) -> Iterator[RowBlock]:
        """A stretch of a rowset after the other, exactly the rows that match."""
        exact = None if scan_filter is None else scan_filter.exactly()
        for read in self.reads:
            yield from self._scan(read, exact, stretch, self.stats)

    def _streamed(self) -> Iterator[RowBlock]:
        """All rows, one rowset after the other, while threads read the stretches that come next.

        The first rowset is read alone and in short stretches, for who wants few rows only.
        """
        scan_filter, stretch = self.row_filter(), self._long_stretch()
        yield from self._read_ahead(self.reads[:1], scan_filter, BATCH_ROWS, 1)
        yield from self._read_ahead(self.reads[1:], scan_filter, stretch, _MOST_STREAMED)

    def _read_ahead(
        self,
        reads: Sequence[RowSetRead],
        scan_filter: RowFilter | None,
        stretch: int | None,
        most_at_once: int,
    ) -> Iterator[RowBlock]:
        """A rowset after the other; see `read_ahead`. All that is read together is a piece."""
        part = replace(self, piece_bytes=self.piece_bytes // most_at_once)

        def sources() -> Iterator[Source]:
            for read in reads:
                stats = None if self.stats is None else ScanStats()
                yield part._scan(read, scan_filter, stretch, stats), stats

        return read_ahead(self.pool, sources(), most_at_once, self.stats)

    def _long_stretch(self) -> int:
        """Rows whose cells take not much more than `_STRETCH_BYTES`: what a call costs is spread
        over many rows, and few stretches are all that a stream holds."""
        rows = max(1, self.row_count)
        return max(
            BATCH_ROWS, min(_UNCHECKED_ROWS, _STRETCH_BYTES * rows // max(1, self.estimated_bytes))
        )

    def _by_key(self) -> Iterator[RowBlock]:
        """Stretches in key order over all tablets, exactly the rows that match."""
        scan_filter = self.row_filter()
        exact = None if scan_filter is None else scan_filter.exactly()
        encoder = KeyEncoder(self.schema.key_columns)
        ids = (*self.schema.key_ids, *self.spec.column_ids)
        with_keys = replace(self, spec=replace(self.spec, column_ids=ids, validity_ids=frozenset()))
        sources = [with_keys._source(read, exact, encoder) for read in self.reads]
        for block in merge_by_key([source for source in sources if source is not None]):
            yield self._as_shown(RowBlock(block.columns, len(block.keys)))

    def _source(
        self, read: RowSetRead, row_filter: RowFilter | None, encoder: KeyEncoder
    ) -> KeyedSource | None:
        """A rowset, to be read by key; None when it has no row."""
        rowset, stretch = read.rowset, self._fitting(read, self._stretch(ORDERED_ROWS))
        if isinstance(rowset, DiskRowSet):
            return KeyedSource(
                rowset.meta.min_key,
                lambda: keyed(self._scan(read, row_filter, stretch, self.stats), encoder),
            )
        assert isinstance(rowset, MemRowSet)
        runs = rowset.runs(row_filter, self.bound)
        if not runs:
            return None
        picks = ordinals_by_key(runs, read.rows, stretch)
        blocks = rowset.scan_rows(
            picks, self.columns, row_filter, self.bound, read.own, stats=self.stats
        )
        return KeyedSource(
            min(run.keys.min_key() for run in runs),
            lambda: keyed(self._delivered(read, blocks, stretch), encoder),
        )

    def _stretch(self, most: int) -> int:
        """Rows to look at in one go: not many more than a limit asks for."""
        limit = self.spec.limit
        return most if limit is None else min(max(limit, _LEAST_STRETCH), most)

    def _fitting(self, read: RowSetRead, most: int) -> int:
        """Rows of a stretch of a rowset: at most so many, and no more than a piece has."""
        width = self._decoded(read) / read.rows if self._strings else self._fixed_width
        return rows_within(self.piece_bytes, width, most)

    def _scan(
        self,
        read: RowSetRead,
        row_filter: RowFilter | None,
        stretch: int | None,
        stats: ScanStats | None,
    ) -> Generator[RowBlock, None, None]:
        most = self._fitting(read, _UNCHECKED_ROWS if stretch is None else stretch)
        rowset, scan = read.rowset, read.rowset.scan
        if isinstance(rowset, DiskRowSet):
            scan = partial(
                rowset.scan,
                ranges=read.ranges,
                texts=self.texts,
                validity_ids=self.spec.validity_ids,
            )
        blocks = scan(
            self.columns,
            row_filter,
            self.bound,
            read.own,
            stretch=most,
            stats=stats,
            cache_blocks=self.cache_blocks,
        )
        yield from self._delivered(read, blocks, most)

    def _delivered(
        self, read: RowSetRead, blocks: Iterator[RowBlock], stretch: int
    ) -> Generator[RowBlock, None, None]:
        """A rowset's blocks with whole row addresses, and `cancel_check` called between them.

        A block is counted as all rows of a stretch, and what was passed over at the end.
        """
        left = 0 if self.counter is None else read.rows
        self.cancel_check()
        for block in map(self._as_shown, blocks):
            yield located(block, read.rowset_index) if self.spec.addressed else block
            left -= self._counted(min(stretch, left))
            self.cancel_check()
        self._counted(left)

    def _as_shown(self, block: RowBlock) -> RowBlock:
        """A block of the columns with those of `ScanSpec.validity_ids` as they come."""
        validity_ids = self.spec.validity_ids
        if not validity_ids:
            return block
        cells = zip(self.columns, block.columns, strict=True)
        return RowBlock(
            [validity_array(each) if c.id in validity_ids else each for c, each in cells],
            block.length,
        )

    def _counted(self, rows: int) -> int:
        if self.counter is not None:
            self.counter.add(rows)
        return rows
