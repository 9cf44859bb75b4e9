"""Races: several contestants do the same work, taking turns, and are timed in wall and CPU time.

What makes the figures comparable on a machine that others use too:

- Contestants alternate within each round, and each round starts with another one, so a slow minute
  hits all of them and no one always runs on the other's warm caches.
- A ratio is the median of the rounds' ratios, each of two times taken seconds apart.
- The reference contestant runs twice a round. The ratio of its two times (A/A) should be 1; how far
  it is from 1 is how far the other ratios are to be trusted.
- Answers are compared before anything is timed. A contestant with a wrong answer has no time.
"""

import gc
import operator
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

CALIBRATION_TRIES = 12


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed turn.

    Attributes:
        operations: how many operations were done.
        wall: elapsed seconds of the turn.
        cpu: seconds of processor time of all threads of this process, user and system.
    """

    operations: int
    wall: float
    cpu: float


def _nothing() -> None:
    """The default preparation."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """One engine doing one kind of work.

    Attributes:
        name: as shown in the report.
        run: does the given number of operations; this alone is timed.
        prepare: puts things back before a turn; not timed.
        answer: what the work yields, to be compared by `Race.same`; None if there is nothing to
            compare.
    """

    name: str
    run: Callable[[int], None]
    prepare: Callable[[], None] = _nothing
    answer: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """What `subject` has to reach: the time of `against` divided by its own, at least `ratio`."""

    subject: str
    against: str
    ratio: float


@dataclass(frozen=True, slots=True)
class Race:
    """A task and those who do it.

    Attributes:
        name: short name.
        title: one line that says exactly what one operation is.
        reference: name of the contestant that runs twice.
        contestants: all of them.
        rounds: how many timed turns each gets.
        turn_seconds: how long a turn should last; operations are chosen for it. 0 means one
            operation a turn.
        goals: what should come out.
        same: whether two answers are the same one.
    """

    name: str
    title: str
    reference: str
    contestants: Sequence[Contestant]
    rounds: int
    turn_seconds: float = 0.0
    goals: Sequence[Goal] = ()
    same: Callable[[Any, Any], bool] = operator.eq


@dataclass(slots=True)
class Result:
    """What came out of a race: samples by contestant, in the order of the rounds.

    Attributes:
        race: the race that was run.
        samples: the timed turns by contestant.
        control: the second turn of the reference in each round.
        failures: what went wrong, by contestant; those have no samples.
    """

    race: Race
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    control: list[Sample] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def seconds(self, name: str) -> float:
        """Median wall seconds an operation."""
        return statistics.median(s.wall / s.operations for s in self.samples[name])

    def cpu_seconds(self, name: str) -> float:
        """Median processor seconds an operation."""
        return statistics.median(s.cpu / s.operations for s in self.samples[name])

    def spread(self, name: str) -> float:
        """Slowest turn over fastest."""
        times = [s.wall / s.operations for s in self.samples[name]]
        return max(times) / min(times)

    def ratio(self, slower: str, faster: str) -> float:
        """Median over the rounds of time of `slower` / time of `faster`."""
        return _paired_ratio(self.samples[slower], self.samples[faster])

    def noise(self) -> float | None:
        """The A/A ratio, or None if the reference did not run."""
        samples = self.samples.get(self.race.reference)
        return _paired_ratio(self.control, samples) if samples and self.control else None


def _paired_ratio(above: Sequence[Sample], below: Sequence[Sample]) -> float:
    return statistics.median(
        (a.wall / a.operations) / (b.wall / b.operations) for a, b in zip(above, below, strict=True)
    )


def run_race(race: Race) -> Result:
    """Check the answers, warm up, then let the contestants take turns.

    A contestant that raises or answers wrongly is out; the others go on.
    """
    result = Result(race)
    operations = {}
    for contestant in race.contestants:
        try:
            operations[contestant.name] = _warm_up(contestant, race.turn_seconds)
        except Exception as error:
            result.failures[contestant.name] = _describe(error)
    _compare_answers(race, operations, result)
    for round_number in range(race.rounds):
        for contestant, is_control in _alternation(race, operations, round_number):
            if contestant.name in result.failures:
                continue
            try:
                sample = _timed(contestant, operations[contestant.name])
            except Exception as error:
                result.failures[contestant.name] = _describe(error)
                continue
            if is_control:
                result.control.append(sample)
            else:
                result.samples.setdefault(contestant.name, []).append(sample)
    for name in result.failures:
        result.samples.pop(name, None)
    return result


def _alternation(
    race: Race, operations: dict[str, int], round_number: int
) -> list[tuple[Contestant, bool]]:
    """The turns of one round, rotated by one place each round; the control is a turn of its own."""
    order = [(c, False) for c in race.contestants if c.name in operations]
    order += [(c, True) for c, _ in order if c.name == race.reference]
    if not order:
        return order
    shift = round_number % len(order)
    return order[shift:] + order[:shift]


def _warm_up(contestant: Contestant, turn_seconds: float) -> int:
    """Run until a turn lasts about `turn_seconds`; the number of operations that takes."""
    operations = 1
    if turn_seconds:
        _timed(contestant, operations)  # what is made or loaded once must not count as slow
    for _ in range(CALIBRATION_TRIES if turn_seconds else 1):
        sample = _timed(contestant, operations)
        if sample.wall >= turn_seconds / 2:
            break
        operations = min(
            operations * 20, int(operations * turn_seconds / max(sample.wall, 1e-7)) + 1
        )
    return operations


def _timed(contestant: Contestant, operations: int) -> Sample:
    contestant.prepare()
    gc.collect()
    cpu = cpu_seconds()
    start = time.perf_counter()
    contestant.run(operations)
    wall = time.perf_counter() - start
    return Sample(operations, wall, cpu_seconds() - cpu)


def cpu_seconds() -> float:
    """Seconds of processor time of all threads of this process so far, user and system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _compare_answers(race: Race, operations: dict[str, int], result: Result) -> None:
    """Put out whoever answers differently from the reference (or from the first that answers)."""
    ordered = sorted(race.contestants, key=lambda c: c.name != race.reference)
    expected: object = None
    for contestant in ordered:
        if contestant.answer is None or contestant.name not in operations:
            continue
        try:
            answer = contestant.answer()
        except Exception as error:
            result.failures[contestant.name] = _describe(error)
            continue
        if expected is None:
            expected = answer
        elif not race.same(answer, expected):
            result.failures[contestant.name] = f"wrong answer: {str(answer)[:200]}"


def _describe(error: Exception) -> str:
    first_line = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first_line[:200]}"
