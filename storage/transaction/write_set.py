"""The write set: what a transaction has written so far, and savepoints in it.

Writes are kept by tablet, each with the order in which it was made. A savepoint is no copy of
them: it says how many there were. Going back makes the writes before it once more against the
tablet as the transaction sees it, for those tablets only that were written since; so setting one
is cheap, and going back costs what the writes before it cost. Large inserts are rowsets on disk:
those before a savepoint are taken over as they are, those behind it are removed.
"""

from collections.abc import Mapping

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites


@dataclass(frozen=True, slots=True)
class Savepoint:
    """A place in a transaction.

    `lengths`: how many writes there were, by tablet; `tables`: how many tables had been written.
    """

    lengths: Mapping[str, int]
    tables: int


class WriteSet:
    """A transaction's writes by tablet. Used by one thread at a time.

    Attributes:
        by_tablet: the writes, by the UUIDs of their tablets.
        tables: that were written, as the writing statements saw them.
    """

    __slots__ = ("_bound", "by_tablet", "tables")

    def __init__(self, bound: SnapshotBound) -> None:
        """Nothing is written yet. `bound`: of the transaction's snapshot."""
        self._bound = bound
        self.by_tablet: dict[str, PendingWrites] = {}
        self.tables: list[TableInfo] = []

    @property
    def memory(self) -> int:
        """Roughly the bytes of the writes that are in memory."""
        return sum(writes.memory for writes in self.by_tablet.values())

    def on(self, table: TableInfo, tablet: Tablet) -> PendingWrites:
        """The writes to a tablet; new ones count only once they are kept."""
        pending = self.by_tablet.get(tablet.id)
        return PendingWrites(tablet, table.name, self._bound) if pending is None else pending

    def keep(self, table: TableInfo, pending: PendingWrites) -> PendingWrites:
        """Count writes to a tablet among those of the transaction."""
        self.by_tablet[pending.tablet.id] = pending
        if not any(other is table for other in self.tables):
            self.tables.append(table)
        return pending

    def savepoint(self) -> Savepoint:
        """The place reached so far."""
        lengths = {tablet_id: writes.length for tablet_id, writes in self.by_tablet.items()}
        return Savepoint(lengths, len(self.tables))

    def rollback_to(self, savepoint: Savepoint) -> None:
        """Forget what was written since a savepoint of this write set."""
        for tablet_id, writes in list(self.by_tablet.items()):
            length = savepoint.lengths.get(tablet_id, 0)
            if length == 0:
                writes.files.discard_all()
                del self.by_tablet[tablet_id]
            elif length < writes.length:
                self.by_tablet[tablet_id] = writes.rolled_back(length)
        del self.tables[savepoint.tables :]

    def discard(self) -> None:
        """Forget everything, and remove the files of large inserts."""
        for writes in self.by_tablet.values():
            writes.files.discard_all()
        self.by_tablet = {}
