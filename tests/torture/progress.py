"""What the campaign has come to so far: broken promises, a line from time to time, the table."""

import time
from collections.abc import Callable

from tests.torture.outcome import Outcome, table

LINE_EVERY_SECONDS = 10.0


class Progress:
    """Counts outcomes as they come."""

    def __init__(self, work: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing has come yet.

        Args:
            work: about how many seconds of processor time there will be.
            clock: in seconds.
        """
        self._work = work
        self._done = 0.0
        self._clock = clock
        self._begun = clock()
        self._told = self._begun
        self._outcomes: list[Outcome] = []
        self._asked = False

    def ask(self) -> None:
        """Have the table printed soon; called by a signal, in the middle of anything."""
        self._asked = True

    def add(self, outcomes: list[Outcome], work: float) -> None:
        """Take some outcomes in, and print those that are failures.

        Args:
            outcomes: of one piece.
            work: about how many seconds of processor time it took.
        """
        self._outcomes += outcomes
        self._done += work
        for outcome in outcomes:
            if outcome.is_failure:
                print(f"{outcome.campaign}, {outcome.what}: {outcome.detail}", flush=True)

    def tell(self) -> None:
        """Print the table if it was asked for, and how far it is if that was not done for long."""
        if self._asked:
            self._asked = False
            self.finish()
        elif self._clock() - self._told >= LINE_EVERY_SECONDS:
            self._told = self._clock()
            print(self.line(), flush=True)

    def line(self) -> str:
        """How far it is."""
        passed = self._clock() - self._begun
        failures = sum(outcome.is_failure for outcome in self._outcomes)
        tried, share = len(self._outcomes), self._done / self._work
        left = f", about {passed * (1 - share) / share:,.0f} s left" if share else ""
        return f"{passed:,.0f} s: {tried:,} tried ({share:.0%}), {failures:,} failures{left}"

    def finish(self) -> int:
        """Print the table; returns the number of failures."""
        text, failures = table(self._outcomes)
        print(f"{self.line()}\n{text}", flush=True)
        return failures
