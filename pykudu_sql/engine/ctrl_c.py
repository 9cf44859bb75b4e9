"""Ctrl-C while other threads work for the main one: they stop, then KeyboardInterrupt is raised.

An exception raised in the middle of DuckDB's wait leaves its other threads at work, and DuckDB may
then wait for them for ever; one in the middle of a flush would come between two steps that belong
together. So a signal only requests the stop; the threads stop at a safe point.

Python calls a handler in the main thread, between two steps of it. That may be minutes away, since
DuckDB has the main thread work on a join as its others do; and an interrupt that comes before
DuckDB has begun is lost. So a thread that hears of signals at once interrupts the work until it has
ended.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from pykudu_sql.engine.signal_watch import watch_sigint
from pykudu_sql.storage.common.ctrl_c import INTERRUPT, SIGINT, handler_of, set_handler


class _Notice:
    """The handler of SIGINT within a block."""

    __slots__ = ("_interrupt", "_presses")

    def __init__(self, interrupt: Callable[[], None], presses: list[int]) -> None:
        self._interrupt, self._presses = interrupt, presses

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._presses.append(number)
        self._interrupt()


def _end_in_child() -> None:
    """Handle SIGINT as before in a child that another thread than the block's has forked."""
    if isinstance(handler_of(SIGINT), _Notice):
        set_handler(SIGINT, INTERRUPT)


os.register_at_fork(after_in_child=_end_in_child)


@contextmanager
def ctrl_c_interrupts(interrupt: Callable[[], None]) -> Iterator[None]:
    """Have SIGINT call `interrupt` meanwhile; programs with a handler of their own keep it.

    `interrupt`: also called from another thread.

    Raises KeyboardInterrupt: there was a SIGINT; its cause is what the work raised, if it did.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or handler_of(SIGINT) is not INTERRUPT:
        yield
        return
    presses: list[int] = []
    set_handler(SIGINT, _Notice(interrupt, presses))
    try:
        with watch_sigint(interrupt, presses):
            yield
    except Exception as error:
        if presses:
            raise KeyboardInterrupt from error
        raise
    finally:
        set_handler(SIGINT, INTERRUPT)
    if presses:
        raise KeyboardInterrupt
