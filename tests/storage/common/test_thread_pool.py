"""Pools that work to the end of the process."""

import subprocess
import sys

import pytest

from pykudu_sql.storage.common.thread_pool import ThreadPool

_AT_THE_END = """
import atexit, threading
from pykudu_sql.storage.common.thread_pool import ThreadPool

pool = ThreadPool(2)
threads = set(pool.map(lambda _: threading.get_ident(), range(20)))
assert threading.get_ident() not in threads

def work():
    own = threading.get_ident()
    assert list(pool.map(lambda _: threading.get_ident(), range(3))) == [own] * 3
    failing = pool.submit(int, "x")
    assert isinstance(failing.exception(), ValueError)
    print("worked", flush=True)

def outlive():
    threading.main_thread().join()
    work()

atexit.register(work)
threading.Thread(target=outlive).start()
"""


def test_calls_run_where_they_are_submitted_once_the_main_thread_has_ended() -> None:
    run = subprocess.run([sys.executable, "-c", _AT_THE_END], capture_output=True, text=True)

    assert (run.stdout.split(), run.stderr) == (["worked", "worked"], "")


_FORKED_LATE = """
import os, threading
from pykudu_sql.storage.common.thread_pool import ThreadPool

def outlive():
    threading.main_thread().join()
    if child := os.fork():
        os.waitpid(child, 0)
        return
    print(ThreadPool(2).submit(int, "7").result(), flush=True)
    os._exit(0)

threading.Thread(target=outlive).start()
"""


def test_a_child_that_a_late_thread_forks_works_too() -> None:
    run = subprocess.run([sys.executable, "-c", _FORKED_LATE], capture_output=True, text=True)

    assert (run.stdout, run.stderr) == ("7\n", "")


def test_a_pool_that_was_shut_down_takes_no_more_calls() -> None:
    pool = ThreadPool(1)
    pool.shutdown()

    with pytest.raises(RuntimeError, match="shutdown"):
        pool.submit(int)
