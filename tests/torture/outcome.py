"""How one fault ended, and the table of all."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """What came of one fault."""

    HELD = "held"
    NOT_FIRED = "not fired"
    LOST = "lost commits"
    WRONG = "wrong reads"
    UNNAMED = "unnamed refusals"
    OTHER = "other failures"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One fault and its end.

    Attributes:
        campaign: the row of the table that it counts in.
        what: enough to try it again.
        result: how it ended.
        detail: of a failure.
    """

    campaign: str
    what: str
    result: Result
    detail: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the database broke a promise."""
        return self.result not in (Result.HELD, Result.NOT_FIRED)


def table(outcomes: Iterable[Outcome]) -> tuple[str, int]:
    """The table of all outcomes, and how many of them are failures."""
    counts: dict[str, Counter[Result]] = {}
    for outcome in outcomes:
        counts.setdefault(outcome.campaign, Counter())[outcome.result] += 1
    failures = (Result.LOST, Result.WRONG, Result.UNNAMED, Result.OTHER)
    head = f"{'campaign':<52}{'fired':>9}" + "".join(f"{name:>18}" for name in failures)
    lines = [head]
    total = 0
    for campaign, found in counts.items():
        fired = found.total() - found[Result.NOT_FIRED]
        total += sum(found[name] for name in failures)
        lines.append(f"{campaign:<52}{fired:>9,}" + "".join(f"{found[f]:>18,}" for f in failures))
    return "\n".join(lines), total
