"""Batches of 10,000 rows, each one durable commit: keyed upserts, and inserts where others lie."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks import data
from benchmarks.harness import Contestant, Goal, Race
from benchmarks.operations import ours
from benchmarks.peers.peer import Peer
from benchmarks.tables import POINTS
from benchmarks.workbench import Workbench

BATCH_ROWS = 10_000
TURN_BATCHES = 10


def upsert_batches(bench: Workbench) -> Race:
    """One operation: ten batches of upserts, half of the keys there and half of them new."""
    names = bench.among("pykudu", "duckdb", "sqlite")
    return Race(
        name="upsert_batches",
        title=(
            f"{TURN_BATCHES} upserts of {BATCH_ROWS:,} random rows each, half of them new, into "
            f"{bench.point_rows:,}; a durable commit each"
        ),
        reference="duckdb",
        contestants=[_upserting(bench, name) for name in names],
        rounds=bench.rounds or 5,
        goals=[Goal("pykudu", "duckdb", 3.0), Goal("pykudu", "sqlite", 3.0)],
    )


def _upserting(bench: Workbench, name: str) -> Contestant:
    database = bench.with_points(name, durable=True)
    batches = _random_batches(bench.point_rows)

    def run(operations: int) -> None:
        for batch in itertools.islice(batches, operations * TURN_BATCHES):
            database().upsert(POINTS, batch)

    def prepare() -> None:
        database()

    def answer() -> object:
        return database().query("SELECT count(*) AS n FROM points").column("n").to_pylist()

    return Contestant(name, run, prepare, answer)


def _random_batches(rows: int) -> Iterator[pa.Table]:
    generator = np.random.default_rng(21)
    while True:
        keys = generator.choice(2 * rows, BATCH_ROWS, replace=False)
        yield rows_of(keys)


def rows_of(keys: npt.NDArray[np.int64]) -> pa.Table:
    """A narrow row for each key."""
    return pa.table(
        {
            "id": keys,
            "hits": (keys % 1000).astype(np.int32),
            "score": keys / 2,
            "label": pa.array([f"label {key:08d}" for key in keys.tolist()]),
        }
    )


def backfill(bench: Workbench) -> Race:
    """One operation: ten batches of inserts with new keys, at the end or among flushed rows."""
    return Race(
        name="backfill",
        title=(
            f"{TURN_BATCHES} inserts of {BATCH_ROWS:,} rows each beside {bench.point_rows:,} "
            "flushed ones; a durable commit each; cold: opened anew, files not in the page cache"
        ),
        reference="at the end",
        contestants=[
            _inserting(bench, "at the end", _ascending_batches, _as_it_is),
            _inserting(bench, "backfill, hot", _gap_batches, _as_it_is),
            _inserting(bench, "backfill, cold", _gap_batches, _reopened_cold),
        ],
        rounds=bench.rounds or 5,
    )


def _inserting(
    bench: Workbench,
    name: str,
    batches_of: Callable[[int], Iterator[pa.Table]],
    make_ready: Callable[[Workbench, Peer, Path], Peer],
) -> Contestant:
    batches = batches_of(bench.point_rows)
    current: list[tuple[Peer, Path]] = []
    bench.close_current(current)
    waiting: list[pa.Table] = []

    def prepare() -> None:
        if not current:
            peer, folder = bench.open("pykudu", durable=True)
            peer.create(POINTS)
            peer.append(POINTS, data.points(bench.point_rows))
            current.append((peer, folder))
        peer, folder = current[0]
        ours(peer).store.flush(POINTS.name)
        current[0] = make_ready(bench, peer, folder), folder
        waiting[:] = itertools.islice(batches, TURN_BATCHES)
        if len(waiting) < TURN_BATCHES:
            raise ValueError("the gaps are full: take more rows or fewer rounds")

    def run(operations: int) -> None:
        append = current[0][0].append
        for batch in waiting:
            append(POINTS, batch)

    return Contestant(name, run, prepare)


def _as_it_is(bench: Workbench, peer: Peer, folder: Path) -> Peer:
    return peer


def _reopened_cold(bench: Workbench, peer: Peer, folder: Path) -> Peer:
    """Close, ask the kernel to forget the files' pages, open again."""
    peer.close()
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
    return bench.reopen("pykudu", folder, durable=True)


def _ascending_batches(rows: int) -> Iterator[pa.Table]:
    for start in itertools.count(2 * rows, BATCH_ROWS):
        yield rows_of(np.arange(start, start + BATCH_ROWS, dtype=np.int64))


def _gap_batches(rows: int) -> Iterator[pa.Table]:
    """Keys that `data.points` leaves free, in random order; as many as there are rows."""
    keys = np.random.default_rng(22).permutation(rows) * 2 + 1
    for start in range(0, rows - BATCH_ROWS + 1, BATCH_ROWS):
        yield rows_of(keys[start : start + BATCH_ROWS])
