"""Durable commits of one, four and sixteen threads, each with a connection of its own."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks import data
from benchmarks.harness import Contestant, Goal, Race
from benchmarks.operations import ours
from benchmarks.workbench import Workbench
from benchmarks.workloads.statements import INSERT
from pykudu_sql import Connection

THREADS = (1, 4, 16)


def commit_threads(bench: Workbench) -> Race:
    """One operation: INSERT of one row, safe from a power cut when the call returns."""
    return Race(
        name="commit_threads",
        title=f"INSERT of one row, autocommit, durable, {bench.point_rows:,} rows; by threads",
        reference=_name(1),
        contestants=[_committing(bench, threads) for threads in THREADS],
        rounds=bench.rounds or 7,
        turn_seconds=0.5,
        goals=[Goal(_name(16), _name(1), 3.0)],
    )


def _name(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def _committing(bench: Workbench, threads: int) -> Contestant:
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

    return Contestant(_name(threads), run, prepare)


def _shares(operations: int, threads: int) -> list[int]:
    return [operations // threads + (n < operations % threads) for n in range(threads)]
