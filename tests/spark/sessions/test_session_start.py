"""Starts of Spark that are given up: they end, leave no JVM, and the next one is free."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pykudu_sql.spark.sessions.session_start import children, end_jobs_on_interrupt, start_apart
from pykudu_sql.storage.errors import OperationalError, QueryCancelledError

# In a process of its own, for this one has a session. The master is a port that never answers.
GIVEN_UP = """
import os, signal, socket, sys, threading, time
import pykudu_sql
from pykudu_sql.spark.sessions.session_start import children

silent = socket.create_server(("127.0.0.1", 0))
master = "spark://127.0.0.1:%d" % silent.getsockname()[1]
conn = pykudu_sql.connect(sys.argv[1], autocommit=True, engine="spark", spark_master=master)

def jvm_runs():
    return any(children("pykudu-spark-"))

def wait_until(condition):
    limit = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)

def tried(stop):
    thread = threading.Thread(target=lambda: (wait_until(jvm_runs), stop()))
    thread.start()
    try:
        conn.execute("SELECT k + 1 FROM t WHERE k > 0").fetchall()
    except (pykudu_sql.OperationalError, KeyboardInterrupt) as error:
        print(type(error).__name__, flush=True)
    thread.join()
    wait_until(lambda: not jvm_runs())

tried(conn.interrupt)
tried(lambda: os.kill(os.getpid(), signal.SIGINT))
conn.execute("SET statement_timeout = '3 s'")
tried(lambda: None)
conn.close()
conn = pykudu_sql.connect(sys.argv[1], autocommit=True, engine="spark", spark_master="local[1]")
print(conn.execute("SELECT k + 1 FROM t WHERE k > 0").fetchall())
"""


def test_a_statement_that_gives_up_leaves_no_jvm(path: str) -> None:
    import pykudu_sql

    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)")
        conn.execute("INSERT INTO t VALUES (1)")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(GIVEN_UP), path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    kinds = ["QueryCancelledError", "KeyboardInterrupt", "QueryCancelledError"]
    assert done.stdout.splitlines() == [*kinds, "[(2,)]"]


def test_what_a_start_raises_is_raised(spark: SparkSession) -> None:
    def fail() -> SparkSession:
        raise OperationalError("there is no Java")

    with pytest.raises(OperationalError, match="there is no Java"):
        start_apart(fail, "no such mark", lambda: None)
    assert start_apart(lambda: spark, "no such mark", lambda: None) is spark


def test_a_start_is_given_up_at_once(spark: SparkSession, tmp_path: Path) -> None:
    begun, free = threading.Event(), threading.Event()
    program = f"import sys; sys.stdin.read()  # {tmp_path}"

    def start() -> SparkSession:
        child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE)
        assert child.stdin is not None
        with child.stdin:
            begun.set()
            assert child.wait() == -signal.SIGKILL
        free.set()
        raise OSError("the JVM has gone")

    def stop() -> None:
        if begun.is_set():
            raise QueryCancelledError("the statement was interrupted")

    with pytest.raises(QueryCancelledError):
        start_apart(start, str(tmp_path), stop)
    assert free.wait(60)
    assert not list(children(str(tmp_path)))
    assert spark.range(3).count() == 3


def test_ctrl_c_ends_jobs_unless_the_program_handles_it(spark: SparkSession) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        end_jobs_on_interrupt(spark)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        own = signal.getsignal(signal.SIGINT)
        end_jobs_on_interrupt(spark)
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
