"""Holds a lock for a Spark application: a small process, run as a script by whoever made the lock.

Spark plans a scan in a worker that it stops after a minute without work, while the scan may take
hours. The lock of the scan's lease is an flock, which the kernel keeps for every process that has
its descriptor; so this process inherits it and keeps it until

* the process it watches, Spark's, has ended, or
* the locked file is gone, or was not written to for so many seconds: every task of the scan writes
  to it from time to time.

Then it removes the file, and the lock ends with the process. It needs nothing but the standard
library, so that it starts in milliseconds. Arguments: file, seconds, process to watch.
"""

import os
import select
import sys
import time

TICK = 1.0


def is_idle(path: str, seconds: float) -> bool:
    """Whether a file is gone, or was not written to for so long."""
    try:
        return time.time() - os.stat(path).st_mtime > seconds
    except FileNotFoundError:
        return True


def keep(path: str, seconds: float, watched: int) -> None:
    """Wait until the lock is not needed any more, and remove its file."""
    try:
        process = os.pidfd_open(watched)
    except ProcessLookupError:
        process = -1
    while process >= 0 and not is_idle(path, seconds):
        if select.select([process], [], [], TICK)[0]:
            break
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


if __name__ == "__main__":
    keep(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
