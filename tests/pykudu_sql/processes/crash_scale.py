"""Rounds of large statements until SIGKILL, run as a program of its own (see `crash_rounds`).

A child loads tables from a reader, UPDATEs and UPSERTs the halves of a table, and runs OPTIMIZE
FULL on it, each of which takes seconds at some million rows, while another thread reads and sees
only whole statements. The child is killed, and the database must open soon, hold what was
acknowledged and no half of a statement, pass every check, and have no file that it does not need.

Usage: python -m tests.pykudu_sql.processes.crash_scale FOLDER ROUNDS SEED [ROWS]; prints one line
of JSON.
"""

import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.fs.local_env import LocalEnv
from tests.storage.faults.crash_mixed import killed, orphans
from tests.storage.faults.crash_rounds import drain, in_child

ROWS = 6_000_000
BATCHES = 32
KINDS = ("load", "update", "upsert", "optimize")
Tell = Callable[[dict[str, Any]], None]


def connect(path: str, rows: int) -> Connection:
    """A connection whose loads and changes have about eight chunks."""
    chunked_rows.CHUNK_BYTES = chunked_rows.CHANGE_BYTES = rows * 6
    return pykudu_sql.connect(path, autocommit=True, threads=2)


def readers(keys: np.ndarray[Any, Any], value: int) -> pa.RecordBatchReader:
    """Rows of some keys, made while they are read."""
    schema = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("w", pa.string())])

    def batches() -> Iterator[pa.RecordBatch]:
        for part in np.array_split(keys, BATCHES):
            values = pa.array(np.full_like(part, value))
            words = pa.array(np.char.add("word ", (part % 1000).astype(str)))
            yield pa.record_batch([pa.array(part), values, words], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def create(connection: Connection, name: str) -> None:
    """Make a table in four tablets."""
    connection.execute(
        f"CREATE TABLE {name} (k BIGINT PRIMARY KEY, v BIGINT, w STRING) "
        "PARTITION BY HASH (k) PARTITIONS 4"
    )


def prepare(path: str, rows: int) -> None:
    """Make the table `t` of which the halves are changed."""
    with connect(path, rows) as connection:
        create(connection, "t")
        connection.append("t", readers(np.arange(rows), 0))


def run(connection: Connection, kind: str, number: int, rows: int) -> None:
    """One large statement; its number is in the rows that it writes."""
    match kind:
        case "load":
            connection.execute(f"DROP TABLE IF EXISTS load{number}")
            create(connection, f"load{number}")
            connection.append(f"load{number}", readers(np.arange(rows // 2), number))
            connection.execute(f"DROP TABLE IF EXISTS load{number - 1}")
        case "update":
            connection.execute("UPDATE t SET v = ? WHERE k % 2 = 0", (number,))
        case "upsert":
            connection.append("t", readers(np.arange(1, rows, 2), number), operation="upsert")
        case _:
            connection.execute("OPTIMIZE TABLE t FULL")


def work_until_killed(path: str, first: int, state: dict[str, int], rows: int, tell: Tell) -> None:
    """Run one statement after the other; an error ends the child."""

    def read() -> None:
        with connect(path, rows) as connection:
            while True:
                seen = halves(connection)
                if [count for _, _, count in seen] != [rows // 2] * 2:
                    tell({"failed": f"a reader saw {seen}"})
                time.sleep(0.2)

    threading.Thread(target=read, daemon=True).start()
    connection = connect(path, rows)
    for place in range(first, first + 1000):
        kind = KINDS[place % len(KINDS)]
        number = state[kind] = state[kind] + 1
        tell({"try": kind, "number": number})
        try:
            run(connection, kind, number, rows)
        except BaseException as error:
            tell({"failed": f"{kind}: {error!r}"})
            raise
        tell({"done": kind, "number": number})


def halves(connection: Connection) -> list[Any]:
    """Of the even and the odd keys each value, and how many rows have it."""
    query = "SELECT k % 2 AS half, v, count(*) FROM t GROUP BY ALL ORDER BY ALL"
    return connection.execute(query).fetchall()


def report(path: str, rows: int, tell: Tell) -> None:
    """Open and tell how long that took, what is there, and what is wrong with it."""
    started = time.perf_counter()
    with connect(path, rows) as connection:
        opened = time.perf_counter() - started
        names = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
        loads = {
            name: connection.execute(f"SELECT count(*), min(v), max(v) FROM {name}").fetchone()
            for name in names
            if name.startswith("load")
        }
        tell({"opened": opened, "halves": halves(connection), "loads": loads})
    tell({"orphans": orphans(path)})
    findings = DatabaseCheck(LocalEnv(), path, quick=False).run()
    tell({"findings": [f"{finding.path}: {finding.problem}" for finding in findings]})


def check(found: dict[str, Any], done: dict[str, int], tried: dict[str, int], rows: int) -> None:
    """Hold what is there against what was acknowledged and what was begun."""
    (even, update, evens), (odd, upsert, odds) = found["halves"]
    assert (even, evens, odd, odds) == (0, rows // 2, 1, rows // 2), found
    assert done["update"] <= update <= tried["update"], (found, done, tried)
    assert done["upsert"] <= upsert <= tried["upsert"], (found, done, tried)
    numbers = {int(name.removeprefix("load")): facts for name, facts in found["loads"].items()}
    for number, facts in numbers.items():
        whole = facts == [rows // 2, number, number]
        assert whole or (number > done["load"] and not facts[0]), (found, done)
    load = max((number for number, facts in numbers.items() if facts[0]), default=0)
    assert done["load"] <= load <= tried["load"], (found, done, tried)
    done.update(update=update, upsert=upsert, load=load)


def main(folder: str, rounds: int, seed: int, rows: int) -> dict[str, Any]:
    """Run the rounds; raises AssertionError on the first thing that is not as acknowledged."""
    path = os.path.join(folder, "db")
    pa.array([1])  # loads what pyarrow loads late, once for all children
    pid, _ = in_child(lambda tell: prepare(path, rows))
    assert os.waitpid(pid, 0)[1] == 0
    rng = random.Random(seed)
    done = dict.fromkeys(KINDS, 0)
    cut = dict.fromkeys(KINDS, 0)
    acknowledged, slowest, longest = 0, 0.0, 2 * rows / 1_000_000
    for number in range(rounds):
        first = number % len(KINDS)
        pid, reader = in_child(lambda tell, f=first: work_until_killed(path, f, done, rows, tell))
        killed(pid, rng.uniform(0.5, 3.0 + longest))
        tried, running = dict(done), ""
        for message in drain(reader):
            assert "failed" not in message, f"round {number}: {message}"
            if "try" in message:
                running = message["try"]
                tried[running] = message["number"]
            else:
                done[message["done"]], running = message["number"], ""
                acknowledged += 1
        if running:
            cut[running] += 1
        pid, reader = in_child(lambda tell: report(path, rows, tell))
        assert os.waitpid(pid, 0)[1] == 0, f"round {number}: the database does not open"
        found, about, findings = drain(reader)
        check(found, done, tried, rows)
        assert not about["orphans"], f"round {number}: {about['orphans']}"
        assert not findings["findings"], f"round {number}: {findings}"
        slowest = max(slowest, found["opened"])
    return {"rounds": rounds, "killed": cut, "done": acknowledged, "opened": round(slowest, 2)}


if __name__ == "__main__":
    size = int(sys.argv[4]) if len(sys.argv) > 4 else ROWS
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), size)))
