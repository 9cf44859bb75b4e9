"""Rounds of SQL that loads much until SIGKILL, run as a program of its own (see `crash_rounds`).

Threads of a child, a connection each, append from readers, INSERT .. SELECT, CREATE TABLE .. AS in
several chunks, UPDATE every row of a table, and FLUSH and OPTIMIZE, while others read and see only
whole statements. The child is killed; then the database must hold what was acknowledged, no half of
a statement, no table without its rows, and no file that it does not need.

Usage: python -m tests.pykudu_sql.processes.crash_loads FOLDER ROUNDS SEED; prints one JSON line.
"""

import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import chunked_rows
from tests.storage.faults.crash_mixed import killed, orphans
from tests.storage.faults.crash_rounds import drain, in_child

ROWS = 2000
BATCH = 100
CHUNK_BYTES = 8 << 10
KEPT_TABLES = 3
Tell = Callable[[dict[str, Any]], None]
Work = Callable[[Connection, int, Tell], None]


def connect(path: str) -> Connection:
    """A connection whose scans are streams and whose loads have many chunks."""
    chunked_rows.CHUNK_BYTES = CHUNK_BYTES
    connection = pykudu_sql.connect(path, autocommit=True, threads=2, flush_bytes=1 << 16)
    connection.execute("SET scan_memory_bytes = 1024")
    return connection


def create(path: str) -> None:
    """Make the tables: `src` that loads read, `big` and `copy` that take them, `u` for UPDATE."""
    with connect(path) as connection:
        for name in ("src", "big", "copy"):
            connection.execute(
                f"CREATE TABLE {name} (batch INT, k INT, w STRING, PRIMARY KEY (batch, k)) "
                "PARTITION BY HASH (k) PARTITIONS 2"
            )
        connection.execute("CREATE TABLE u (k INT PRIMARY KEY, v INT)")
        connection.append("src", rows(0))
        connection.append("u", pa.table({"k": pa.array(range(ROWS)), "v": [0] * ROWS}))
        connection.execute("FLUSH")


def rows(batch: int) -> pa.RecordBatchReader:
    """The rows of a load, in an order that makes keys of all chunks meet."""
    keys = [key * 7919 % ROWS for key in range(ROWS)]
    table = pa.table({"batch": [batch] * ROWS, "k": keys, "w": [f"word {k}" for k in keys]})
    return table.to_reader(BATCH)


def append(connection: Connection, number: int, tell: Tell) -> None:
    """Load a reader, and then another."""
    while True:
        number += 1
        tell({"try big": number})
        connection.append("big", rows(number))
        tell({"big": number})


def copy(connection: Connection, number: int, tell: Tell) -> None:
    """Load the rows of a query, and then others; every other time within a transaction."""
    while True:
        number += 1
        tell({"try copy": number})
        insert = f"INSERT INTO copy SELECT {number}, k, w FROM src"
        if number % 2:
            connection.execute(insert)
        else:
            connection.execute("BEGIN")
            connection.execute("SAVEPOINT s")
            connection.execute(insert)
            connection.execute("ROLLBACK TO s")
            connection.execute(insert)
            connection.execute("COMMIT")
        tell({"copy": number})


def make(connection: Connection, number: int, tell: Tell) -> None:
    """Make a table from a query, drop an older one, and begin again."""
    while True:
        number += 1
        tell({"try made": number})
        where = "" if number % 3 else "WHERE k < 10"
        connection.execute(
            f"CREATE TABLE made{number} PRIMARY KEY (k) AS SELECT k, w || 'x' AS w FROM src {where}"
        )
        tell({"made": number})
        connection.execute(f"DROP TABLE IF EXISTS made{max(0, number - KEPT_TABLES)}")


def update(connection: Connection, number: int, tell: Tell) -> None:
    """Set all rows of a table to one value after another."""
    while True:
        number += 1
        tell({"try u": number})
        connection.execute("UPDATE u SET v = ?", (number,))
        tell({"u": number})


def tidy(connection: Connection, number: int, tell: Tell) -> None:
    """Flush and compact for ever."""
    while True:
        connection.execute("FLUSH")
        for name in ("u", "big", "copy"):
            connection.execute(f"OPTIMIZE TABLE {name}")
        connection.execute("VACUUM")


