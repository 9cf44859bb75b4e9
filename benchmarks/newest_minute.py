"""A time series of many hosts that grows at a steady rate, and range reads of its newest minute.

Every commit adds one row for each host, so rows arrive in the order of time and the key, host
first, scatters them; the newest minute lies in the MemRowSet and in what was flushed last.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.tables import SERIES
from pykudu_sql import Connection

HOSTS = 500
MINUTE = 60_000
NEWEST = "SELECT at, value FROM series WHERE host = ? AND at > ?"


class NewestMinute:
    """One writer's rows, and what a reader beside it must find. Times are milliseconds.

    Attributes:
        wrong: what did not read as it was written.
    """

    def __init__(self, commits_per_second: float) -> None:
        """No rows yet, `commits_per_second` of the writer."""
        self.wrong: list[str] = []
        self._step = round(1000 / commits_per_second)
        self._newest = -self._step

    def create(self, connection: Connection) -> None:
        """Make the table."""
        connection.execute(SERIES.ddl({}, SERIES.partitions))

    def write(self, connection: Connection, random: np.random.Generator, turn: int) -> None:
        """Commit the rows of one moment."""
        at = turn * self._step
        rows: dict[str, Any] = {
            "host": random.permutation(HOSTS),
            "at": np.full(HOSTS, at, np.int64),
            "value": np.full(HOSTS, float(at)),
        }
        connection.append(SERIES.name, pa.table(rows))
        self._newest = at

    def read(self, connection: Connection, random: np.random.Generator, turn: int) -> None:
        """Read one host's newest minute, and compare it with what was committed before."""
        newest, host = self._newest, int(random.integers(HOSTS))
        start = newest - MINUTE
        rows = connection.execute(NEWEST, (host, start)).fetchall()
        times = sorted(at for at, _ in rows)
        committed = range(max(0, start + self._step), newest + 1, self._step)
        if times[: len(committed)] != list(committed) or any(at != value for at, value in rows):
            self.wrong.append(f"host {host} after {start} ms: {len(rows)} rows in turn {turn}")
