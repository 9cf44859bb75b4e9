"""The maintenance manager: one background thread that keeps memory and log in bounds.

Kudu's `util/maintenance_manager.h`. It wakes several times a second, asks the pure function
`choose` which tablet is due, and calls the same flush that `FLUSH TABLE` calls, until none is. With
durability 'normal' it also fsyncs the log about once a second.

A tablet is due for its memory, for that of all tablets together, or because the log cannot be
shortened before it is flushed: one row written long ago would otherwise hold every segment since.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pykudu_sql.storage.tablet.flush import TabletHost, flush_tablet
from pykudu_sql.storage.tablet.tablet import Tablet

POLL_SECONDS = 0.25
SYNC_SECONDS = 0.75
# All tablets together may hold as much as so many that are just not due.
TABLETS_IN_MEMORY = 8
# Of 16 MiB each; what an opening after a crash may have to replay.
LOG_SEGMENTS = 16


@dataclass(frozen=True, slots=True)
class MaintenanceHost:
    """What the manager needs of its store.

    Attributes:
        tablets: by UUID.
        host: commit lock, log and manifest.
        flush_bytes: a tablet holding more than this in memory is due.
        sync_periodically: whether commits rely on the manager's fsyncs.
        collect_log: drops log segments not needed any more.
        log_segments: how many there are.
    """

    tablets: Mapping[str, Tablet]
    host: TabletHost
    flush_bytes: int
    sync_periodically: bool
    collect_log: Callable[[], None]
    log_segments: Callable[[], int]


@dataclass(frozen=True, slots=True)
class TabletLoad:
    """What a tablet holds that a flush would free.

    Attributes:
        memory: bytes.
        anchor: the oldest log record that it needs, or None.
    """

    memory: int
    anchor: int | None


def choose(loads: Mapping[str, TabletLoad], flush_bytes: int, log_segments: int) -> str | None:
    """The tablet to flush next, or None.

    Args:
        loads: by tablet id.
        flush_bytes: a tablet with more in memory is due.
        log_segments: how many the log has.
    """
    if not loads:
        return None
    largest = max(loads, key=lambda tablet_id: loads[tablet_id].memory)
    total = sum(load.memory for load in loads.values())
    if loads[largest].memory > flush_bytes or total > TABLETS_IN_MEMORY * flush_bytes:
        return largest
    anchors = {i: load.anchor for i, load in loads.items() if load.anchor is not None}
    if log_segments > LOG_SEGMENTS and anchors:
        return min(anchors, key=lambda tablet_id: anchors[tablet_id])
    return None


class MaintenanceManager:
    """Runs maintenance on a thread of its own.

    Attributes:
        last_error: why the newest operation failed, or None. What could not be flushed stays in
            memory and in the log, and is tried again, whatever the error was.
    """

    def __init__(self, host: MaintenanceHost) -> None:
        """Not started yet."""
        self.last_error: Exception | None = None
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
                while self.run_due() and not self._stop.is_set():
                    pass
                if self._host.sync_periodically and time.monotonic() - synced > SYNC_SECONDS:
                    self._host.host.sync_log()
                    synced = time.monotonic()
                self.last_error = None
            except Exception as error:
                self.last_error = error

    def run_due(self) -> bool:
        """Run the one operation that is most due.

        Returns:
            Whether it brought anything to disk; False when none was due.

        Raises:
            DiskError, ReadOnlyError: the disk refused.
        """
        loads = {
            tablet_id: TabletLoad(tablet.memory, tablet.anchor)
            for tablet_id, tablet in list(self._host.tablets.items())
        }
        chosen = choose(loads, self._host.flush_bytes, self._host.log_segments())
        if chosen is None:
            return False
        written = flush_tablet(self._host.tablets[chosen], self._host.host)
        self._host.collect_log()
        return written > 0