def read(connection: Connection, number: int, tell: Tell) -> None:
    """Read for ever; whatever is seen is whole."""
    while True:
        check_whole(contents(connection))


def contents(connection: Connection) -> dict[str, Any]:
    """What each load left: rows by batch, rows of each made table, values of the other one."""
    found: dict[str, Any] = {}
    for name in ("big", "copy"):
        counted = connection.execute(
            f"SELECT batch, count(*), count(DISTINCT k) FROM {name} GROUP BY batch ORDER BY batch"
        )
        found[name] = [list(row) for row in counted.fetchall()]
    values = connection.execute("SELECT v, count(*) FROM u GROUP BY v").fetchall()
    found["u"] = [list(row) for row in values]
    names = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
    found["made"] = dict(made_tables(connection, names))
    return found


def made_tables(connection: Connection, names: list[str]) -> Iterator[tuple[str, int]]:
    """The tables that were made from queries and are still there, with their numbers of rows."""
    for name in names:
        if name.startswith("made"):
            try:
                (count,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
            except pykudu_sql.ProgrammingError:
                continue  # dropped meanwhile
            yield name.removeprefix("made"), count


def check_whole(found: dict[str, Any]) -> None:
    """Raises AssertionError: there is a part of a statement."""
    for name in ("big", "copy"):
        assert all(row[1:] == [ROWS, ROWS] for row in found[name]), (name, found[name])
        batches = [row[0] for row in found[name]]
        assert batches == list(range(1, len(batches) + 1)), (name, batches)
    assert [count for _, count in found["u"]] == [ROWS], found["u"]
    for number, count in found["made"].items():
        assert count == (ROWS if int(number) % 3 else 10), (number, count)


WRITERS: dict[str, Work] = {"big": append, "copy": copy, "made": make, "u": update}


def work_until_killed(path: str, state: dict[str, int], tell: Tell) -> None:
    """Let all threads go on for ever; one that fails ends the child with an error."""
    mutex = threading.Lock()

    def told(message: dict[str, Any]) -> None:
        with mutex:
            tell(message)

    def guarded(work: Work, start: int) -> None:
        try:
            work(connect(path), start, told)
        except BaseException as error:
            told({"failed": f"{work.__name__}: {error!r}"})
            raise

    works = [(work, state[name]) for name, work in WRITERS.items()]
    works += [(tidy, 0), (read, 0)]
    for work, start in works:
        threading.Thread(target=guarded, args=(work, start), daemon=True).start()
    time.sleep(60)


def report(path: str, tell: Tell) -> None:
    """Open and tell what is there, and what lies about."""
    with connect(path) as connection:
        tell(contents(connection))
    tell({"orphans": orphans(path)})


def main(folder: str, rounds: int, seed: int) -> dict[str, int]:
    """Run the rounds; raises AssertionError on the first thing that is not as acknowledged."""
    path = os.path.join(folder, "db")
    pa.array([1])  # loads what pyarrow loads late, once for all children
    pid, _ = in_child(lambda tell: create(path))
    assert os.waitpid(pid, 0)[1] == 0
    rng = random.Random(seed)
    state = dict.fromkeys(WRITERS, 0)
    counts = {"rounds": 0, **state}
    for number in range(rounds):
        pid, reader = in_child(lambda tell: work_until_killed(path, dict(state), tell))
        killed(pid, rng.uniform(0.5, 8.0))
        tried, done = dict(state), dict(state)
        for message in drain(reader):
            assert "failed" not in message, f"round {number}: {message}"
            for name in WRITERS:
                tried[name] = message.get(f"try {name}", tried[name])
                done[name] = message.get(name, done[name])
        pid, reader = in_child(lambda tell: report(path, tell))
        assert os.waitpid(pid, 0)[1] == 0, f"round {number}: the database does not open"
        found, about = drain(reader)
        check_whole(found)
        assert not about["orphans"], f"round {number}: {about['orphans']}"
        newest = {
            "big": len(found["big"]),
            "copy": len(found["copy"]),
            "u": found["u"][0][0],
            "made": max(map(int, found["made"]), default=0),
        }
        for name, value in newest.items():
            assert done[name] <= value <= tried[name], f"round {number}: {name} {value}"
            counts[name] += value - state[name]
            state[name] = value
        counts["rounds"] += 1
    return counts


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
