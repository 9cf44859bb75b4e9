"""Sessions that this program starts: their settings, and who tells what."""

import logging
import socket
import subprocess
import sys

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from pykudu_sql.spark.sessions import worker_daemon
from pykudu_sql.spark.sessions.session import local_settings


def test_why_a_job_failed_is_told_once(spark: SparkSession) -> None:
    # By the exception alone, and not in the log as well, there with all that was on the stack.
    assert spark._jvm is not None
    log4j = spark._jvm.org.apache.logging.log4j.LogManager
    v2 = "sql.execution.datasources.v2"
    told = ("executor.Executor", "scheduler.TaskSetManager", "util.Utils", f"{v2}.AppendDataExec")
    for name in (*told, f"{v2}.DataWritingSparkTask"):
        assert not log4j.getLogger(f"org.apache.spark.{name}").isFatalEnabled()
    assert log4j.getLogger("org.apache.spark.executor.other").isErrorEnabled()
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        assert not PySparkLogger.getLogger(name).isEnabledFor(logging.ERROR)


def test_workers_that_spark_has_had_enough_of_end_in_silence(spark: SparkSession) -> None:
    assert spark.conf.get("spark.python.daemon.module") == worker_daemon.__name__
    assert not local_settings("spark://host:7077")
    ours, theirs = socket.socketpair()
    theirs.close()

    def send(sock: socket.socket, authenticated: bool) -> int:
        sock.sendall(b"rows")
        return 0

    with ours:
        assert worker_daemon.serve(send, ours, True) != 0


SHOW_IMPORTED = f"""
import runpy, sys
from pyspark import daemon
daemon.manager = lambda: print(*sys.modules)
runpy.run_module({worker_daemon.__name__!r}, run_name="__main__")
"""


def test_what_tasks_import_is_imported_before_their_workers_are_forked() -> None:
    program = [sys.executable, "-c", SHOW_IMPORTED]
    done = subprocess.run(program, capture_output=True, check=True, text=True)
    assert {*worker_daemon.OF_TASKS, "numpy", "pyarrow"} <= set(done.stdout.split())
    worker_daemon.preload(["pykudu_sql.not_installed"])


def test_ports_of_a_local_spark_ask_for_a_secret(spark: SparkSession) -> None:
    assert spark.conf.get("spark.authenticate") == "true"
    # Others than these have a secret of their own, or Spark does not draw one for them.
    for master in ("spark://host:7077", "local-cluster[2,1,1024]"):
        assert "spark.authenticate" not in local_settings(master)
