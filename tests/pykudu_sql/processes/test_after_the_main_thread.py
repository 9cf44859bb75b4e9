"""Statements of `atexit` handlers and of threads that outlive the main one."""

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import asyncio, atexit, sys, threading
import pyarrow as pa
import pykudu_sql
from pykudu_sql import aio

path, way = sys.argv[1:]
connection = pykudu_sql.connect(path, autocommit=True)
cursor = connection.cursor()
cursor.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT) PARTITION BY HASH (k) PARTITIONS 4")
for first in range(0, 400_000, 200_000):
    rows = pa.array(range(first, first + 200_000))
    connection.append("t", pa.table({"k": rows, "v": rows}))
    cursor.execute("FLUSH TABLE t")
assert cursor.execute("SELECT count(*) FROM t WHERE v % 2 = 1").fetchall() == [(200_000,)]

async def count_awaited():
    async with await aio.connect(path) as other:
        return await (await other.execute("SELECT count(*) FROM t WHERE v % 2 = 1")).fetchall()

def work():
    assert cursor.execute("SELECT count(*) FROM t WHERE v % 2 = 1").fetchall() == [(200_000,)]
    assert len(cursor.execute("SELECT * FROM t").fetchall()) == 400_000
    cursor.execute("INSERT INTO t SELECT k + 1000000, v FROM t")
    assert cursor.execute("UPDATE t SET v = v + 1").rowcount == 800_000
    assert asyncio.run(count_awaited()) == [(400_000,)]
    connection.close()
    print("worked", flush=True)

def outlive():
    threading.main_thread().join()
    work()

if way == "atexit":
    atexit.register(work)
else:
    threading.Thread(target=outlive).start()
"""


@pytest.mark.parametrize("way", ["atexit", "thread"])
def test_statements_run_after_the_main_thread_has_ended(way: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path / "my.db"), way]
    run = subprocess.run(command, capture_output=True, text=True)

    assert (run.stdout, run.stderr) == ("worked\n", "")
