"""Single-row statements on the table of narrow rows, for the point and the durable workloads."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import data
from benchmarks.harness import Contestant
from benchmarks.peers.peer import Peer

SELECT = "SELECT hits, score, label FROM points WHERE id = ?"
INSERT = "INSERT INTO points VALUES (?, ?, ?, ?)"
UPDATE = "UPDATE points SET hits = ?, score = ? WHERE id = ?"
COUNT = "UPDATE points SET hits = hits + ?, score = score + ? WHERE id = ? AND hits >= ?"
UPSERT = (
    "INSERT INTO points VALUES (?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET hits = points.hits + excluded.hits"
)
NEWEST = "SELECT id, hits, score, label FROM points ORDER BY id DESC LIMIT 10"

Statement = Callable[[str, Callable[[], Peer], int], Contestant]


def selecting(name: str, database: Callable[[], Peer], rows: int) -> Contestant:
    """One operation: execute and fetchone of one row by a key that is there."""
    keys = data.present_keys(rows)

    def run(operations: int) -> None:
        execute = database().execute
        for key in itertools.islice(keys, operations):
            execute(SELECT, (key,)).fetchone()

    return _contestant(name, database, run, next(data.present_keys(rows)))


def inserting(name: str, database: Callable[[], Peer], rows: int) -> Contestant:
    """One operation: INSERT of one row with a new key."""
    parameters = ((key, 1, 0.5, "a new label") for key in data.new_keys(rows))
    run = _executing(INSERT, parameters, database)
    return _contestant(name, database, run, next(data.new_keys(rows)))


def updating(name: str, database: Callable[[], Peer], rows: int) -> Contestant:
    """One operation: UPDATE of two columns of one row by its key."""
    parameters = ((key % 1000, 0.25, key) for key in data.present_keys(rows))
    run = _executing(UPDATE, parameters, database)
    return _contestant(name, database, run, next(data.present_keys(rows)))


def counting(name: str, database: Callable[[], Peer], rows: int) -> Contestant:
    """One operation: UPDATE of two columns by what they hold, if the row holds enough.

    Nothing is added, so that the answer does not depend on the number of operations.
    """
    parameters = ((0, 0.0, key, 0) for key in data.present_keys(rows))
    run = _executing(COUNT, parameters, database)
    return _contestant(name, database, run, next(data.present_keys(rows)))


def upserting(name: str, database: Callable[[], Peer], rows: int) -> Contestant:
    """One operation: INSERT of one row whose key is there, which adds nothing to it instead."""
    parameters = ((key, 0, 0.5, "a new label") for key in data.present_keys(rows))
    run = _executing(UPSERT, parameters, database)
    return _contestant(name, database, run, next(data.present_keys(rows)))


def listing(name: str, database: Callable[[], Peer], rows: int) -> Contestant:
    """One operation: execute and fetch of the ten rows with the greatest keys."""

    def run(operations: int) -> None:
        execute = database().execute
        for _ in range(operations):
            cursor = execute(NEWEST, ())
            while cursor.fetchone() is not None:
                pass

    return _contestant(name, database, run, next(data.present_keys(rows)))


def _executing(
    sql: str, parameters: Iterator[tuple[Any, ...]], database: Callable[[], Peer]
) -> Callable[[int], None]:
    def run(operations: int) -> None:
        execute = database().execute
        for row in itertools.islice(parameters, operations):
            execute(sql, row)

    return run


def _contestant(
    name: str, database: Callable[[], Peer], run: Callable[[int], None], first_key: int
) -> Contestant:
    """`first_key` is the key of the first operation: its row shows whether the work was done."""

    def prepare() -> None:
        database()

    def answer() -> object:
        row = database().execute(SELECT, (first_key,)).fetchone()
        return row if row is None else tuple(row)

    return Contestant(name, run, prepare, answer)
