"""What the collector gives up is closed by a thread that holds no mutex, what goes by itself at
once."""

import gc
import threading
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType

import pytest

from pykudu_sql.storage.common.finalizer import finalize, start_finalizer, wait_for_finalizers

PATIENCE = 60.0


class Resource:
    """Refers to itself, so that only the collector finds it."""

    def __init__(self, close: Callable[[], object]) -> None:
        self._close = close
        self.itself: Resource | None = self

    def __del__(self) -> None:
        finalize(self._close)


@pytest.fixture(autouse=True)
def _no_collection_by_itself() -> Iterator[None]:
    start_finalizer()
    gc.collect()
    wait_for_finalizers()
    gc.disable()
    yield
    gc.enable()


def test_what_goes_by_itself_is_closed_at_once_by_its_thread() -> None:
    closed: list[str] = []
    resource = Resource(lambda: closed.append(threading.current_thread().name))
    resource.itself = None
    del resource
    assert closed == [threading.current_thread().name]


def test_what_the_collector_finds_is_closed_by_the_finalizers_thread() -> None:
    closed: list[str] = []
    Resource(lambda: closed.append(threading.current_thread().name))
    gc.collect()
    wait_for_finalizers()
    assert closed == ["pykudu-finalizer"]


def test_a_collection_does_not_wait_for_a_mutex_that_its_own_thread_holds() -> None:
    mutex = threading.Lock()
    closed: list[bool] = []

    def close() -> None:
        with mutex:
            closed.append(True)

    Resource(close)
    with mutex:
        gc.collect()
        assert closed == []
    wait_for_finalizers()
    assert closed == [True]


def test_the_collector_calls_no_code_of_ours_in_which_ctrl_c_would_raise_for_nobody() -> None:
    in_python = [each for each in gc.callbacks if isinstance(each, FunctionType | MethodType)]
    assert not [each for each in in_python if each.__module__.startswith("pykudu_sql")]


def test_what_a_close_raises_stops_none_behind_it() -> None:
    closed: list[bool] = []

    def refuse() -> None:
        raise RuntimeError("no")

    Resource(refuse)
    gc.collect()
    Resource(lambda: closed.append(True))
    gc.collect()
    wait_for_finalizers()
    assert closed == [True]


def test_waiting_within_a_close_does_not_wait_for_itself() -> None:
    ended = threading.Event()
    Resource(lambda: (wait_for_finalizers(), ended.set()))
    gc.collect()
    assert ended.wait(PATIENCE)
