"""A check that ends the reading of a stream with the statement that it serves."""

from pykudu_sql.executor.session_state import SessionState


class StatementCheck:
    """Raises once the statement that a stream serves is to stop.

    Engines read ahead; what stops a statement that runs meanwhile is not about the stream.
    """

    def __init__(self, state: SessionState) -> None:
        """The statement is the one that runs now. `state`: of its session."""
        self._cancellation = state.cancellation
        self._number = state.cancellation.number

    def serve_running(self) -> None:
        """Count further reads of the stream for the statement that runs now."""
        self._number = self._cancellation.number

    def __call__(self) -> None:
        """Raises QueryCancelledError: the statement was interrupted, or took too long."""
        self._cancellation.check_for(self._number)
