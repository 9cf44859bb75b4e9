"""Ctrl-C that stops a statement and never the database in the middle of a write.

A KeyboardInterrupt may appear between any two instructions of the main thread, so the work runs in
another one and Ctrl-C raises nothing meanwhile: it becomes a request to cancel, which the database
answers at a place where it is safe.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Also how often the request is repeated: one that comes before the engine has begun is lost.
_POLL_SECONDS = 0.05


def run_interruptibly(
    work: Callable[[], None], cancel: Callable[[], None], wait: Callable[[], None] = lambda: None
) -> None:
    """Run work to its end, calling `cancel` when the user presses Ctrl-C. Main thread only.

    Args:
        work: runs in another thread; whatever it raises is raised here.
        cancel: requests that it stops; called from this thread, more than once if need be.
        wait: called from this thread many times a second until the work has ended.

    Raises KeyboardInterrupt: Ctrl-C was pressed and the work has stopped. Its cause is what the
    work raised; without a cause the work was done before it could be stopped.
    """
    raised: list[BaseException] = []
    has_ended = threading.Event()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            has_ended.set()

    with _collect_ctrl_c() as presses:
        threading.Thread(target=run, name="statement").start()
        while not has_ended.wait(_POLL_SECONDS):
            if presses:
                cancel()
            wait()
    error = raised[0] if raised else None
    if presses:
        raise KeyboardInterrupt from error
    if error is not None:
        raise error


@contextmanager
def _collect_ctrl_c() -> Iterator[list[int]]:
    """Collect SIGINT in a list instead of raising; a process that ignores SIGINT still does."""
    presses: list[int] = []

    def notice(number: int, frame: FrameType | None) -> None:
        presses.append(number)

    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield presses
        return
    signal.signal(signal.SIGINT, notice)
    try:
        yield presses
    finally:
        signal.signal(signal.SIGINT, before)
