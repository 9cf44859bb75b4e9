"""How far back each table can be read: the ancient history mark.

Kudu's `tablet/tablet.cc`, `Tablet::GetHistoryGcOpts`, with `tablet_history_max_age_sec`. The mark
of a table is a bound: snapshots at it and above can be read, and what only those below it need may
be let go of. It is the lowest of

* now less the table's history age,
* the oldest snapshot that a transaction or a read is at,
* the oldest named snapshot,

and never goes back: once a flush or a compaction was given a mark, reads below it are refused, for
good once the operation has changed the tablet (the manifest keeps that mark). Reads and marks are
handed out under one lock, so a read that was let in finds its history to the end.

"Now" is the hybrid clock, which does not go back with the wall clock.
"""

import threading
from collections.abc import Iterable

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.snapshots import Hold, SnapshotRegistry
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import (
    NOTHING,
    HybridClock,
    SnapshotBound,
    bound_before,
    first_beyond,
    format_timestamp,
    last_before,
    later_by,
)
from pykudu_sql.storage.common.types.table_properties import history_max_age
from pykudu_sql.storage.errors import HistoryPurgedError

DEFAULT_MAX_AGE = 7 * 24 * 3600
FOR_EVER = -1
_MICROS = 1_000_000


class History:
    """Hands out marks and lets readers in. Safe for threads.

    `snapshots`: those that are being read.
    """

    def __init__(self, clock: HybridClock, snapshots: SnapshotRegistry, state: StoreState) -> None:
        """Begin with the marks that the manifest knows. `snapshots`: those that are being read."""
        self.snapshots = snapshots
        self._clock = clock
        self._state = state
        self._marks: dict[str, SnapshotBound] = {}
        self._collection_marks: dict[str, SnapshotBound] = {}
        self._lock = threading.Lock()

    @property
    def max_age(self) -> int:
        """The default history age of tables in seconds; -1 for ever."""
        configured = self._state.history_max_age
        return DEFAULT_MAX_AGE if configured is None else configured

    def age_of(self, table: TableInfo) -> int:
        """Seconds that a table keeps history; -1 for ever."""
        own = history_max_age(table.properties)
        return self.max_age if own is None else own

    def mark(self, table_id: str) -> SnapshotBound:
        """The ancient history mark of a table, dropped or not; 0 keeps everything.

        Reads below it are refused from here on.
        """
        with self._lock:
            mark = self._advance(table_id)
            self._collection_marks[table_id] = mark
            return mark

    def collected_below(self, table_id: str) -> SnapshotBound:
        """The highest mark of a table by which history may have been let go of already."""
        with self._lock:
            in_manifest = self._state.marks.get(table_id, NOTHING)
            return max(self._collection_marks.get(table_id, NOTHING), in_manifest)

    def mark_of_tablet(self, tablet_id: str) -> SnapshotBound:
        """The ancient history mark of the table that a tablet belongs or belonged to."""
        table_id = self._state.history.owners.get(tablet_id)
        return NOTHING if table_id is None else self.mark(table_id)

    def hold(self, tables: Iterable[TableInfo], bound: SnapshotBound) -> Hold:
        """Keep the history that a read of some tables at a bound needs, while the hold lasts.

        A table made at its mark or later has all its history, whatever the bound. Raises
        HistoryPurgedError: one of them cannot be read at it any more.
        """
        with self._lock:
            for table in tables:
                mark = self._advance(table.id)
                if bound < mark and not self._is_made_since(table.id, mark):
                    raise _purged(table.name, bound, mark)
            return self.snapshots.hold(bound)

    def catalog_at(self, bound: SnapshotBound) -> Catalog:
        """The tables that a snapshot of a bound sees."""
        return self._state.history.at(bound)

    def hold_all(self, table: TableInfo) -> Hold:
        """Keep all history of a table that there is now, while the hold lasts."""
        with self._lock:
            return self.snapshots.hold(self._advance(table.id))

    def _is_made_since(self, table_id: str, mark: SnapshotBound) -> bool:
        """Whether no snapshot below a mark saw the table: an earlier state would be known."""
        events = self._state.history.by_table.get(table_id, ())
        return bool(events) and events[0].table is not None and events[0].timestamp >= mark

    def _advance(self, table_id: str) -> SnapshotBound:
        """Move a table's mark as far as it may go."""
        state = self._state
        table = state.history.newest.get(table_id)
        mark = max(self._marks.get(table_id, NOTHING), state.marks.get(table_id, NOTHING))
        age = FOR_EVER if table is None else self.age_of(table)
        if age != FOR_EVER:
            present = self._clock.latest()
            named = (snapshot.bound for snapshot in state.snapshots.values())
            ancient = bound_before(later_by(present, -age * _MICROS))
            mark = max(mark, min(ancient, self.snapshots.oldest(), *named))
            self._marks[table_id] = mark
        return mark


def _purged(name: str, bound: SnapshotBound, mark: SnapshotBound) -> HistoryPurgedError:
    return HistoryPurgedError(
        f"table '{name}' cannot be read as of {format_timestamp(last_before(bound))}: "
        f"its history goes back to {format_timestamp(first_beyond(mark))}",
        hint="SET DATABASE history_max_age and the table's property "
        "'kudu.table.history_max_age_sec' say how long history is kept; a moment with a name "
        "(CREATE SNAPSHOT) is kept until that is dropped",
    )
