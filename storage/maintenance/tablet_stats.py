"""Statistics of a tablet for maintenance, read from its metadata.

Asked several times a second, so what only a flush or a compaction changes is worked out once for
each set of DiskRowSets; memory, log and ancient history mark are looked at each time.
"""

from collections.abc import Collection, Iterator, Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.maintenance.scoring import major_compaction_score, minor_compaction_score
from pykudu_sql.storage.tablet.maintenance.compaction_policy import (
    MINIMUM_IMPROVEMENT,
    NO_CHOICE,
    RowSetChoice,
    choose_rowsets,
)
from pykudu_sql.storage.tablet.maintenance.history_gc import is_garbage
from pykudu_sql.storage.tablet.rowset.key_interval import total_width, tree_intervals
from pykudu_sql.storage.tablet.rowset.rowset_tree import RowSetTree
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta
from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """What a tablet holds in memory of one kind.

    `size`: bytes; `anchor`: the oldest record of the log that it needs, None when it needs none.
    """

    size: int
    anchor: int | None


def memrowset_memory(tablet: Tablet) -> MemoryStats:
    """Rows inserted since the last flush."""
    components = tablet.components
    memrowsets = [m for m in (components.memrowset, *components.flushing) if len(m)]
    return _memory((m.memory, m.anchor) for m in memrowsets)


def delta_memory(tablet: Tablet) -> MemoryStats:
    """Changes of flushed rows since the last flush."""
    rowsets = tablet.components.tree.rowsets
    stores = [store for rowset in rowsets for store in rowset.tracker.stores if len(store)]
    return _memory((store.bytes, store.anchor) for store in stores)


def _memory(stores: Iterator[tuple[int, int]]) -> MemoryStats:
    sizes = list(stores)
    return MemoryStats(
        sum(size for size, _ in sizes), min((a for _, a in sizes if a), default=None)
    )


@dataclass(frozen=True, slots=True)
class BestRowSet:
    """The rowset of a tablet for which a delta compaction scores highest; None when none scores."""

    rowset_id: int | None
    score: float


@dataclass(frozen=True, slots=True)
class DiskStats:
    """What is due in a set of DiskRowSets.

    Attributes:
        minor, major: where delta compactions gain most.
        undo: newest time and bytes of each UNDO file.
        undo_bytes: of them all.
        emptied: ids of rowsets whose rows are all deleted on disk.
    """

    minor: BestRowSet
    major: BestRowSet
    undo: tuple[tuple[int, int], ...]
    undo_bytes: int
    emptied: frozenset[int]

    def ancient_undo(self, mark: SnapshotBound) -> int:
        """Bytes of UNDO files that lead back only to times before a mark."""
        return sum(size for newest, size in self.undo if newest < mark)

    def deleted_bytes(self, tree: RowSetTree, mark: SnapshotBound) -> int:
        """Bytes of rowsets of which no snapshot at or above a mark sees a row."""
        if not self.emptied:
            return 0
        emptied = [rowset for rowset in tree.rowsets if rowset.id in self.emptied]
        return sum(rowset.meta.total_size for rowset in emptied if is_garbage(rowset, mark))


def disk_stats(tree: RowSetTree) -> DiskStats:
    """Look at a tablet's DiskRowSets."""
    metas = [rowset.meta for rowset in tree.rowsets]
    undo = tuple((f.stats.max_timestamp, f.size) for meta in metas for f in meta.undo)
    return DiskStats(
        _best((meta.id, minor_compaction_score(len(meta.redo))) for meta in metas),
        _best((meta.id, _major_score(meta)) for meta in metas),
        undo,
        sum(size for _, size in undo),
        frozenset(meta.id for meta in metas if not meta.live_rows),
    )


def _major_score(meta: RowSetMeta) -> float:
    updates = sum(sum(file.stats.updates.values()) for file in meta.redo)
    return major_compaction_score(meta.redo_size, meta.image_size, updates)


def _best(scores: Iterator[tuple[int, float]]) -> BestRowSet:
    rowset_id, score = max(scores, key=lambda scored: scored[1], default=(0, 0.0))
    return BestRowSet(rowset_id if score > 0 else None, score)


def updated_columns(meta: RowSetMeta) -> Sequence[int]:
    """The columns that a rowset's REDO files update."""
    return sorted({i for file in meta.redo for i, count in file.stats.updates.items() if count})


def choose_compaction(
    tree: RowSetTree, rowset_bytes: int, unmerged: Collection[int]
) -> RowSetChoice:
    """The rowsets to merge.

    Args:
        tree: the tablet's rowsets.
        rowset_bytes: of a rowset that is large enough.
        unmerged: rowsets that compactions wrote which came to as many rowsets as they read:
            merging them again for their number alone would come to the same.
    """
    intervals = tree_intervals(tree)
    choice = choose_rowsets(intervals, target_bytes=rowset_bytes)
    if not set(choice.ids) <= set(unmerged):
        return choice
    selection = [interval for interval in intervals if interval.id in choice.ids]
    overlap = sum(interval.width for interval in selection) - total_width(selection)
    return choice if overlap > MINIMUM_IMPROVEMENT else NO_CHOICE
