"""The end of a process whose daemon threads are in the middle of statements: soon, and silent."""

import subprocess
import sys
from pathlib import Path

import pytest

STORY = """
import sys, threading
import pyarrow as pa
import pykudu_sql

begun = threading.Event()

def endless():
    schema = pa.schema([("id", pa.int64()), ("a", pa.int32())])
    batch = pa.record_batch({"id": pa.array([7]), "a": pa.array([1], pa.int32())}, schema)
    while True:
        begun.set()
        yield batch

def work(conn, kind):
    threading.Timer(0.3, begun.set).start()
    if kind == "append":
        schema = pa.schema([("id", pa.int64()), ("a", pa.int32())])
        conn.append("t", pa.RecordBatchReader.from_batches(schema, endless()))
    elif kind == "fetch":
        conn.execute("select x.a from t x, t y, t z").fetchall()
    elif kind == "short":
        while True:
            try:
                conn.execute("upsert into t values (1, 1)")
            except Exception as error:
                print(error)
    else:
        conn.execute("select count(*) from t x, t y, t z where x.a + y.a * z.a = 7")

conn = pykudu_sql.connect(sys.argv[1], autocommit=True, result_memory_bytes=1000)
conn.execute("create table t (id bigint primary key, a int)")
conn.append("t", pa.table({"id": range(20_000), "a": pa.array(range(20_000), pa.int32())}))
threading.Thread(target=work, args=(conn, sys.argv[2]), daemon=True).start()
begun.wait()
"""


@pytest.mark.parametrize("kind", ["append", "fetch", "join", "short"])
@pytest.mark.parametrize("place", ["memory", "files"])
def test_a_daemon_thread_in_the_middle_of_a_statement_holds_nobody_up_and_prints_nothing(
    tmp_path: Path, place: str, kind: str
) -> None:
    path = ":memory:" if place == "memory" else str(tmp_path / "db")
    done = subprocess.run(
        [sys.executable, "-c", STORY, path, kind], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
