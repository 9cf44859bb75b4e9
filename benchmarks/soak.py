"""A soak: a steady load of upserts, point reads and scans, and how it goes as the minutes pass.

One thread writes batches of random keys, each one durable commit, at a fixed rate; one reads single
rows by key, one scans the whole table; maintenance runs in the background with its defaults. A turn
is due at a random instant of its period and counts from then, so a stall is not hidden by the turns
that wait for it (coordinated omission). A plan may ask for a time series beside that, whose newest
minute is read. In the end every row, and some earlier moments, are compared with what was written.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import pykudu_sql
from benchmarks import data
from benchmarks.newest_minute import NewestMinute
from benchmarks.soak_slices import Latencies, Slice, SliceCounter, folder_bytes, quantile
from benchmarks.tables import POINTS, SERIES
from pykudu_sql import Connection
from pykudu_sql.database import open_database
from pykudu_sql.settings import settings_of

GET = "SELECT hits, score, label FROM points WHERE id = ?"
SCAN = "SELECT sum(hits), max(score), max(label) FROM points"
ROWS = "SELECT id, hits FROM points"
SUM = "SELECT sum(hits) FROM points"


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """A load.

    Attributes:
        seconds: that it lasts.
        rows: of the table, all there from the beginning.
        slice_seconds: how much time a line of the curve stands for.
        commits_per_second, batch_rows: of the writer.
        gets_per_second: of the reader by key.
        scans_per_second: of the reader of all rows.
        ranges_per_second: of the reader of the newest minute of a time series, which has a writer
            of its own that commits as often as the other; without any there is no such series.
        moments: how many earlier moments are read again in the end.
        settings: of the database, those of the benchmark are its defaults.
    """

    seconds: float = 600.0
    rows: int = 1_000_000
    slice_seconds: float = 60.0
    commits_per_second: float = 10.0
    batch_rows: int = 500
    gets_per_second: float = 100.0
    scans_per_second: float = 0.5
    ranges_per_second: float = 0.0
    moments: int = 5
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SoakResult:
    """What came out.

    Attributes:
        slices: the curve.
        range_p99: seconds, of all reads of a range; 0 without any.
        disk_bytes: of the database's files when the load ended.
        compacted_bytes: of its files after OPTIMIZE FULL: the rows once, and the history kept.
        wrong: what does not read as it was written.
    """

    slices: list[Slice]
    range_p99: float
    disk_bytes: int
    compacted_bytes: int
    wrong: list[str]


def run_soak(path: Path, plan: SoakPlan, show: Callable[[Slice], None]) -> SoakResult:
    """Fill a new database, and keep the load up.

    Args:
        path: of the database, not there yet.
        plan: the load.
        show: gets each slice of the curve as it ends.
    """
    database = open_database(str(path), settings_of(dict(plan.settings))[0])
    try:
        with closing(_Load(path, plan)) as load:
            load.fill()
            counter = SliceCounter(database.store, POINTS.name, path)
            slices = []
            for part in load.slices(counter):
                slices.append(part)
                show(part)
            disk_bytes = folder_bytes(path)
            load.check("after the load")
            for table in (POINTS, SERIES):
                load.connection.execute(f"OPTIMIZE {table.name} FULL")
            load.check("after OPTIMIZE")
            range_p99 = quantile(counter.ranges.all(), 0.99)
            return SoakResult(slices, range_p99, disk_bytes, folder_bytes(path), load.wrong)
    finally:
        database.release()


class _Load:
    """The threads of one soak, and what the rows are by now.

    Attributes:
        wrong: what did not read as it was written.
    """

    def __init__(self, path: Path, plan: SoakPlan) -> None:
        self.wrong: list[str] = []
        self.connection = pykudu_sql.connect(str(path), autocommit=True, **plan.settings)
        self._path = str(path)
        self._plan = plan
        self._series = NewestMinute(plan.commits_per_second)
        self._hits: npt.NDArray[np.int64] = np.zeros(plan.rows, np.int64)
        self._moments: list[tuple[int, int]] = []
        self._stop = threading.Event()

    def close(self) -> None:
        self.connection.close()

    def fill(self) -> None:
        """Make the table with all its rows."""
        self.connection.execute(POINTS.ddl({}, POINTS.partitions))
        rows = data.points(self._plan.rows)
        self._hits[:] = rows.column("hits").to_numpy()
        self.connection.append(POINTS.name, rows)
        self._series.create(self.connection)

    def slices(self, counter: SliceCounter) -> Iterator[Slice]:
        """Run the load, and cut its time into slices."""
        plan = self._plan
        actors = [
            (self._write, plan.commits_per_second, counter.commits),
            (self._get, plan.gets_per_second, counter.gets),
            (self._scan, plan.scans_per_second, counter.scans),
        ]
        if plan.ranges_per_second:
            actors += [
                (self._series.write, plan.commits_per_second, counter.commits),
                (self._series.read, plan.ranges_per_second, counter.ranges),
            ]
        with ThreadPoolExecutor(len(actors)) as pool:
            running = [pool.submit(self._keep_up, *actor) for actor in actors]
            start = time.perf_counter()
            try:
                for end in np.arange(plan.slice_seconds, plan.seconds + 0.01, plan.slice_seconds):
                    while (left := start + end - time.perf_counter()) > 0:
                        time.sleep(min(left, 1.0))
                        if failed := [actor for actor in running if actor.done()]:
                            failed[0].result()
                    yield counter.close_slice(float(end))
            finally:
                self._stop.set()
            for actor in running:
                actor.result()

    def _keep_up(
        self,
        work: Callable[[Connection, np.random.Generator, int], None],
        per_second: float,
        latencies: Latencies,
    ) -> None:
        """Do something at a rate until the end, due at a random instant of each period.

        Clients of one database share no clock: with even periods, the phases of the actors to each
        other, which are luck of the start and then stay, would decide what the tail of a run is.
        """
        random = np.random.default_rng(round(per_second * 1000))
        arrivals = np.random.default_rng()
        with closing(
            pykudu_sql.connect(self._path, autocommit=True, **self._plan.settings)
        ) as connection:
            start, turn = time.perf_counter(), 0
            due = start + arrivals.random() / per_second
            while not self._stop.wait(max(0.0, due - time.perf_counter())):
                work(connection, random, turn)
                latencies.add(time.perf_counter() - due)
                turn += 1
                due = start + (turn + arrivals.random()) / per_second

    def _write(self, connection: Connection, random: np.random.Generator, turn: int) -> None:
        plan = self._plan
        places = random.choice(plan.rows, plan.batch_rows, replace=False)
        connection.append(POINTS.name, _batch(2 * places, turn), "upsert")
        self._hits[places] = turn
        every = max(1, int(plan.seconds * plan.commits_per_second / (plan.moments + 1)))
        if turn % every == every - 1:
            self._moments.append((connection.snapshot_timestamp(), int(self._hits.sum())))

    def _get(self, connection: Connection, random: np.random.Generator, turn: int) -> None:
        key = 2 * int(random.integers(self._plan.rows))
        row = connection.execute(GET, (key,)).fetchone()
        if row is None:
            self.wrong.append(f"key {key} was not there in turn {turn}")

    def _scan(self, connection: Connection, random: np.random.Generator, turn: int) -> None:
        connection.execute(SCAN).fetchall()

    def check(self, when: str) -> None:
        """Compare every row, and the moments noted, with what was written."""
        self.wrong += self._series.wrong
        self._series.wrong.clear()
        read = self.connection.execute(ROWS).fetch_arrow_table()
        keys, hits = read.column("id").to_numpy(), read.column("hits").to_numpy()
        order = np.argsort(keys)
        if not np.array_equal(keys[order], 2 * np.arange(self._plan.rows)):
            self.wrong.append(f"{when}: {len(keys)} rows of {self._plan.rows}")
        elif not np.array_equal(hits[order], self._hits):
            different = int(np.count_nonzero(hits[order] != self._hits))
            self.wrong.append(f"{when}: {different} rows are not as they were written last")
        for moment, written in self._moments:
            text = f"{SUM} FOR SYSTEM_TIME AS OF {moment}"
            (hits,) = self.connection.execute(text).fetchone() or (None,)
            if hits != written:
                self.wrong.append(f"{when}: {hits} hits as of {moment} instead of {written}")


def _batch(keys: npt.NDArray[np.int64], turn: int) -> pa.Table:
    """Rows for some keys, unlike those of other turns."""
    return pa.table(
        {
            "id": keys,
            "hits": np.full(len(keys), turn, np.int32),
            "score": keys / 2 + turn,
            "label": pa.array([f"label {key:08d} {turn}" for key in keys.tolist()]),
        }
    )
