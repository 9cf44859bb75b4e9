"""Leases of scans that this process planned, retained until their last reader has finished.

The end of the last use of a DataFrame cannot be seen. So each task writes to the lease from
time to time, and a lease that was not written to for `IDLE_SECONDS` is released; so are all at the
end of the process. A forked child has none of them.
"""

import atexit
import os
import threading
from contextlib import suppress
from typing import Final

from pykudu_sql.spark.reading.keeper import IDLE_SECONDS
from pykudu_sql.spark.reading.lease_keeper import is_idle
from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.lease import Lease

_TICK: Final = 5.0


class _LeaseRegistry:
    """The leases, and the thread that looks after them while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: list[Lease] = []
        self._stop = threading.Event()
        atexit.register(self.release_all)
        os.register_at_fork(after_in_child=self._forget_all)

    def _forget_all(self) -> None:
        self._lock = threading.Lock()
        self._leases = []
        self._stop = threading.Event()

    def hold(self, lease: Lease) -> None:
        """See `retain_lease`."""
        with self._lock:
            self._leases.append(lease)
            if len(self._leases) == 1:
                threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._stop.wait(_TICK):
            with self._lock:
                self._leases = [lease for lease in self._leases if not _released_if_idle(lease)]
                if not self._leases:
                    return

    def release_all(self) -> None:
        """Give everything back."""
        self._stop.set()
        with self._lock:
            for lease in self._leases:
                _release(lease)
            self._leases = []


_REGISTRY: Final = _LeaseRegistry()


def retain_lease(lease: Lease) -> None:
    """Retain a lease until no task has read for `IDLE_SECONDS`, or this process ends."""
    _REGISTRY.hold(lease)


def _released_if_idle(lease: Lease) -> bool:
    idle = is_idle(lease.path, IDLE_SECONDS)
    if idle:
        _release(lease)
    return idle


def _release(lease: Lease) -> None:
    with suppress(DiskError):
        lease.release()
