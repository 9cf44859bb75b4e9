"""Starting Spark in a way that can be given up: no JVM stays behind, and the next start is free.

Spark takes seconds to start, and more where its master does not answer; nothing in it can be
stopped meanwhile. So it starts in a thread of its own, while the caller looks whether it still
should. If not, the processes that this start made are killed, which ends the thread, too.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final

from pyspark import SparkContext
from pyspark.sql import SparkSession

_LOOK_SECONDS: Final = 0.05
_PATIENCE_SECONDS: Final = 0.5


def start_apart(
    build: Callable[[], SparkSession], mark: str, cancel_check: Callable[[], None]
) -> SparkSession:
    """A session that a thread of its own starts.

    Args:
        build: starts it.
        mark: a text in the command lines of the processes that `build` makes, and of no others.
        cancel_check: raises when the session is not wanted any more.

    Raises BaseException: what `build` or `cancel_check` raised; nothing that was started stays.
    """
    start = _Start(build, mark)
    start.thread.start()
    try:
        while not start.ended.wait(_LOOK_SECONDS):
            cancel_check()
        cancel_check()
    except BaseException:
        start.give_up()
        raise
    return start.session()


class _Start:
    """One start of a session. `thread`: that makes it; `ended`: set once that is over."""

    def __init__(self, build: Callable[[], SparkSession], mark: str) -> None:
        """Nothing runs yet."""
        self._build = build
        self._mark = mark
        self._session: SparkSession | None = None
        self._error: BaseException | None = None
        self._is_new = SparkContext._gateway is None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._work, name="spark-start", daemon=True)

    def _work(self) -> None:
        try:
            self._session = self._build()
        except BaseException as error:
            self._error = error
        finally:
            self.ended.set()

    def session(self) -> SparkSession:
        """What was made. Raises BaseException: it was not."""
        if self._session is None:
            raise self._error or RuntimeError("the start of Spark has not ended")
        return self._session

    def give_up(self) -> None:
        """Kill what was started; where the end takes long, it is waited for by another thread."""
        ending = threading.Thread(target=self._end, name="spark-start-end", daemon=True)
        ending.start()
        ending.join(_PATIENCE_SECONDS)

    def _end(self) -> None:
        while not self.ended.is_set():
            self._kill()
            self.ended.wait(_LOOK_SECONDS)
        if self._session is not None:
            self._session.stop()
        if self._is_new:
            self._kill()
            _forget_gateway()

    def _kill(self) -> None:
        for number in children(self._mark):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


def children(mark: str) -> Iterator[int]:
    """The processes that this one made whose command line has a text in it."""
    own = f"PPid:\t{os.getpid()}\n"
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                is_child = own in (folder / "status").read_text()
                if is_child and mark.encode() in (folder / "cmdline").read_bytes():
                    yield int(folder.name)


def _forget_gateway() -> None:
    """Let the next start make a JVM; Spark would talk to the one that was killed."""
    with SparkContext._lock:
        gateway = SparkContext._gateway
        SparkContext._gateway = SparkContext._jvm = None
        SparkSession._instantiatedSession = None
    if gateway is not None:
        with suppress(Exception):
            gateway.shutdown()
        gateway.proc.wait()


def end_jobs_on_interrupt(session: SparkSession) -> None:
    """Let Ctrl-C end the jobs of a session, as Spark does where the main thread starts it.

    A program that handles Ctrl-C itself goes on to.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    context = session.sparkContext

    def interrupt(number: int, frame: FrameType | None) -> None:
        try:
            context.cancelAllJobs()
        finally:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
