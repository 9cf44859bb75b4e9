"""Stopping a statement: on request, or because it takes longer than `statement_timeout`.

A statement checks for a request between its steps, between the stretches of a scan and before the
engine runs. The engine cannot check; it is interrupted from another thread, repeatedly until the
statement has ended, since an interrupt before the engine has begun is lost. A request cancels the
statement that runs when it is made, never the next one. A request while none runs cancels the
streamed results that are still being fetched, between two of their batches.

Closing the connection is a request after which no statement begins.
"""

import threading
import time
from collections.abc import Callable

from pykudu_sql.engine.process_end import check_process, stop_before_exit
from pykudu_sql.storage.errors import InterfaceError, QueryCancelledError

_INTERRUPT_INTERVAL = 0.02
_ON_REQUEST = "the statement was interrupted"
_ON_CLOSE = "the statement was interrupted: its connection was closed"
_ON_EXIT = "the statement was interrupted: the process ends"


class Cancellation:
    """Whether the running statement of one session should stop. Safe for threads.

    `at_work`: a statement holds it from before its `begin` until behind its `end`, by `with`:
    Python leaves that, other than code of ours, whenever Ctrl-C comes.
    """

    __slots__ = (
        "__weakref__", "_interrupt_engine", "_is_closed", "_lock", "_reason", "_requests",
        "_statement_count", "_timer", "at_work",
    )  # fmt: skip

    def __init__(self, interrupt_engine: Callable[[], None]) -> None:
        """No statement runs yet.

        `interrupt_engine`: stops what the engine does at the moment, if anything.
        """
        self._interrupt_engine = interrupt_engine
        self._lock = threading.Lock()
        self._statement_count = 0
        self.at_work = threading.Lock()
        self._requests = 0  # while nothing ran
        self._reason: str | None = None
        self._timer: threading.Timer | None = None
        self._is_closed = False
        stop_before_exit(self)

    @property
    def running(self) -> int:
        """The number of the statement that has begun and not ended; 0 if there is none."""
        return self._statement_count if self.at_work.locked() else 0

    def begin(self, timeout: int, elapsed: float = 0.0) -> None:
        """A statement begins, or goes on; it holds `at_work`.

        Args:
            timeout: milliseconds that it may take; 0 for as long as it needs.
            elapsed: seconds of them that it has taken before.

        Raises QueryCancelledError: those are all that it may take; InterfaceError: the connection
        is closed; SystemExit: the process ends, and this thread is left over.
        """
        if timeout and timeout / 1000 <= elapsed:
            raise QueryCancelledError(_too_long(timeout))
        with self._lock:
            if self._is_closed:
                raise InterfaceError("the connection is closed")
            self._statement_count += 1
            check_process()  # the end of the process waits for who holds `at_work`
            self._reason = None
            if timeout:
                arguments = (self._statement_count, _too_long(timeout))
                self._timer = threading.Timer(timeout / 1000 - elapsed, self._stop, arguments)
                self._timer.daemon = True
                self._timer.start()

    def end(self) -> None:
        """The statement has ended, however it did; it lets go of `at_work` next.

        Raises SystemExit: so does the process, and this thread is left over.
        """
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        check_process()

    def request(self) -> None:
        """Ask the running statement to stop; if none runs, the results that are read on.

        Returns at once.
        """
        number = self.running
        if not number:
            self._requests += 1
        elif self._reason is None:
            self._start_to_stop(number, _ON_REQUEST)

    def close(self) -> None:
        """Ask the running statement to stop, and let no other begin. Returns at once."""
        with self._lock:
            self._is_closed = True
        number = self.running
        if number:
            self._start_to_stop(number, _ON_CLOSE)

    def stop_at_exit(self) -> bool:
        """See Stoppable."""
        return self._press(self.running, _ON_EXIT)

    def _start_to_stop(self, number: int, reason: str) -> None:
        threading.Thread(target=self._stop, args=(number, reason), daemon=True).start()

    def check(self) -> None:
        """A place where the statement can stop without harm.

        Raises QueryCancelledError: it was cancelled, or took too long.
        """
        if self._reason is not None:
            raise QueryCancelledError(self._reason)

    @property
    def number(self) -> int:
        """Of the statement that runs, or of the last one that did."""
        return self._statement_count

    def check_for(self, number: int) -> None:
        """`check` for the work of one statement, which another one may run beside.

        Raises QueryCancelledError: that statement was cancelled, or took too long.
        """
        reason = self._reason  # before the number: one of a later statement is not this one's
        if reason is not None and self._statement_count == number:
            raise QueryCancelledError(reason)

    def fetch_check(self) -> Callable[[], None]:
        """A check for a result that begins now, to be made before it is read on.

        It raises QueryCancelledError once a request has come between two batches.
        """
        requests = self._requests

        def check() -> None:
            if self._requests != requests:
                raise QueryCancelledError(_ON_REQUEST)

        return check

    def _stop(self, number: int, reason: str) -> None:
        """Have one statement stop; returns when it has."""
        while self._press(number, reason):
            time.sleep(_INTERRUPT_INTERVAL)

    def _press(self, number: int, reason: str) -> bool:
        """Ask one statement to stop; False where it has."""
        with self._lock:
            if not number or self.running != number:
                return False
            if self._reason is None:
                self._reason = reason
            self._interrupt_engine()
            return True


def _too_long(timeout: int) -> str:
    return f"the statement took longer than statement_timeout, {timeout} ms"
