"""Durable commits of one, four and sixteen threads, each with a connection of its own.

What group commit gains is the time of an fsync, which threads wait for together. Machines differ in
it by a factor of a hundred: a virtual disk that only notes the request answers within 60 us, a disk
of flash that has the bytes safe before it answers takes a millisecond or more. So there is a race
on the disk as it is, and one in which every fsync takes `FSYNC_SECONDS` longer.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from unittest.mock import patch

from benchmarks import data
from benchmarks.harness import Contestant, Goal, Race
from benchmarks.operations import ours
from benchmarks.workbench import Workbench
from benchmarks.workloads.single_rows.statements import INSERT
from pykudu_sql import Connection

THREADS = (1, 4, 16)
FSYNC_SECONDS = 0.002

Run = Callable[[int], None]


def commit_threads(bench: Workbench) -> Race:
    """One operation: INSERT of one row, safe from a power cut when the call returns."""
    return _race(bench, "commit_threads", "the disk as it is", lambda run: run)


def commit_threads_disk(bench: Workbench) -> Race:
    """The same on a disk whose fsync takes its time."""
    disk = f"an fsync takes {FSYNC_SECONDS * 1e3:g} ms more"
    return _race(bench, "commit_threads_disk", disk, lambda run: partial(_on_slow_disk, run))


def _on_slow_disk(run: Run, operations: int) -> None:
    with patch("os.fdatasync", partial(_slow_fdatasync, os.fdatasync)):
        run(operations)


def _slow_fdatasync(fdatasync: Callable[[int], None], descriptor: int) -> None:
    fdatasync(descriptor)
    time.sleep(FSYNC_SECONDS)


def _race(bench: Workbench, name: str, disk: str, on_disk: Callable[[Run], Run]) -> Race:
    rows = f"{bench.point_rows:,} rows"
    return Race(
        name=name,
        title=f"INSERT of one row, autocommit, durable, {rows}, by threads; {disk}",
        reference=_name(1),
        contestants=[_committing(bench, threads, on_disk) for threads in THREADS],
        rounds=bench.rounds or 7,
        turn_seconds=0.5,
        goals=[Goal(_name(16), _name(1), 3.0)],
    )


def _name(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def _committing(bench: Workbench, threads: int, on_disk: Callable[[Run], Run]) -> Contestant:
    database = bench.with_points("pykudu", durable=True)
    keys = data.new_keys(bench.point_rows)
    connections: list[Connection] = []

    def insert(connection: Connection, own: Iterator[int]) -> None:
        execute = connection.execute
        for key in own:
            execute(INSERT, (key, 1, 0.5, "a new label"))

    def prepare() -> None:
        peer = ours(database())
        while len(connections) < threads:
            connections.append(peer.connect())
            bench.close_later(connections[-1].close)

    def run(operations: int) -> None:
        shares = [list(itertools.islice(keys, n)) for n in _shares(operations, threads)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(insert, connections, map(iter, shares)))

    return Contestant(_name(threads), on_disk(run), prepare)


def _shares(operations: int, threads: int) -> list[int]:
    return [operations // threads + (n < operations % threads) for n in range(threads)]
