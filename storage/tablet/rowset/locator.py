"""Finding rows by key among all rowsets of a tablet.

Kudu's order (`tablet/tablet.cc`, BulkCheckPresence): MemRowSet first, then those rowsets of the
tree whose interval, bloom filter and key index say yes; and for each hit the deltas say whether
the row is alive. A key may stand in many rowsets as a ghost, at most one row of it is
alive at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe, RowSet
from pykudu_sql.storage.tablet.rowset.rowset_tree import RowSetTree

R = TypeVar("R", bound=MemRowSet | DiskRowSet)
OwnChanges = Mapping[int, OwnDeltas]


@dataclass(frozen=True, slots=True)
class TabletComponents:
    """All rowsets of a tablet at one moment; swapped whole.

    Attributes:
        memrowset: takes inserts.
        flushing: MemRowSets on their way to disk, oldest first; they still take mutations.
        tree: the DiskRowSets.
    """

    memrowset: MemRowSet
    flushing: tuple[MemRowSet, ...]
    tree: RowSetTree

    @property
    def rowsets(self) -> tuple[MemRowSet | DiskRowSet, ...]:
        """All of them, those in memory first."""
        return (self.memrowset, *self.flushing, *self.tree.rowsets)

    @property
    def rowset_ids(self) -> tuple[int, ...]:
        """Their ids; where these are the same, so are the rows at all addresses."""
        return tuple(rowset.id for rowset in self.rowsets)

    def with_key(self, key: bytes) -> "Sequence[MemRowSet | DiskRowSet]":
        """Those that may hold a key."""
        return [self.memrowset, *self.flushing, *self.tree.overlapping(key, key)]

    def overlapping(self, low: bytes, high: bytes) -> "Sequence[MemRowSet | DiskRowSet]":
        """Those that may hold a key within [low, high]."""
        return [self.memrowset, *self.flushing, *self.tree.overlapping(low, high)]


def rowset_of(rowset_id: int, among: Iterable[R]) -> R | None:
    """The rowset of an id as it is now, perhaps with other files; None if it is gone."""
    return next((rowset for rowset in among if rowset.id == rowset_id), None)


@dataclass(frozen=True, slots=True)
class Located:
    """Where the rows of some keys are.

    Attributes:
        rowsets: the rowsets that `where` counts.
        where: index into `rowsets`, -1 for a key that no rowset holds, int32[n].
        ordinals: within the rowset, int64[n].
        alive: whether the row exists at the snapshot, bool[n]. A row found dead is a ghost in the
            MemRowSet that takes inserts; ghosts elsewhere count as not found, and so do rows that
            the snapshot does not see yet.
    """

    rowsets: Sequence[RowSet]
    where: npt.NDArray[np.int32]
    ordinals: Ordinals
    alive: npt.NDArray[np.bool_]

    def take(self, indices: npt.NDArray[np.int64]) -> "Located":
        """Where some of the keys are, by index."""
        where, ordinals = self.where[indices], self.ordinals[indices]
        return Located(self.rowsets, where, ordinals, self.alive[indices])


def locate(
    rowsets: Sequence[RowSet],
    reusable: Sequence[RowSet],
    keys: EncodedKeys,
    bound: SnapshotBound,
    own: OwnChanges,
) -> Located:
    """Find a batch of distinct keys.

    Args:
        rowsets: to look in.
        reusable: those whose ghosts may be inserted again.
        own: a transaction's changes, by rowset id.
    """
    located = Located(
        rowsets,
        np.full(len(keys), -1, np.int32),
        np.full(len(keys), -1, np.int64),
        np.zeros(len(keys), np.bool_),
    )
    missing = np.arange(len(keys), dtype=np.int64)
    for index, rowset in enumerate(rowsets):
        if not len(missing):
            break
        # After an overwrite all keys are in rowsets that have no row any more.
        if isinstance(rowset, DiskRowSet) and not rowset.may_have_rows(bound, own.get(rowset.id)):
            continue
        ordinals = rowset.find(keys if len(missing) == len(keys) else keys.take(missing))
        hits = ordinals >= 0
        if hits.any():
            _note(located, index, rowset, missing[hits], ordinals[hits], bound, own, reusable)
            missing = missing[~located.alive[missing]]
    return located


def _note(
    located: Located,
    index: int,
    rowset: RowSet,
    indices: Ordinals,
    ordinals: Ordinals,
    bound: SnapshotBound,
    own: OwnChanges,
    reusable: Sequence[RowSet],
) -> None:
    count = rowset.row_count(bound)
    mask = rowset.view(bound, own.get(rowset.id)).alive(count)
    visible = ordinals < count
    alive = visible.copy()
    if mask is not None:
        alive[visible] = mask[ordinals[visible]]
    hits = visible if rowset in reusable else alive
    located.where[indices[hits]] = index
    located.ordinals[indices[hits]] = ordinals[hits]
    located.alive[indices[hits]] = alive[hits]


def find_row(
    rowsets: Iterable[RowSet],
    reusable: Sequence[RowSet],
    probe: KeyProbe,
    bound: SnapshotBound,
    own: OwnChanges,
) -> tuple[RowSet, int, bool] | None:
    """Find one key: its rowset, ordinal and whether it is alive; as `locate` does for many."""
    ghost: tuple[RowSet, int, bool] | None = None
    for rowset in rowsets:
        ordinal = rowset.find_one(probe)
        if ordinal < 0:
            continue
        if rowset.read_row(ordinal, (), bound, own.get(rowset.id) if own else None) is not None:
            return rowset, ordinal, True
        if rowset in reusable and ordinal < rowset.row_count(bound):
            ghost = rowset, ordinal, False
    return ghost


def changed_keys(
    rowsets: Sequence[RowSet], keys: EncodedKeys, bound: SnapshotBound
) -> npt.NDArray[np.bool_]:
    """Which keys some commit at or after a bound touched, bool[n]."""
    changed = np.zeros(len(keys), np.bool_)
    for rowset in rowsets:
        since = rowset.changed_since(bound)
        if since is not None:
            ordinals = rowset.find(keys)
            hits = ordinals >= 0
            changed[hits] |= since[ordinals[hits]]
    return changed


def changed_key(rowsets: Sequence[RowSet], probe: KeyProbe, bound: SnapshotBound) -> bool:
    """Whether some commit at or after a bound touched one key."""
    for rowset in rowsets:
        since = rowset.changed_since(bound)
        if since is not None:
            ordinal = rowset.find_one(probe)
            if ordinal >= 0 and since[ordinal]:
                return True
    return False
