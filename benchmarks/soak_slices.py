"""The curve of a soak: what each stretch of time came to, as values and as lines of a table."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pykudu_sql.storage.open_store import OpenStore

_MIB = 1 << 20


class Latencies:
    """How long turns took. Safe for threads."""

    def __init__(self) -> None:
        """None yet."""
        self._seconds: list[float] = []
        self._reported = 0
        self._lock = threading.Lock()

    def add(self, seconds: float) -> None:
        """One more turn."""
        with self._lock:
            self._seconds.append(seconds)

    def take(self) -> Sequence[float]:
        """Those since the last call."""
        with self._lock:
            since, self._reported = self._reported, len(self._seconds)
            return self._seconds[since:]

    def all(self) -> Sequence[float]:
        """Those of the whole load."""
        with self._lock:
            return self._seconds.copy()


def quantile(seconds: Sequence[float], share: float) -> float:
    """The time that a share of the turns did not exceed; 0 without any."""
    return float(np.quantile(seconds, share, method="higher")) if len(seconds) else 0.0


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of a soak.

    Attributes:
        end: seconds since the load began.
        get_p50, get_p99, scan_p50, range_p99, commit_p50, commit_p99: seconds, from when a turn was
            due; 0 without turns.
        commits, gets, scans, ranges: how many turns ended.
        redo_files: at the end of the slice, in all rowsets.
        disk_bytes: of the database's files at its end, the log included.
        rss_bytes: that the process held at its end.
        memory_bytes: of changes not flushed at its end.
        runs: how often maintenance ran, by operation.
    """

    end: float
    get_p50: float
    get_p99: float
    scan_p50: float
    range_p99: float
    commit_p50: float
    commit_p99: float
    commits: int
    gets: int
    scans: int
    ranges: int
    redo_files: int
    disk_bytes: int
    rss_bytes: int
    memory_bytes: int
    runs: Mapping[str, int]


HEADER = (
    f"{'end':>6} {'get p50':>8} {'p99':>7} {'scan p50':>9} {'range p99':>10} "
    f"{'commit p50':>11} {'p99':>7} "
    f"{'commits':>8} {'REDO':>5} {'disk':>7} {'RSS':>7} {'unflushed':>9}  maintenance"
)


def line_of(part: Slice) -> str:
    """A slice as a line below `HEADER`: milliseconds and MiB."""
    runs = ", ".join(f"{count} {name}" for name, count in sorted(part.runs.items()))
    return (
        f"{part.end:5.0f}s {part.get_p50 * 1e3:8.2f} {part.get_p99 * 1e3:7.2f} "
        f"{part.scan_p50 * 1e3:9.1f} {part.range_p99 * 1e3:10.2f} "
        f"{part.commit_p50 * 1e3:11.2f} {part.commit_p99 * 1e3:7.1f} "
        f"{part.commits:8d} {part.redo_files:5d} {part.disk_bytes / _MIB:7.1f} "
        f"{part.rss_bytes / _MIB:7.0f} {part.memory_bytes / _MIB:9.1f}  {runs}"
    )


class SliceCounter:
    """Cuts the time of a soak into slices."""

    def __init__(self, store: OpenStore, table: str, folder: Path) -> None:
        """Begin the first slice.

        Args:
            store: under load.
            table: that is written.
            folder: of the database.
        """
        self.commits, self.gets = Latencies(), Latencies()
        self.scans, self.ranges = Latencies(), Latencies()
        self._store = store
        self._table = table
        self._folder = folder
        self._runs: Counter[str] = Counter()

    def close_slice(self, end: float) -> Slice:
        """End a slice, and begin the next.

        Args:
            end: seconds since the load began.
        """
        commits, gets = self.commits.take(), self.gets.take()
        scans, ranges = self.scans.take(), self.ranges.take()
        table = self._store.catalog.table(self._table)
        tablets = [self._store.tablets[info.id] for info in table.tablets]
        runs = Counter({str(kind): n for kind, n in self._store.maintenance.log.runs.items()})
        since, self._runs = runs - self._runs, runs
        return Slice(
            end,
            quantile(gets, 0.5),
            quantile(gets, 0.99),
            quantile(scans, 0.5),
            quantile(ranges, 0.99),
            quantile(commits, 0.5),
            quantile(commits, 0.99),
            len(commits),
            len(gets),
            len(scans),
            len(ranges),
            sum(info.redo_files for info in self._store.rowset_infos(table)),
            folder_bytes(self._folder),
            resident_bytes(),
            sum(tablet.memory for tablet in tablets),
            since,
        )


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder; one that goes meanwhile does not count."""
    size = 0
    for path in folder.rglob("*"):
        try:
            size += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return size


def resident_bytes() -> int:
    """What the process holds in memory now."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024
