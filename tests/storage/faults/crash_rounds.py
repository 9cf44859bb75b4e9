"""Rounds of writing until SIGKILL, run as a program of its own so that every child forks early.

Each round forks a writer that opens the store and does random statements and flushes, telling the
parent of each before it begins and when it is acknowledged; the parent kills it a random moment
after it has told a random number of times, or, one time in eight, a random moment after it was
forked, which may be while it recovers. A second child then opens the store and reports every row,
now and AS OF some earlier commits.
What it reports must be the acknowledged state, or that with the one statement then in flight.

Usage: python -m tests.storage.faults.crash_rounds FOLDER ROUNDS SEED; prints one JSON line.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import IntegrityError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.model import Refused, Row, apply, operations, read

KEYS = 40
# The files are checked after every so many rounds.
EXAMINED = 20
Work = Callable[[str, int, Callable[[dict[str, Any]], None]], None]


def open_store(path: str) -> Store:
    """The store under test; durable commits."""
    return Store(LocalEnv(), path, StoreOptions(threads=1))


def create(path: str) -> None:
    """Make the table."""
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(0, "n", DataType(Kind.INT64)),
        ColumnSchema(0, "s", DataType(Kind.STRING)),
    ]
    store = open_store(path)
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table("t", create_schema(columns, ["id"]), partitions)
    store.close()


def statement(rng: random.Random) -> tuple[RowOpKind, list[Row]]:
    """A random statement: one or some rows, in both tablets alike."""
    kind = rng.choice([RowOpKind.UPSERT, RowOpKind.INSERT, RowOpKind.UPDATE, RowOpKind.DELETE])
    keys = rng.sample(range(KEYS), rng.choice([1, 1, 2, 8]))
    rows: list[Row] = [{0: key} for key in keys]
    if kind is not RowOpKind.DELETE:
        for row in rows:
            row[1] = rng.randrange(1000)
            row[2] = "x" * rng.randrange(50)
    return kind, rows


def write_until_killed(path: str, seed: int, tell: Callable[[dict[str, Any]], None]) -> None:
    """Open and write for ever."""
    write_for_ever(open_store(path), seed, tell)


def write_for_ever(store: Store, seed: int, tell: Callable[[dict[str, Any]], None]) -> None:
    """Write to a store that is open, until the process is killed."""
    rng = random.Random(seed)
    table = store.catalog.table("t")
    tell({"open": True})
    while True:
        if rng.random() < 0.15:
            store.flush()
            continue
        kind, rows = statement(rng)
        tell({"begin": [kind, [list(row.items()) for row in rows]]})
        txn = store.begin()
        try:
            if len(rows) == 1:
                txn.write_row(table, kind, rows[0])
            else:
                txn.write(table, operations(table, kind, rows))
            tell({"ack": txn.commit(durable=True)})
        except IntegrityError:
            tell({"refused": True})


def report(path: str, bounds: list[int], tell: Callable[[dict[str, Any]], None]) -> None:
    """Open and tell every row, now and at earlier bounds."""
    store = open_store(path)
    table = store.catalog.table("t")
    states = [read(store.begin(), table, bound) for bound in [*bounds, None]]
    tell({"states": [[list(row.items()) for row in state.values()] for state in states]})
    store.close()


def examine(path: str, tell: Callable[[dict[str, Any]], None]) -> None:
    """Check every file, after an opening that removes those that a killed writer left."""
    Store(LocalEnv(), path, StoreOptions(threads=1, maintenance=False)).close()
    findings = DatabaseCheck(LocalEnv(), path, quick=False).run()
    tell({"findings": [f"{finding.path}: {finding.problem}" for finding in findings]})


def in_child(work: Callable[[Callable[[dict[str, Any]], None]], None]) -> tuple[int, int]:
    """Fork a child that does some work; returns its pid and the pipe of what it tells."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    code = 1
    try:
        work(lambda message: (os.write(writer, json.dumps(message).encode() + b"\n"), None)[1])
        code = 0
    finally:
        os._exit(code)


