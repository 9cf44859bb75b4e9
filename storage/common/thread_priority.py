"""Threads that compute without Python let those go first that have little to do, on Linux.

A statement by key takes a fraction of a millisecond. Where every processor is busy, its thread
waits for the end of a slice of time, or for the next tick of the clock (4 ms), unless those at work
have a lower priority: then it has the processor as soon as it wakes. Where nothing else wants to
run, priorities change nothing; where something does, a thread behind still gets a quarter of a
processor.

That is for threads which seldom hold the interpreter's lock. One that holds it and has to wait for
the processor makes every statement wait; so threads that run Python keep the usual priority, as do
those of the program, which without privileges could not be raised again.
"""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

BACKGROUND_NICENESS: Final = 5
_MOST: Final = 19
_THIS_THREAD: Final = 0

_Result = TypeVar("_Result")


def at_lower_priority(work: Callable[[], _Result]) -> _Result:
    """What a call returns or raises, made on a thread of lower priority where there are such.

    Threads that it starts have that priority for good; the calling thread keeps its own. Where the
    system refuses the priority, or the thread, the call is made all the same.
    """
    if sys.platform != "linux":  # elsewhere only whole processes have priorities
        return work()
    results: list[_Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        with suppress(OSError):
            _lower_priority()
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, name="pykudu-start", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the process has no more threads, or is about to end
        return work()
    thread.join()
    if failures:
        raise failures.pop()
    return results.pop()


def _lower_priority() -> None:
    """Put this thread behind the first one of the process, unless it is there."""
    usual = os.getpriority(os.PRIO_PROCESS, os.getpid())
    niceness = min(usual + BACKGROUND_NICENESS, _MOST)
    if os.getpriority(os.PRIO_PROCESS, _THIS_THREAD) < niceness:
        os.setpriority(os.PRIO_PROCESS, _THIS_THREAD, niceness)
