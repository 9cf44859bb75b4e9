"""Starting sessions: what must not be broken off is not."""

import os
import signal
import threading

import pytest

from pykudu_sql.spark.session import interrupts_put_off


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
