"""Planning a scan as tokens that other processes read.

Memory need not be flushed first: rows of MemRowSets travel in tokens of their own, and what
DeltaMemStores come to at the snapshot travels with the share of the rowset that it changes. So a
plan can be made by a process that only reads the database, too.

A plan holds a lease: the files its tokens name stay until it is released or its process ends.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Self

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition_pruner import prune
from pykudu_sql.storage.common.predicate.column_predicate import column_ids
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.fs.lease import Lease
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.scan.scan_token import (
    MemoryShare,
    RowSetShare,
    ScanToken,
    batches_of,
    decode_batches,
    encode_batches,
    scan_schema,
)
from pykudu_sql.storage.tablet.delta.delta_store import CellPatch, Ordinals
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.pruning import intersect

SPLIT_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """Tokens, and the lease of the files they name.

    Attributes:
        tokens: whose rows together are those of the scan.
        lease: None in a directory that this process cannot write to: nothing holds the files then.
        with_null: ids of the columns wanted that may be NULL in some row, by the statistics of
            files; the others are not, whatever the schema permits.
    """

    tokens: tuple[ScanToken, ...]
    lease: Lease | None
    with_null: frozenset[int]

    @property
    def lease_path(self) -> str | None:
        """Of the claim, by which those who read keep it alive."""
        return None if self.lease is None else self.lease.path

    def release(self) -> None:
        """Give the files back; the tokens are worth nothing from here on."""
        if self.lease is not None:
            self.lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()


def plan_tokens(
    store: OpenStore,
    table: TableInfo,
    spec: ScanSpec,
    bound: SnapshotBound | None = None,
    split_bytes: int = SPLIT_BYTES,
) -> ScanPlan:
    """Split a scan into tokens.

    Args:
        store: open, for writing or reading.
        table: as of the snapshot.
        spec: columns and predicate; a limit is left to whoever reads.
        bound: of the snapshot, readable; the newest when None.
        split_bytes: a token reads about so many bytes of the columns wanted, at least one block.

    Raises HistoryPurgedError: history does not reach back to the snapshot; CorruptionError: a file
    is not what was written; DiskError: the disk refused.
    """
    snapshots = store.history.snapshots
    hold = snapshots.hold_newest() if bound is None else store.history.hold((table,), bound)
    remaining = prune(table.schema, table.partition_schema, spec.predicate)
    # Before the rowsets are looked at: their files stay from here on.
    lease = store.take_lease()
    try:
        planner = _Planner(store.database_id, table, spec, hold.bound, split_bytes)
        tablets = [store.tablets[table.tablets[index].id] for index in remaining]
        planned = [
            (rowset, tuple(planner.tokens_of(tablet.id, rowset)))
            for tablet in tablets
            for rowset in tablet.components.rowsets
        ]
        with_null = {
            column_id
            for rowset, tokens in planned
            for token in tokens
            for column_id in _with_null(rowset, token)
        }
    except BaseException:
        if lease is not None:
            lease.release()
        raise
    return ScanPlan(
        tuple(token for _, tokens in planned for token in tokens), lease, frozenset(with_null)
    )


@dataclass(frozen=True, slots=True)
class _Planner:
    """One scan, being split."""

    database_id: bytes
    table: TableInfo
    spec: ScanSpec
    bound: SnapshotBound
    split_bytes: int

    @property
    def columns(self) -> tuple[ColumnSchema, ...]:
        return tuple(self.table.schema.by_id[i] for i in self.spec.column_ids)

    @property
    def row_filter(self) -> RowFilter | None:
        predicate, schema = self.spec.predicate, self.table.schema
        if predicate is None:
            return None
        return RowFilter.of(predicate, schema.key_columns, schema.columns).exactly()

    def tokens_of(self, tablet_id: str, rowset: MemRowSet | DiskRowSet) -> Iterator[ScanToken]:
        """The tokens of one rowset; none when no row can be wanted."""
        columns = self.columns
        shares: Iterator[RowSetShare | MemoryShare] = (
            self._rows_in_memory(rowset)
            if isinstance(rowset, MemRowSet)
            else self._rows_on_disk(rowset)
        )
        for share in shares:
            yield ScanToken(
                self.database_id,
                self.table.name,
                tablet_id,
                self.bound,
                columns,
                self.spec.predicate,
                share,
            )

    def _rows_in_memory(self, memrowset: MemRowSet) -> Iterator[MemoryShare]:
        schema = scan_schema(self.columns)
        batches = [
            batch
            for block in memrowset.scan(self.columns, self.row_filter, self.bound, None)
            for batch in batches_of(schema, block.columns, block.length)
        ]
        if batches:
            yield MemoryShare(encode_batches(batches[0].schema, batches))

    def _rows_on_disk(self, rowset: DiskRowSet) -> Iterator[RowSetShare]:
        predicate, row_filter = self.spec.predicate, self.row_filter
        ranges = rowset.ranges_to_read(row_filter, self.bound, None)
        if not ranges:
            return
        column_ids_read = {*self.spec.column_ids, *(column_ids(predicate) if predicate else ())}
        pending = _pending_changes(rowset, self.bound)
        ordinals, living = pending.liveness()
        dead = ordinals[~living]
        for start, stop, size in split(rowset, column_ids_read, self.split_bytes):
            stretches = intersect(ranges, [(start, stop)])
            if stretches:
                size = size * sum(last - first for first, last in stretches) // (stop - start)
                start, stop = stretches[0][0], stretches[-1][1]
                patches = {i: pending.patch(i) for i in sorted(column_ids_read)}
                yield RowSetShare(
                    rowset.meta,
                    self.table.schema.key_columns,
                    start,
                    stop,
                    size,
                    _encode_patches(patches, start, stop),
                    _encode_ordinals(dead[(dead >= start) & (dead < stop)]),
                )


def _with_null(rowset: MemRowSet | DiskRowSet, token: ScanToken) -> Iterator[int]:
    """The columns that may be NULL in a row of a token.

    A file with changes of a column is not opened to see which. What the token says of the rowset
    was looked at before the rowset's CFiles are, so these know no less of it.
    """
    share = token.share
    nullable = [column for column in token.columns if column.may_show_null]
    if isinstance(share, MemoryShare):
        for batch in decode_batches(share.rows, None):
            yield from (column.id for column in nullable if batch.column(column.name).null_count)
        return
    assert isinstance(rowset, DiskRowSet)
    changes = [file.stats for file in (*share.rowset.redo, *share.rowset.undo)]
    changed = {*share.pending, *(i for stats in changes for i in stats.updates)}
    reinserted = any(stats.reinserts for stats in changes)
    for column in nullable:
        entry = rowset.base.entry(column.id)
        stored = column.read_default is None if entry is None else entry.null_count > 0
        if stored or reinserted or column.id in changed:
            yield column.id


def split(
    rowset: DiskRowSet, column_ids_read: set[int], split_bytes: int
) -> Iterator[tuple[int, int, int]]:
    """Cut a rowset into ranges of about equal size, at ends of blocks of its largest column.

    `column_ids_read`: ids of the columns that are read; `split_bytes`: of these columns a range.
    Returns of each range the first ordinal, the one behind its last, and the estimated bytes.
    """
    rows = rowset.meta.rows
    sizes = {
        i: entry.encoded_size for i in sorted(column_ids_read) if (entry := rowset.base.entry(i))
    }
    total = sum(sizes.values())
    parts = max(1, round(total / max(1, split_bytes)))
    cuts = [0, rows]
    if parts > 1:
        zone_map = rowset.base.zone_map(max(sizes, key=sizes.__getitem__))
        assert zone_map is not None
        edges = zone_map.first_ordinals
        targets = np.arange(1, parts, dtype=np.int64) * rows // parts
        cuts = sorted({*cuts, *edges[np.searchsorted(edges, targets)].tolist()})
    for start, stop in pairwise(cuts):
        yield start, stop, total * (stop - start) // max(1, rows)


def _pending_changes(rowset: DiskRowSet, bound: SnapshotBound) -> DeltaView:
    """The combined effect of a rowset's DeltaMemStores at a snapshot."""
    stores = [s for s in rowset.tracker.stores if len(s) and s.min_timestamp < bound]
    return DeltaView([run for store in stores for run in store.visible(bound)])


def _encode_patches(
    patches: Mapping[int, CellPatch | None], start: int, stop: int
) -> dict[int, bytes]:
    """The changed cells of a range, by column id; columns without any are left out."""
    encoded = {}
    for column_id, patch in patches.items():
        if patch is None:
            continue
        first, last = np.searchsorted(patch.ordinals, (start, stop)).tolist()
        if first < last:
            ordinals = integers(patch.ordinals[first:last])
            values = patch.values.slice(first, last - first)
            batch = pa.record_batch([ordinals, values], ["ordinal", "value"])
            encoded[column_id] = encode_batches(batch.schema, [batch])
    return encoded


def _encode_ordinals(ordinals: Ordinals) -> bytes:
    if not len(ordinals):
        return b""
    batch = pa.record_batch([pa.array(ordinals)], ["ordinal"])
    return encode_batches(batch.schema, [batch])
