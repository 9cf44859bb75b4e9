"""The statements that an open store has run: counters by text, as `pg_stat_statements` has them.

Each session counts its own statements in counters that only it changes (`StatementCounts`), which
costs a tenth of a microsecond a statement and no lock. They are added to the log when the session
has no more use for them; whoever reads the log adds what sessions still count. At most
`MOST_STATEMENTS` texts are kept: those called least make way, and count in the sums only.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from pykudu_sql.dataclass import dataclass

MOST_STATEMENTS = 1000
_RETAINED_SHARE = 0.95


@dataclass(slots=True)
class StatementCounts:
    """Runs of statements with one text.

    Attributes:
        calls: that succeeded.
        failures: calls that did not.
        rows: changed or found; those that are computed while they are fetched count for none.
        seconds: of all calls that succeeded, planning included.
        longest: of these calls.
    """

    calls: int = 0
    failures: int = 0
    rows: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def add(self, other: "StatementCounts") -> None:
        """Count what another one has counted."""
        self.calls += other.calls
        self.failures += other.failures
        self.rows += other.rows
        self.seconds += other.seconds
        self.longest = max(self.longest, other.longest)

    def clear(self) -> None:
        """Begin anew."""
        self.calls = self.failures = self.rows = 0
        self.seconds = self.longest = 0.0


Counted = Iterable[tuple[str, StatementCounts]]


class StatementLog:
    """The statements of all sessions of a store, by their normalised texts. Safe for threads.

    `slow`: how many took longer than their session logs.
    """

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.slow = 0
        self._by_text: dict[str, StatementCounts] = {}
        self._sums = StatementCounts()
        self._sessions: list[Callable[[], Counted]] = []
        self._lock = threading.Lock()

    def follow(self, session: Callable[[], Counted]) -> None:
        """A session has begun. `session`: what it still counts, with the texts."""
        with self._lock:
            self._sessions.append(session)

    def leave(self, session: Callable[[], Counted]) -> None:
        """A session has ended; what it still counts is added here."""
        rest = list(session())
        with self._lock:
            self._sessions = [each for each in self._sessions if each != session]
        for text, counts in rest:
            self.add(text, counts)

    def add(self, text: str, counts: StatementCounts) -> None:
        """Add what a session has counted for a text, and will count no more."""
        if not counts.calls and not counts.failures:
            return
        with self._lock:
            self._sums.add(counts)
            sums = self._by_text.get(text)
            if sums is None:
                self._by_text[text] = sums = StatementCounts()
            sums.add(counts)
            if len(self._by_text) > MOST_STATEMENTS:
                often = sorted(self._by_text.items(), key=lambda each: -each[1].calls)
                self._by_text = dict(often[: int(MOST_STATEMENTS * _RETAINED_SHARE)])

    def rows(self) -> Iterator[tuple[str, StatementCounts]]:
        """The texts with their counters now, those that took longest together first."""
        with self._lock:
            counts_by_text = {text: replace(counts) for text, counts in self._by_text.items()}
            for session in self._sessions:
                for text, counts in session():
                    if counts.calls or counts.failures:
                        counts_by_text.setdefault(text, StatementCounts()).add(counts)
        return iter(sorted(counts_by_text.items(), key=lambda each: -each[1].seconds))

    def sums(self) -> StatementCounts:
        """Of all statements since the store was opened, those that made way or were reset too."""
        with self._lock:
            sums = replace(self._sums)
            for session in self._sessions:
                for _, counts in session():
                    sums.add(counts)
        return sums

    def reset(self) -> None:
        """Forget the texts; the sums stay."""
        with self._lock:
            self._by_text = {}
            for session in self._sessions:
                for _, counts in session():
                    self._sums.add(counts)
                    counts.clear()
