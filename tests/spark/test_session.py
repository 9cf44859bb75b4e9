"""Starting sessions: what must not be broken off is not."""

import logging
import os
import signal
import socket
import threading

import pytest
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from pykudu_sql.spark import worker_daemon
from pykudu_sql.spark.session import interrupts_put_off, local_workers


def test_an_interrupt_waits_for_the_start_of_spark() -> None:
    before = signal.getsignal(signal.SIGINT)
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_put_off():
        os.kill(os.getpid(), signal.SIGINT)
        done.append(1)
    assert done
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_spark_has_set_stays() -> None:
    before = signal.getsignal(signal.SIGINT)

    def other(*_: object) -> None:
        """Spark's."""

    try:
        with interrupts_put_off():
            signal.signal(signal.SIGINT, other)
        assert signal.getsignal(signal.SIGINT) is other
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_no_handlers_to_set() -> None:
    failed: list[BaseException] = []

    def start() -> None:
        try:
            with interrupts_put_off():
                pass
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert failed == []


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


def test_workers_that_spark_has_had_enough_of_end_in_silence(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark.conf.get("spark.python.daemon.module") == worker_daemon.__name__
    assert not local_workers("spark://host:7077")
    ours, theirs = socket.socketpair()
    theirs.close()

    def send(sock: socket.socket, authenticated: bool) -> int:
        sock.sendall(b"rows")
        return 0

    monkeypatch.setattr(worker_daemon, "_serve", send)
    with ours:
        assert worker_daemon.serve(ours, True) != 0
