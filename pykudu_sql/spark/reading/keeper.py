"""Leases that outlive the Spark worker that took them: a small process holds each lock.

See `lease_keeper`, which is that process. Spark's driver is watched through the parent of this
worker, which ends when Spark does.
"""

import os
import pkgutil
import sys
from typing import Final

from pykudu_sql.spark.reading import lease_keeper
from pykudu_sql.storage.fs.env import FileLock
from pykudu_sql.storage.fs.layout import staging_lock
from pykudu_sql.storage.fs.lease import Lease

IDLE_SECONDS: Final = 3600.0
# A task may wait for hours before it writes its first row; only Spark's end ends a write.
_NEVER_IDLE: Final = 1e12


def keep_lease(lease: Lease) -> None:
    """Hold the lease of a scan until no task has read for `IDLE_SECONDS`, or Spark has ended."""
    lease.hand_over(lambda path, descriptor: _start(path, descriptor, IDLE_SECONDS))


def keep_staging(root: str, write_id: str, lock: FileLock) -> None:
    """Hold the lock of a staging folder until the folder is gone, or Spark has ended."""
    path = staging_lock(root, write_id)
    lock.hand_over(lambda descriptor: _start(path, descriptor, _NEVER_IDLE))


def _start(path: str, descriptor: int, idle_seconds: float) -> None:
    # As text: the package may be in a wheel that Spark shipped, where there is no file to be run.
    program = (pkgutil.get_data(lease_keeper.__package__, "lease_keeper.py") or b"").decode()
    arguments = ["-c", program, path, str(idle_seconds), str(os.getppid())]
    os.set_inheritable(descriptor, True)
    # Not `subprocess`: that wants to know how its children end, and this one outlives us.
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", *arguments],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in range(3)],
        setsid=True,
    )
