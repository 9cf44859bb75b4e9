"""Ctrl-C reaches the work as a request, never as an exception inside it."""

import os
import signal
import threading

import pytest

from pykudu_sql.shell.editing.interruptible import run_interruptibly


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def never() -> None:
    raise AssertionError("nobody pressed Ctrl-C")


def test_work_runs_to_its_end() -> None:
    done = []
    run_interruptibly(lambda: done.append(1), never)
    assert done == [1]


def test_an_error_of_the_work_is_raised_to_the_caller() -> None:
    def work() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        run_interruptibly(work, never)


def test_ctrl_c_asks_the_work_to_stop_and_waits_for_it() -> None:
    stop = threading.Event()
    finished = []

    def work() -> None:
        press_ctrl_c()
        assert stop.wait(60)
        finished.append(1)
        raise LookupError("cancelled")

    with pytest.raises(KeyboardInterrupt) as caught:
        run_interruptibly(work, stop.set)
    assert finished == [1]
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_request_that_is_lost_is_repeated() -> None:
    enough = threading.Event()
    requests = []

    def cancel() -> None:
        requests.append(1)
        if len(requests) == 3:
            enough.set()

    def work() -> None:
        press_ctrl_c()
        assert enough.wait(60)

    with pytest.raises(KeyboardInterrupt) as caught:
        run_interruptibly(work, cancel)
    assert caught.value.__cause__ is None
