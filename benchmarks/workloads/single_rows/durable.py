"""Durable single-row commits against the bare cost of making as many bytes durable.

The raw contestants write records of 128 bytes, about what the log of a one-row commit takes, each
followed by fdatasync: to a growing file (the file system then journals the new size as well) and
to one that was filled with zeros before.
"""

import itertools
import os

from benchmarks.harness import Contestant, Goal, Race
from benchmarks.workbench import Workbench
from benchmarks.workloads.single_rows.statements import Statement, inserting, updating

RECORD = bytes(range(128))
PREALLOCATED_BYTES = 64 << 20
RAW_APPEND = "raw append"


def durable_insert(bench: Workbench) -> Race:
    """One operation: INSERT of one row, safe from a power cut when the call returns."""
    return _race(bench, "durable_insert", "INSERT of one row", inserting)


def durable_update(bench: Workbench) -> Race:
    """One operation: UPDATE of two columns by key, safe from a power cut when the call returns."""
    return _race(bench, "durable_update", "UPDATE of 2 columns", updating)


def _race(bench: Workbench, name: str, title: str, statement: Statement) -> Race:
    return Race(
        name=name,
        title=f"{title}, autocommit, durable, {bench.point_rows:,} rows; raw: write + fdatasync",
        reference=RAW_APPEND,
        contestants=[
            *(
                statement(peer, bench.with_points(peer, durable=True), bench.point_rows)
                for peer in bench.among("pykudu", "sqlite", "duckdb")
            ),
            _raw(bench, name, RAW_APPEND, 0),
            _raw(bench, name, "raw preallocated", PREALLOCATED_BYTES),
        ],
        rounds=bench.rounds or 7,
        turn_seconds=0.25,
        goals=[Goal("pykudu", RAW_APPEND, 1 / 1.3)],
    )


def _raw(bench: Workbench, race: str, name: str, allocate: int) -> Contestant:
    path = bench.scratch / f"{race} {name}"
    offset = itertools.count(0, len(RECORD))
    descriptors: list[int] = []

    def prepare() -> None:
        if not descriptors:
            descriptors.append(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            for position in range(0, allocate, 1 << 20):
                os.pwrite(descriptors[0], bytes(1 << 20), position)
            os.fsync(descriptors[0])

    def run(operations: int) -> None:
        descriptor = descriptors[0]
        for position in itertools.islice(offset, operations):
            os.pwrite(descriptor, RECORD, position)
            os.fdatasync(descriptor)

    return Contestant(name, run, prepare)
