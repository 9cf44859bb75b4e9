"""Threads that compute without Python run behind those of the program, where Linux lets them."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pykudu_sql.storage.common.thread_priority import (
    BACKGROUND_NICENESS,
    at_lower_priority,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities on Linux")


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def on_a_thread(work: Callable[[], int]) -> int:
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def behind_the_first_thread() -> int:
    usual = os.getpriority(os.PRIO_PROCESS, os.getpid())
    return min(19, usual + BACKGROUND_NICENESS)


def test_threads_that_a_call_starts_run_behind_and_the_caller_keeps_its_priority() -> None:
    before = niceness()
    assert at_lower_priority(lambda: on_a_thread(niceness)) == behind_the_first_thread()
    assert at_lower_priority(lambda: at_lower_priority(niceness)) == behind_the_first_thread()
    assert niceness() == before


def test_a_thread_that_has_an_even_lower_priority_hands_that_on() -> None:
    def call() -> int:
        os.setpriority(os.PRIO_PROCESS, 0, 19)
        return at_lower_priority(niceness)

    assert on_a_thread(call) == 19


def test_what_a_call_at_lower_priority_raises_comes_through() -> None:
    def fail() -> None:
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        at_lower_priority(fail)


def test_a_priority_that_the_system_refuses_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(which: int, who: int, priority: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    assert at_lower_priority(niceness) == niceness()


def test_other_systems_are_asked_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert at_lower_priority(threading.get_ident) == threading.get_ident()


def test_a_process_without_more_threads_makes_the_call_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert at_lower_priority(threading.get_ident) == threading.get_ident()


_PROGRAM = """
import os, sys, threading
import pykudu_sql

def tasks():
    return {int(task) for task in os.listdir("/proc/self/task")}

def behind(task):
    return os.getpriority(os.PRIO_PROCESS, task) - os.getpriority(os.PRIO_PROCESS, os.getpid())

import duckdb, pyarrow
before = tasks()
with pykudu_sql.connect(sys.argv[1], autocommit=True, threads=3) as connection:
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT)"
                       " PARTITION BY HASH(id) PARTITIONS 2")
    connection.append("t", pyarrow.table({"id": range(300_000), "v": range(300_000)}))
    print(connection.execute("SELECT sum(v) FROM t").fetchone()[0])
    of_python = {thread.native_id for thread in threading.enumerate()}
    of_engine = tasks() - before - of_python
    print(len(of_engine) >= 2, {behind(task) for task in of_engine})
    print({behind(task) for task in before | of_python})
    if not os.fork():
        print({behind(task) for task in tasks()}, flush=True)
        os._exit(0)
    os.wait()
print({behind(task) for task in tasks()})
"""


def test_the_engines_threads_run_behind_those_that_run_python_and_end_with_the_database(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _PROGRAM, str(tmp_path / "db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        str(sum(range(300_000))),
        f"True {{{BACKGROUND_NICENESS}}}",
        "{0}",
        "{0}",
        "{0}",
    ]
