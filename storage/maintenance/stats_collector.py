"""The statistics of every maintenance operation that would gain something now, in all tablets."""

import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.table_properties import (
    compaction_disabled,
    maintenance_priority,
)
from pykudu_sql.storage.maintenance.context import MaintenanceContext
from pykudu_sql.storage.maintenance.operation import OperationKind, OperationStats
from pykudu_sql.storage.maintenance.scoring import flush_score, postpones_compaction, prioritised
from pykudu_sql.storage.maintenance.tablet_stats import (
    DiskStats,
    MemoryStats,
    choose_compaction,
    delta_memory,
    disk_stats,
    memrowset_memory,
)
from pykudu_sql.storage.tablet.maintenance.compaction_policy import RowSetChoice
from pykudu_sql.storage.tablet.rowset.rowset_tree import RowSetTree
from pykudu_sql.storage.tablet.tablet import Tablet


class StatsCollector:
    """Collects statistics of tablets; what only a flush or a compaction changes is cached.

    The cache keeps no rowset alive: files of replaced ones are to go.

    Safe for threads.
    """

    def __init__(self, context: MaintenanceContext) -> None:
        """Nothing is cached yet."""
        self._context = context
        self._disks: dict[str, tuple[weakref.ref[RowSetTree], DiskStats]] = {}
        self._choices: dict[str, tuple[weakref.ref[RowSetTree], RowSetChoice]] = {}
        self._unmerged: dict[str, frozenset[int]] = {}
        self._dirty_since: dict[tuple[str, OperationKind], float] = {}
        self._lock = threading.RLock()
        self._owners: tuple[Catalog | None, Mapping[str, TableInfo]] = (None, {})

    def due(self) -> list[OperationStats]:
        """The operations that would gain something now, or free memory."""
        operations = []
        garbage = self._context.log_retention.garbage()
        if garbage:
            operations.append(OperationStats(OperationKind.LOG_GC, "", logs_retained=garbage))
        for tablet in list(self._context.tablets.values()):
            operations += self.due_in(tablet)
        return operations

    def due_in(self, tablet: Tablet) -> list[OperationStats]:
        """The operations of one tablet that would gain something now, or free memory."""
        with self._lock:
            table = self._owner(tablet.id)
            name = "" if table is None else table.name
            priority = 0 if table is None else maintenance_priority(table.properties)
            return [
                replace(stats, table=name, score=prioritised(stats.score, priority))
                for stats in self._of_tablet(tablet, table, time.monotonic())
            ]

    def begin_flush(self, tablet_id: str, kind: OperationKind) -> None:
        """Note that a flush has begun: what comes from now on is young."""
        with self._lock:
            self._dirty_since.pop((tablet_id, kind), None)

    def note_compaction(self, tablet: Tablet, before: RowSetTree) -> None:
        """Note that rowsets were merged, so as not to choose the same again.

        `tablet`: theirs; `before`: its rowsets until then.
        """
        old = {rowset.id for rowset in before.rowsets}
        new = {rowset.id for rowset in tablet.components.tree.rowsets}
        fruitless = len(new - old) >= len(old - new)
        with self._lock:
            unmerged = self._unmerged.get(tablet.id, frozenset()) & new
            self._unmerged[tablet.id] = unmerged | (new - old) if fruitless else unmerged
            self._choices.pop(tablet.id, None)

    def choice(self, tablet: Tablet) -> RowSetChoice:
        """The rowsets of a tablet to merge."""
        tree = tablet.components.tree
        with self._lock:
            cached = self._choices.get(tablet.id)
            if cached is None or cached[0]() is not tree:
                unmerged = self._unmerged.get(tablet.id, frozenset())
                target = self._context.options.rowset_bytes
                choice = choose_compaction(tree, target, unmerged)
                cached = self._choices[tablet.id] = (weakref.ref(tree), choice)
            return cached[1]

    def disk(self, tablet: Tablet) -> DiskStats:
        """What is due in a tablet's DiskRowSets."""
        tree = tablet.components.tree
        with self._lock:
            cached = self._disks.get(tablet.id)
            if cached is None or cached[0]() is not tree:
                cached = self._disks[tablet.id] = (weakref.ref(tree), disk_stats(tree))
            return cached[1]

    def _owner(self, tablet_id: str) -> TableInfo | None:
        catalog = self._context.state.history.latest
        if self._owners[0] is not catalog:
            owners = {t.id: table for table in catalog.tables.values() for t in table.tablets}
            self._owners = catalog, owners
        return self._owners[1].get(tablet_id)

    def _of_tablet(
        self, tablet: Tablet, table: TableInfo | None, now: float
    ) -> Iterator[OperationStats]:
        yield from self._flush(
            tablet.id, OperationKind.FLUSH_MEMROWSET, memrowset_memory(tablet), now
        )
        tree = tablet.components.tree
        if not len(tree):
            return
        yield from self._flush(
            tablet.id, OperationKind.FLUSH_DELTA_STORES, delta_memory(tablet), now
        )
        disk = self.disk(tablet)
        mark = self._context.history.mark_of_tablet(tablet.id)
        ancient, deleted = disk.ancient_undo(mark), disk.deleted_bytes(tree, mark)
        if ancient:
            yield OperationStats(OperationKind.UNDO_GC, tablet.id, data_retained=ancient)
        if deleted:
            yield OperationStats(OperationKind.DELETED_ROWSET_GC, tablet.id, data_retained=deleted)
        if table is not None and not compaction_disabled(table.properties):
            yield from self._compactions(tablet, disk, ancient)

    def _flush(
        self, tablet_id: str, kind: OperationKind, memory: MemoryStats, now: float
    ) -> Iterator[OperationStats]:
        if not memory.size:
            self._dirty_since.pop((tablet_id, kind), None)
            return
        age = now - self._dirty_since.setdefault((tablet_id, kind), now)
        yield OperationStats(
            kind,
            tablet_id,
            ram=memory.size,
            logs_retained=self._context.log_retention.retained_bytes(memory.anchor),
            replay_seconds=self._context.log_retention.replay_seconds(memory.anchor),
            score=flush_score(memory.size, age, self._context.options.flush_bytes),
        )

    def _compactions(
        self, tablet: Tablet, disk: DiskStats, ancient: int
    ) -> Iterator[OperationStats]:
        for kind, best in (
            (OperationKind.MINOR_DELTA_COMPACTION, disk.minor),
            (OperationKind.MAJOR_DELTA_COMPACTION, disk.major),
        ):
            if best.score:
                yield OperationStats(kind, tablet.id, score=best.score)
        if postpones_compaction(ancient, disk.undo_bytes):
            return
        choice = self.choice(tablet)
        if choice.ids:
            yield OperationStats(OperationKind.COMPACT_ROWSETS, tablet.id, score=choice.score)
