"""The end of a process that has not closed its connections: DuckDB has nothing to say about it."""

import subprocess
import sys
from pathlib import Path

import pytest

STORY = """
import sys, threading
import pyarrow as pa
import pykudu_sql

begun = threading.Event()

def work():
    connection = pykudu_sql.connect(
        sys.argv[1], autocommit=True, scan_memory_bytes=0, result_memory_bytes=0
    )
    connection.execute("create table t (id bigint primary key, word string)")
    connection.append("t", pa.table({"id": range(200_000), "word": ["x"] * 200_000}))
    cursor = connection.execute("select repeat(word, 3) from t")
    cursor.fetchone() if sys.argv[2] == "half read" else cursor.fetchall()
    begun.set()
    threading.Event().wait()

threading.Thread(target=work, daemon=True).start()
begun.wait()
"""


@pytest.mark.parametrize("read", ["half read", "read"])
@pytest.mark.parametrize("place", ["memory", "files"])
def test_a_connection_that_a_daemon_thread_keeps_to_the_end_prints_nothing(
    tmp_path: Path, place: str, read: str
) -> None:
    path = ":memory:" if place == "memory" else str(tmp_path / "db")
    done = subprocess.run(
        [sys.executable, "-c", STORY, path, read], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
