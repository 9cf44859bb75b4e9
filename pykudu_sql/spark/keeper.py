"""Claims that outlive the worker of Spark that made them: a small process holds each lock.

See `lease_keeper`, which is that process. Spark's driver is watched through the parent of this
worker, which ends when Spark does.
"""

import subprocess
import sys
from os import getppid
from typing import Final

from pykudu_sql.spark import lease_keeper
from pykudu_sql.storage.fs.env import FileLock
from pykudu_sql.storage.fs.lease import Lease
from pykudu_sql.storage.staging import staging_lock

IDLE_SECONDS: Final = 600.0
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
    arguments = [path, str(idle_seconds), str(getppid())]
    subprocess.Popen(
        [sys.executable, "-I", "-S", str(lease_keeper.__file__), *arguments],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
