"""The result that was printed last, for `.last` and for what writes it in another format."""

from pykudu_sql.shell.output.printer import LastResult, PrintedResult
from pykudu_sql.shell.settings import UsageError


class LastPrinted:
    """Retains what a session printed last. Not safe for threads."""

    def __init__(self) -> None:
        """Nothing was printed."""
        self._printed: PrintedResult | None = None

    def forget(self) -> None:
        """Free the result, before the next one takes memory."""
        self._printed = None

    def retain(self, printed: PrintedResult | None, is_interactive: bool) -> str:
        """Retain a result and return its summary, which names `.last` where rows were left out.

        Args:
            printed: None if the user closed the pager before the end.
            is_interactive: whether a person types at a prompt.
        """
        if printed is None:
            return "stopped"
        self._printed = printed
        if is_interactive and not printed.is_whole and printed.retained:
            return f"{printed.summary}, .last shows all"
        return printed.summary

    def result(self) -> LastResult:
        """The rows. Raises UsageError: there are none, or they are gone."""
        if self._printed is None:
            raise UsageError("there is no result yet")
        if self._printed.retained is None:
            raise UsageError(
                "the last result is not in memory: tables printed on a terminal are, up to 64 MiB; "
                ".maxrows 0 and \\g run it again in full"
            )
        return self._printed.retained
