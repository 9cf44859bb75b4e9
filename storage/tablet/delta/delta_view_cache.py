"""The delta view of the newest snapshot, cached so that a scan does not apply all deltas anew.

The files of a rowset never change, so what they come to is worked out once; what memory adds on top
is worked out again when a change has arrived there. Views of earlier moments are not kept.
"""

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.tablet.delta.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.delta.delta_view import CurrentView, DeltaView
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas


class DeltaViewCache:
    """The delta views of one tracker at snapshots. Safe for threads."""

    __slots__ = ("_files", "_now", "_tracker")

    def __init__(self, tracker: DeltaTracker, before: "DeltaViewCache | None" = None) -> None:
        """Nothing is worked out yet.

        Args:
            tracker: the deltas.
            before: views of an earlier tracker, of use where that has the same files.
        """
        self._tracker = tracker
        self._files: DeltaView | None = None
        self._now: tuple[tuple[int, ...], CurrentView] | None = None
        if before is not None and before._tracker.files == tracker.files:
            self._files = before._files

    def view(self, bound: SnapshotBound, own: OwnDeltas | None) -> DeltaView:
        """The deltas' combined effect at a snapshot; cached for "now" until a delta arrives."""
        tracker = self._tracker
        # Taken before the newest change is looked at: one that arrives in between must not be
        # counted in the state of a view that leaves it out.
        state = tuple(store.version for store in tracker.stores)
        newest = tracker.newest
        if own is not None or bound <= newest:
            return tracker.view(bound, own, self._file_view(bound))
        now = self._now
        if now is None or now[0] != state:
            # Its stores are looked at later. A bound that no commit has reached, as of writes that
            # are done over at commit, would let changes in that others must not see yet.
            files = self._file_view(bound_at(newest))
            now = self._now = (state, tracker.current_view(newest, files))
        return now[1]

    def _file_view(self, bound: SnapshotBound) -> DeltaView:
        """The combined effect of the delta files."""
        if bound <= self._tracker.newest_on_disk:
            return self._tracker.file_view(bound)
        files = self._files
        if files is None:
            files = self._files = self._tracker.file_view(bound)
        return files

    def is_cached(self, view: DeltaView) -> bool:
        """Whether a view is the cached one of the newest snapshot."""
        now = self._now
        return now is not None and now[1] is view
