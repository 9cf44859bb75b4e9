"""Writes in no order: single-row updates, batches of new rows, and what they cost afterwards."""

import functools
import itertools
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks import data
from benchmarks.harness import Contestant, Goal, Race
from benchmarks.operations import height_of, optimize, ours, paused
from benchmarks.peers.peer import Peer
from benchmarks.survey import Figure, Survey
from benchmarks.tables import POINTS
from benchmarks.workbench import Workbench
from benchmarks.workloads.queries.analytics import result_rows, same_rows
from benchmarks.workloads.single_rows.statements import UPDATE

UPDATES = 100_000
ZIPF_EXPONENT = 1.2
BATCHES = 50
SCAN = "SELECT count(*) AS n, sum(hits) AS hits, max(score) AS score FROM points"

Keys = npt.NDArray[np.int64]


def uniform_keys(rows: int) -> Keys:
    """`UPDATES` keys of `data.points(rows)`, all equally likely."""
    return np.random.default_rng(11).integers(0, rows, UPDATES) * 2


def zipf_keys(rows: int) -> Keys:
    """`UPDATES` keys of `data.points(rows)`: the k-th most frequent as 1 / k^1.2; the frequent ones
    lie scattered over the table."""
    generator = np.random.default_rng(12)
    ranks = generator.zipf(ZIPF_EXPONENT, UPDATES) % rows
    places: Keys = generator.permutation(rows)[ranks]
    return places * 2


DISTRIBUTIONS: dict[str, Callable[[int], Keys]] = {"uniform": uniform_keys, "zipf": zipf_keys}


def random_updates(bench: Workbench) -> Race:
    """One operation: UPDATE of one row by its key, keys uniform or Zipf distributed."""
    contestants = [
        _updating(bench, name, label)
        for name in bench.among("pykudu", "duckdb", "sqlite")
        for label in DISTRIBUTIONS
    ]
    return Race(
        name="random_updates",
        title=f"UPDATE of 2 columns by random key, {bench.point_rows:,} rows, not durable",
        reference="duckdb uniform",
        contestants=contestants,
        rounds=bench.rounds or 5,
        turn_seconds=0.25,
        goals=[Goal(f"pykudu {label}", f"duckdb {label}", 10.0) for label in DISTRIBUTIONS],
    )


def _updating(bench: Workbench, name: str, label: str) -> Contestant:
    database = bench.with_points(name, durable=False)
    keys = itertools.cycle(DISTRIBUTIONS[label](bench.point_rows).tolist())

    def run(operations: int) -> None:
        execute = database().execute
        for key in itertools.islice(keys, operations):
            execute(UPDATE, (key % 1000, 0.25, key))

    def prepare() -> None:
        database()

    return Contestant(f"{name} {label}", run, prepare)


def random_updates_scan(bench: Workbench) -> Race:
    """One operation: a scan of two columns after `UPDATES` single-row updates."""
    clean = "pykudu unchanged"
    contestants = [_scanning(bench, clean, (), flush=False)]
    for label, keys in DISTRIBUTIONS.items():
        for flush in (False, True):
            name = f"pykudu {label}{' flushed' if flush else ''}"
            contestants.append(_scanning(bench, name, keys(bench.point_rows).tolist(), flush=flush))
    return Race(
        name="random_updates_scan",
        title=f"{SCAN} of {bench.point_rows:,} rows after {UPDATES:,} updates of single rows",
        reference=clean,
        contestants=contestants,
        rounds=bench.rounds or 9,
        turn_seconds=0.2,
        goals=[Goal(c.name, clean, 1 / 1.5) for c in contestants[1:]],
    )


def _scanning(bench: Workbench, name: str, keys: Sequence[int], *, flush: bool) -> Contestant:
    loaded = bench.with_points("pykudu", durable=False)

    @functools.cache
    def database() -> Peer:
        peer = loaded()
        store = paused(peer)
        execute = peer.execute
        for key in keys:
            execute(UPDATE, (key % 1000, 0.25, key))
        if flush:
            store.flush(POINTS.name)
        return peer

    def run(operations: int) -> None:
        query = database().query
        for _ in range(operations):
            query(SCAN)

    def prepare() -> None:
        database()

    return Contestant(name, run, prepare)


def random_batches(bench: Workbench) -> Survey:
    """Rows inserted in random order, a flush after each batch, and the compaction that follows."""
    return Survey(
        name="random_batches",
        title=(
            f"{bench.point_rows:,} rows in random order, {BATCHES} batches, each flushed: average "
            "height of rowsets, point reads and scans before and after merging compaction"
        ),
        measure=lambda: list(_batches(bench)),
    )


def _batches(bench: Workbench) -> Iterator[Figure]:
    peer, _ = bench.open("pykudu", durable=True)
    bench.close_later(peer.close)
    store = paused(peer)
    peer.create(POINTS)
    rows = data.points(bench.point_rows)
    order = np.random.default_rng(13).permutation(bench.point_rows)
    start = time.perf_counter()
    for places in np.array_split(order, BATCHES):
        peer.append(POINTS, rows.take(pa.array(places)))
        store.flush(POINTS.name)
    yield Figure("inserting and flushing", time.perf_counter() - start, "s")
    yield from _reading(bench, peer, "before")
    before = result_rows(peer.query(SCAN))
    start = time.perf_counter()
    optimize(peer, POINTS.name)
    yield Figure("merging compaction", time.perf_counter() - start, "s")
    yield from _reading(bench, peer, "after")
    if not same_rows(result_rows(peer.query(SCAN)), before):
        raise ValueError("the compaction changed what a scan finds")


def _reading(bench: Workbench, peer: Peer, label: str) -> Iterator[Figure]:
    store = ours(peer).store
    yield Figure(f"average height {label}", height_of(store, POINTS.name))
    keys = list(itertools.islice(data.present_keys(bench.point_rows), 2000))
    for _ in range(2):  # the second time everything is hot
        start = time.perf_counter()
        for key in keys:
            peer.execute("SELECT hits FROM points WHERE id = ?", (key,)).fetchone()
        seconds = (time.perf_counter() - start) / len(keys)
    yield Figure(f"SELECT by key {label}", seconds, "s")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        peer.query(SCAN)
        times.append(time.perf_counter() - start)
    yield Figure(f"scan {label}", sorted(times)[len(times) // 2], "s")
