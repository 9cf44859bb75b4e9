"""SIGINT while the main thread is where Python calls no handler."""

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.engine import signal_watch
from pykudu_sql.engine.ctrl_c import ctrl_c_interrupts
from pykudu_sql.engine.signal_watch import watch_sigint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


@pytest.fixture(autouse=True)
def _handler() -> Iterator[list[int]]:
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    yield noted
    signal.signal(signal.SIGINT, before)


def test_a_signal_interrupts_the_work_until_it_has_ended(_handler: list[int]) -> None:
    pressed: list[str] = []
    with watch_sigint(lambda: pressed.append(threading.current_thread().name), _handler):
        os.kill(os.getpid(), signal.SIGINT)
        while len(pressed) < 3:
            time.sleep(0.001)
    count = len(pressed)
    assert set(pressed) == {"pykudu-ctrl-c"}
    with watch_sigint(lambda: pressed.append("the next work"), []):
        time.sleep(0.05)
    assert len(pressed) == count


def test_one_that_came_before_interrupts_too() -> None:
    pressed = threading.Event()
    with watch_sigint(pressed.set, [signal.SIGINT]):
        assert pressed.wait(60)


def test_nothing_is_watched_where_the_handler_of_another_signal_raises_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class AlarmError(Exception):
        """What the handler raises."""

    def set_and_raise(descriptor: int, *, warn_on_full_buffer: bool) -> int:
        monkeypatch.undo()
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=warn_on_full_buffer)
        raise AlarmError

    with watch_sigint(lambda: None, []):
        pass
    monkeypatch.setattr(signal_watch, "set_wakeup", set_and_raise)
    with pytest.raises(AlarmError), watch_sigint(lambda: None, []):
        pass
    assert signal.set_wakeup_fd(-1) == -1


def test_signals_are_passed_on_to_a_pipe_that_was_there() -> None:
    source, target = os.pipe()
    os.set_blocking(target, False)
    before = signal.set_wakeup_fd(target)
    try:
        with watch_sigint(lambda: None, []):
            os.kill(os.getpid(), signal.SIGINT)
            assert os.read(source, 9) == bytes([signal.SIGINT])
        assert signal.set_wakeup_fd(before) == target
    finally:
        signal.set_wakeup_fd(before)
        os.close(source)
        os.close(target)


def test_ctrl_c_ends_a_join_that_the_engine_computes_in_the_main_thread() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("create table t (id bigint primary key, a int)")
        rows = pa.table({"id": range(20_000), "a": pa.array(range(20_000), pa.int32())})
        connection.append("t", rows)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            connection.execute("select count(*) from t x, t y, t z where x.a + y.a * z.a = 7")
        timer.join()
        assert connection.execute("select count(*) from t").fetchall() == [(20_000,)]


def test_a_child_that_another_thread_forks_meanwhile_hears_of_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    statuses: list[int] = []

    def fork() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads beside a fork
            child = os.fork()
        if not child:
            os._exit(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    with ctrl_c_interrupts(lambda: None):
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
    assert statuses == [0]
