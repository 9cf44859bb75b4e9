"""The lock of a module excludes threads, and a forked child finds it free."""

import os
import threading

import pytest

from pykudu_sql.storage.common.process_lock import ProcessLock

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def test_a_lock_that_is_held_is_not_to_be_had() -> None:
    lock = ProcessLock()
    with lock:
        assert not lock.acquire(timeout=0.01)
    assert lock.acquire(timeout=0)
    lock.release()
    with pytest.raises(RuntimeError):
        lock.release()


def test_a_child_made_while_another_thread_holds_the_lock_can_take_it() -> None:
    lock, held, over = ProcessLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(not lock.acquire(timeout=5))
    over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
