"""YCSB's workloads A and C: wide rows of text by key, few of them asked for often.

A million rows of ten columns of 100 bytes; keys are drawn by Zipf's law. C reads whole rows; A
reads one half of the time and sets one column the other half, durably. The first reads of rows
that no cache has are a survey of their own.
"""

import functools
import itertools
import time
from collections.abc import Callable, Iterator

from benchmarks import data
from benchmarks.harness import Contestant, Goal, Race
from benchmarks.peers.peer import Peer
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import USERS
from benchmarks.workbench import Workbench

SELECT = "SELECT * FROM usertable WHERE id = ?"
UNCHANGED = "SELECT id, field0, field9 FROM usertable WHERE id = ?"
UPDATE = "UPDATE usertable SET field3 = ? WHERE id = ?"
_DRAWS = 1 << 20
_WARM_READS = 5_000
_NEW_CELL = "z" * data.USER_CELL_BYTES
_COLD_READS = 500

Operation = Callable[[Peer, Iterator[int], int], None]


def ycsb_a(bench: Workbench) -> Race:
    """One operation: a durable UPDATE of one column by key, or a read of a row, in turn."""
    title = "half reads of a row, half durable updates of a column"
    return _race(bench, "ycsb_a", title, _read_and_update, durable=True)


def ycsb_c(bench: Workbench) -> Race:
    """One operation: execute and fetchone of a whole row by its key."""
    return _race(bench, "ycsb_c", "reads of a row", _read, durable=False)


def _race(bench: Workbench, name: str, title: str, work: Operation, *, durable: bool) -> Race:
    return Race(
        name=name,
        title=f"{title}, zipf; {bench.point_rows:,} rows of ten columns of 100 bytes, DB-API",
        reference="duckdb",
        contestants=[
            _contestant(bench, peer, work, durable=durable)
            for peer in bench.among("pykudu", "duckdb", "sqlite")
        ],
        rounds=bench.rounds or 5,
        turn_seconds=0.5,
        goals=[Goal("pykudu", "duckdb", 3.0)],
    )


def _contestant(bench: Workbench, name: str, work: Operation, *, durable: bool) -> Contestant:
    database = bench.with_users(name, durable=durable)
    keys = itertools.cycle(data.zipf_keys(bench.point_rows, _DRAWS))

    @functools.cache
    def prepare() -> None:
        """Fill the caches once, as YCSB does: turns are shorter than that takes."""
        _read(database(), keys, _WARM_READS)

    def answer() -> object:
        row = database().execute(UNCHANGED, (bench.point_rows // 2,)).fetchone()
        return row if row is None else tuple(row)

    return Contestant(name, lambda count: work(database(), keys, count), prepare, answer)


def _read(peer: Peer, keys: Iterator[int], operations: int) -> None:
    execute = peer.execute
    for key in itertools.islice(keys, operations):
        execute(SELECT, (key,)).fetchone()


def _read_and_update(peer: Peer, keys: Iterator[int], operations: int) -> None:
    execute = peer.execute
    for number, key in enumerate(itertools.islice(keys, operations)):
        if number % 2:
            execute(UPDATE, (_NEW_CELL, key))
        else:
            execute(SELECT, (key,)).fetchone()


def ycsb_cold(bench: Workbench) -> Survey:
    """Rows by key right after the database was opened, each from blocks that no cache has."""
    return Survey(
        name="ycsb_cold",
        title=(
            f"{SELECT}: {_COLD_READS} rows far from each other of {bench.point_rows:,}, "
            "processor time of the thread, the database just opened"
        ),
        measure=lambda: list(_measure_cold(bench)),
        bounds=[Bound("first read of a row", most=150e-6)],
    )


def _measure_cold(bench: Workbench) -> Iterator[Figure]:
    peer, folder = bench.open("pykudu", durable=False)
    peer.create(USERS)
    peer.append(USERS, data.users(bench.point_rows))
    peer.close()
    peer = bench.reopen("pykudu", folder, durable=False)
    try:
        # Not the same block twice in a row, and files and indexes opened before.
        step = max(1, bench.point_rows // _COLD_READS)
        for key in range(step // 2, bench.point_rows, step * 16):
            peer.execute(SELECT, (key,)).fetchone()
        keys = list(range(0, bench.point_rows, step))
        for name in ("first read of a row", "second read of a row"):
            start = time.thread_time()
            for key in keys:
                peer.execute(SELECT, (key,)).fetchone()
            yield Figure(name, (time.thread_time() - start) / len(keys), "s")
    finally:
        peer.close()
