"""Ctrl-C that stops a statement and never the database in the middle of a write.

A KeyboardInterrupt may appear between any two instructions of the main thread, so the work runs in
another one. The main thread waits, and turns Ctrl-C into a request to cancel, which the database
answers at a place where it is safe.
"""

import threading
from collections.abc import Callable

# A request that arrives before the engine has begun is lost; repeating it is harmless.
_REPEAT_SECONDS = 0.1


def run_interruptibly(work: Callable[[], None], cancel: Callable[[], None]) -> None:
    """Run work to its end, calling `cancel` when the user presses Ctrl-C.

    Args:
        work: runs in another thread; whatever it raises is raised here.
        cancel: asks it to stop; called from this thread, more than once if need be.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed and the work has stopped. Its cause is what the work
            raised; without a cause the work was done before it could be stopped.
    """
    raised: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="statement").start()
    interrupted = _wait(done, cancel)
    error = raised[0] if raised else None
    if interrupted:
        raise KeyboardInterrupt from error
    if error is not None:
        raise error


def _wait(done: threading.Event, cancel: Callable[[], None]) -> bool:
    """Wait for the work; True if Ctrl-C was pressed meanwhile."""
    interrupted = False
    while not done.is_set():
        try:
            if interrupted:
                cancel()
            done.wait(_REPEAT_SECONDS if interrupted else None)
        except KeyboardInterrupt:
            interrupted = True
    return interrupted
