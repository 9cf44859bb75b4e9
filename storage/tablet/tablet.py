"""The Tablet: one partition of a table, as rowsets that are swapped whole.

Kudu's `tablet/tablet.h` holds transactions, consensus, compaction and metrics too; here it is the
rowsets, the way to read them at a snapshot, and the way to apply what a commit decided. Choosing
what to write is `pending_writes`, bringing memory to disk is `flush`, replaying the log is
`bootstrap`.

Writers hold the store's commit lock. Readers take the reference to the components and need no
lock.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.types.hybrid_time import UNCOMMITTED, SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.tablet.commit_record import (
    BatchMutation,
    RowInsert,
    RowMutation,
    TabletWrites,
)
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import OwnChanges, TabletComponents
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe, RowBlock, RowSet
from pykudu_sql.storage.tablet.rowset.rowset_tree import RowSetTree
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta, TabletMetadata


class Tablet:
    """One tablet.

    Attributes:
        files: its files.
        schema: of the table now.
        column_schemas: every column of a state of the table that may still be read, by id, in its
            newest form.
        types: the types of these columns, and of others that memory may hold.
        components: the rowsets; swapped whole.
        durable_memrowset: id of the newest MemRowSet that is on disk.
        lacks_rowset: whether the manifest, when the tablet was opened, neither had a rowset of an
            id nor knew it to be gone.
        newest: hybrid time of the newest commit.
        maintenance_lock: held by whoever flushes or compacts, so that one at a time does.
    """

    def __init__(
        self, files: TabletFiles, schemas: Sequence[Schema], metadata: TabletMetadata
    ) -> None:
        """Open a tablet as the manifest describes it, before the log is replayed.

        Args:
            schemas: all the table ever had, oldest first.
            metadata: its DiskRowSets, and what was used before them.
        """
        self.files = files
        self.column_schemas: dict[int, ColumnSchema] = {}
        self.types: dict[int, DataType] = {}
        self.durable_memrowset = metadata.durable_memrowset
        self.lacks_rowset = metadata.lacks_rowset
        self.schema = schemas[-1]
        for schema in schemas:
            self.change_schema(schema)
        self.key_encoder = KeyEncoder(self.schema.key_columns)
        files.reserve(metadata.newest_file)
        self._rowset_ids = count(metadata.newest_rowset + 1)
        rowsets = self.open_rowsets(tuple(metadata.rowsets.values()))
        self.components = TabletComponents(self.new_memrowset(), (), RowSetTree(rowsets))
        self.maintenance_lock = threading.Lock()
        self.newest = max((rowset.tracker.newest for rowset in rowsets), default=UNCOMMITTED)

    @property
    def id(self) -> str:
        """The tablet's UUID."""
        return self.files.tablet_id

    def change_schema(self, schema: Schema) -> None:
        """Take a new schema of the table; rows already here keep the columns they have."""
        self.schema = schema
        for column in schema.columns:
            self.column_schemas[column.id] = column
            self.types[column.id] = column.type

    def retained_columns(self) -> Sequence[ColumnSchema]:
        """The columns that files written now must hold: all that a snapshot may read."""
        return tuple(self.column_schemas.values())

    def retain_columns(self, schemas: Sequence[Schema]) -> None:
        """Let go of the columns that are in none of these schemas, the newest last.

        What memory holds of them stays there until it is flushed.
        """
        self.column_schemas = {c.id: c for schema in schemas for c in schema.columns}

    def open_rowsets(self, metas: Sequence[RowSetMeta]) -> Sequence[DiskRowSet]:
        """Published rowsets, ready to become components."""
        keys = self.schema.key_columns
        return [self.files.open_rowset(meta, keys, self.types) for meta in metas]

    def replace_rowsets(self, removed: Sequence[DiskRowSet], added: Sequence[DiskRowSet]) -> None:
        """Exchange DiskRowSets for others. The caller holds the commit lock."""
        old = self.components
        self.components = replace(old, tree=old.tree.replace(removed, added))

    def new_rowset_id(self) -> int:
        """A rowset id not used before."""
        return next(self._rowset_ids)

    def reserve_rowset_id(self, rowset_id: int) -> None:
        """Never hand out a rowset id up to and including this one."""
        self._rowset_ids = count(max(rowset_id + 1, next(self._rowset_ids)))

    def new_memrowset(self) -> MemRowSet:
        """An empty MemRowSet of this tablet."""
        return MemRowSet(self.new_rowset_id(), self.types, self.key_encoder)

    def probe(self, cells: tuple[Cell, ...]) -> KeyProbe:
        """A key, given its cells in key order, in the forms that a look-up needs."""
        return KeyProbe(self.key_encoder.encode_one(cells), cells)

    def scan(
        self,
        columns: Sequence[ColumnSchema],
        row_filter: RowFilter | None,
        bound: SnapshotBound,
        rowsets: Sequence[RowSet] | None = None,
        own: OwnChanges | None = None,
    ) -> Iterator[RowBlock]:
        """The tablet's rows at a snapshot that match a filter; see `RowFilter.dense`.

        Args:
            columns: to read.
            row_filter: which rows matter; all when None.
            rowsets: to read instead of the tablet's own, as for a transaction.
            own: the transaction's changes by rowset id.
        """
        changes: OwnChanges = own or {}
        for rowset in self.components.rowsets if rowsets is None else rowsets:
            yield from rowset.scan(columns, row_filter, bound, changes.get(rowset.id))

    def read_row(
        self, probe: KeyProbe, columns: Sequence[ColumnSchema], bound: SnapshotBound
    ) -> tuple[Cell, ...] | None:
        """One row's cells at a snapshot, or None."""
        components = self.components
        for rowset in components.with_key(probe.encoded):
            ordinal = rowset.find_one(probe)
            if ordinal >= 0:
                row = rowset.read_row(ordinal, columns, bound, None)
                if row is not None:
                    return row
        return None

    @property
    def anchor(self) -> int | None:
        """The oldest log record that holds something not on disk yet, or None."""
        components = self.components
        anchors = [m.anchor for m in (components.memrowset, *components.flushing)]
        for rowset in components.tree.rowsets:
            anchors += [store.anchor for store in rowset.tracker.stores]
        return min((anchor for anchor in anchors if anchor), default=None)

    @property
    def memory(self) -> int:
        """Roughly the bytes held in memory that a flush would free."""
        components = self.components
        size = sum(m.memory for m in (components.memrowset, *components.flushing))
        for rowset in components.tree.rowsets:
            size += sum(store.bytes for store in rowset.tracker.stores)
        return size

    def order_newest_keys(self) -> None:
        """See MemRowSet; those of a flush are in order by then."""
        self.components.memrowset.order_newest_keys()

    def close(self) -> None:
        """Close the tablet's files."""
        for rowset in self.components.tree.rowsets:
            rowset.base.close()

    def apply(
        self,
        writes: TabletWrites,
        keys: Sequence[Sequence[bytes]],
        timestamp: Timestamp,
        sequence: int,
        targets: Mapping[int, RowSet],
    ) -> None:
        """Apply what a commit decided. The caller holds the commit lock.

        Args:
            writes: inserts and mutations.
            keys: for each insert of `writes`, the encoded keys of its rows.
            timestamp: of the commit.
            sequence: of its record in the write-ahead log.
            targets: the rowsets that the mutations and the inserts name, by id.
        """
        memrowset = targets.get(writes.memrowset_id)
        if isinstance(memrowset, MemRowSet) and writes.inserts:
            memrowset.anchor = memrowset.anchor or sequence
            for insert, encoded in zip(writes.inserts, keys, strict=True):
                if isinstance(insert, RowInsert):
                    ids = tuple(insert.cells)
                    memrowset.insert_one(encoded[0], tuple(insert.cells.values()), ids, timestamp)
                else:
                    memrowset.insert(encoded, insert.columns, timestamp)
        for mutation in writes.mutations:
            _mutate(targets[mutation.rowset_id], mutation, timestamp, sequence)
        self.newest = max(self.newest, timestamp)


def _mutate(
    rowset: RowSet, mutation: RowMutation | BatchMutation, timestamp: Timestamp, sequence: int
) -> None:
    if isinstance(rowset, DiskRowSet):
        store = rowset.tracker.memory
        store.anchor = store.anchor or sequence
    if isinstance(mutation, RowMutation):
        rowset.mutate_one(mutation.ordinal, mutation.kind, mutation.cells, timestamp)
    else:
        rowset.mutate(mutation.kind, mutation.ordinals, mutation.columns, timestamp)


def store_id_of(rowset: RowSet) -> int:
    """The id of the delta store that takes a rowset's changes now."""
    return rowset.tracker.memory.id if isinstance(rowset, DiskRowSet) else 0
