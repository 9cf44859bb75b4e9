"""The maintenance manager: one background thread that keeps memory and log in bounds.

Kudu's `util/maintenance_manager.h`. It wakes several times a second, asks the pure function
`choose` which tablet is due, and calls the same flush that `FLUSH TABLE` calls. With durability
'normal' it also fsyncs the log about once a second.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pykudu_sql.storage.errors import OperationalError
from pykudu_sql.storage.tablet.flush import TabletHost, flush_tablet
from pykudu_sql.storage.tablet.tablet import Tablet

POLL_SECONDS = 0.25
SYNC_SECONDS = 0.75


@dataclass(frozen=True, slots=True)
class MaintenanceHost:
    """What the manager needs of its store.

    Attributes:
        tablets: by UUID.
        host: commit lock, log and manifest.
        flush_bytes: a tablet holding more than this in memory is due.
        sync_periodically: whether commits rely on the manager's fsyncs.
        collect_log: drops log segments not needed any more.
    """

    tablets: Mapping[str, Tablet]
    host: TabletHost
    flush_bytes: int
    sync_periodically: bool
    collect_log: Callable[[], None]


def choose(memory: Mapping[str, int], flush_bytes: int) -> str | None:
    """The tablet to flush next, or None.

    Args:
        memory: bytes held in memory, by tablet id.
        flush_bytes: below this a tablet is left alone.
    """
    due = max(memory, key=lambda tablet_id: memory[tablet_id], default=None)
    return due if due is not None and memory[due] > flush_bytes else None


class MaintenanceManager:
    """Runs maintenance on a thread of its own.

    Attributes:
        last_error: why the newest operation failed, or None. What could not be flushed stays in
            memory and in the log, and is tried again.
    """

    def __init__(self, host: MaintenanceHost) -> None:
        """Not started yet."""
        self.last_error: OperationalError | None = None
        self._host = host
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pykudu-maintenance", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread once its present operation is done."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        synced = time.monotonic()
        while not self._stop.wait(POLL_SECONDS):
            try:
                self.run_due()
                if self._host.sync_periodically and time.monotonic() - synced > SYNC_SECONDS:
                    self._host.host.sync_log()
                    synced = time.monotonic()
                self.last_error = None
            except OperationalError as error:
                self.last_error = error

    def run_due(self) -> bool:
        """Run the one operation that is most due; False when none is.

        Raises:
            DiskError, ReadOnlyError: the disk refused.
        """
        memory = {
            tablet_id: tablet.memory for tablet_id, tablet in list(self._host.tablets.items())
        }
        chosen = choose(memory, self._host.flush_bytes)
        if chosen is None:
            return False
        flush_tablet(self._host.tablets[chosen], self._host.host)
        self._host.collect_log()
        return True