def listen(reader: int, lines: int) -> bytes:
    """What a child tells, until it has told so many times or has ended."""
    heard = b""
    while heard.count(b"\n") < lines:
        more = os.read(reader, 65536)
        if not more:
            break
        heard += more
    return heard


def drain(reader: int, heard: bytes = b"") -> list[dict[str, Any]]:
    """Everything a child told before it ended; a line cut by its death does not count."""
    with os.fdopen(reader, "rb") as pipe:
        lines = (heard + pipe.read()).splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def rows_of(state: list[list[list[Any]]]) -> dict[tuple[Any, ...], Row]:
    """Reported rows in the shape of the model."""
    rows = [dict(map(tuple, row)) for row in state]
    return {(row[0],): row for row in rows}


def main(folder: str, rounds: int, seed: int, work: Work = write_until_killed) -> dict[str, int]:
    """Run the rounds; raises AssertionError on the first lost or half-done statement.

    Args:
        folder: an empty one.
        rounds: how many writers are killed.
        seed: of what they do and when they are killed.
        work: what a writer does, given the path, a seed and the pipe to its parent.
    """
    path = os.path.join(folder, "db")
    pa.array([1])  # loads what pyarrow loads late, once for all children
    pid, reader = in_child(lambda tell: create(path))
    os.waitpid(pid, 0)
    drain(reader)
    rng = random.Random(seed)
    pid, reader = in_child(lambda tell: tell({"table": table_json(path)}))
    os.waitpid(pid, 0)
    table = table_from(drain(reader)[0]["table"])
    rows: dict[tuple[Any, ...], Row] = {}
    past: list[tuple[int, dict[tuple[Any, ...], Row]]] = []
    counts = {"rounds": 0, "acknowledged": 0, "in_flight": 0, "in_flight_kept": 0}
    for number in range(rounds):
        child_seed = rng.randrange(1 << 30)
        pid, reader = in_child(lambda tell, s=child_seed: work(path, s, tell))
        heard = b"" if rng.random() < 0.125 else listen(reader, rng.randrange(2, 9))
        time.sleep(rng.uniform(0.0, 0.02 if heard else 0.25))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        pending = None
        for message in drain(reader, heard):
            assert "failed" not in message, f"round {number}: {message['failed']}"
            if "begin" in message:
                kind, given = message["begin"]
                pending = (RowOpKind(kind), [dict(map(tuple, row)) for row in given])
            elif pending is not None:
                if "ack" in message:
                    rows = apply(rows, table, *pending)
                    past.append((message["ack"] + 1, rows))
                    counts["acknowledged"] += 1
                pending = None
        checked = rng.sample(past, min(5, len(past)))
        pid, reader = in_child(lambda tell, c=checked: report(path, [b for b, _ in c], tell))
        os.waitpid(pid, 0)
        *earlier, now = map(rows_of, drain(reader)[0]["states"])
        for (bound, expected), found in zip(checked, earlier, strict=True):
            assert found == expected, f"round {number}: AS OF {bound} changed"
        if pending is not None:
            counts["in_flight"] += 1
            try:
                after = apply(rows, table, *pending)
            except Refused:
                after = rows
            if now != rows:
                counts["in_flight_kept"] += 1
                rows = after
        assert now == rows, f"round {number}: acknowledged rows are not all there"
        counts["rounds"] += 1
        if not counts["rounds"] % EXAMINED:
            pid, reader = in_child(lambda tell: examine(path, tell))
            os.waitpid(pid, 0)
            assert drain(reader) == [{"findings": []}], f"round {number}"
    return counts


def table_json(path: str) -> dict[str, Any]:
    """The table's description."""
    store = open_store(path)
    try:
        return store.catalog.table("t").to_json()
    finally:
        store.close()


def table_from(value: dict[str, Any]) -> TableInfo:
    """The inverse of `table_json`."""
    return TableInfo.from_json(value)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
