"""Snapshots that are being read or have a name; they keep history from being purged.

A *hold* is a claim on the snapshot of one bound. Every transaction has one, and so has every read
AS OF an earlier moment. It lasts until nothing refers to it any more, so a reader that forgets to
end holds nothing back for longer than it lives. Named snapshots are lines
of the manifest and last until they are dropped.

Kudu holds history only by its age (`tablet/tablet.cc`, `Tablet::GetHistoryGcOpts`); a scan that
takes longer than that fails there.
"""

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.identifiers import check_comment, check_identifier


@dataclass(frozen=True, slots=True)
class NamedSnapshot:
    """A snapshot that has a name.

    Attributes:
        name: lower case.
        bound: it sees the commits with a hybrid time below it.
        created: hybrid time at which it was given its name.
    """

    name: str
    bound: SnapshotBound
    created: Timestamp
    comment: str = ""

    def to_edit(self) -> dict[str, Any]:
        """The edit of the manifest that names it."""
        return {
            "op": "snapshot",
            "ts": self.created,
            "name": self.name,
            "bound": self.bound,
            "comment": self.comment,
        }

    def check(self) -> None:
        """See that name and comment may be used. Raises InvalidSchemaError: one may not."""
        check_identifier(self.name, "snapshot")
        check_comment(self.comment, f"snapshot '{self.name}'")


class Hold:
    """A claim on the snapshot of one bound, if a `SnapshotRegistry` made it."""

    __slots__ = ("__weakref__", "bound")

    def __init__(self, bound: SnapshotBound) -> None:
        """A claim that nobody knows of yet."""
        self.bound = bound


class SnapshotRegistry:
    """The snapshots that are being read. Safe for threads."""

    def __init__(self, newest: Callable[[], SnapshotBound]) -> None:
        """Nothing is read yet.

        `newest`: the bound of a snapshot taken now, which never goes back.
        """
        self._newest = newest
        self._holds: WeakSet[Hold] = WeakSet()
        # Given to all that begin before the next commit, so that beginning costs little.
        self._shared: Hold | None = None
        self._lock = threading.Lock()

    def hold_newest(self) -> Hold:
        """Claim the newest snapshot, for as long as somebody refers to the hold."""
        with self._lock:
            bound, hold = self._newest(), self._shared
            if hold is None or hold.bound != bound:
                hold = self._shared = Hold(bound)
                self._holds.add(hold)
            return hold

    def hold(self, bound: SnapshotBound) -> Hold:
        """Claim the snapshot of a bound, whose history the caller knows to be there."""
        hold = Hold(bound)
        with self._lock:
            self._holds.add(hold)
        return hold

    def oldest(self) -> SnapshotBound:
        """The lowest bound that is claimed; without claims, that of the next one to come."""
        with self._lock:
            self._shared = None
            return min((hold.bound for hold in self._holds), default=self._newest())
