"""The outcome of a run, for reading (a table for each race) and for programs (JSON)."""

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.harness import Goal, Result


def format_result(result: Result) -> str:
    """One race as a table: time, rate, processor time, spread, and ours against each."""
    race = result.race
    ours = _first_subject(result)
    header = ("", "time", "rate", "cpu", "spread", f"/ {ours}" if ours else "")
    rows = [header]
    for name in result.samples:
        seconds = result.seconds(name)
        against = f"{result.ratio(name, ours):.3g}x" if ours else ""
        rows.append(
            (
                name,
                _duration(seconds),
                f"{1 / seconds:,.{0 if seconds < 0.1 else 2}f}/s",
                _duration(result.cpu_seconds(name)),
                f"{result.spread(name):.2f}",
                against,
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = [f"{race.name}: {race.title}"]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  " + "  ".join(cells).rstrip())
    noise = result.noise()
    if noise is not None:
        lines.append(f"  A/A control ({race.reference} against itself): {noise:.2f}x")
    lines += [f"  {name}: out, {reason}" for name, reason in result.failures.items()]
    lines += [f"  goal: {_goal_line(result, goal)}" for goal in race.goals]
    return "\n".join(lines)


def as_json(results: Sequence[Result], facts: dict[str, str]) -> str:
    """The whole run as JSON: machine facts, and each race with all its samples."""
    return json.dumps({"machine": facts, "races": [_race_dict(r) for r in results]}, indent=2)


def _race_dict(result: Result) -> dict[str, Any]:
    return {
        "name": result.race.name,
        "title": result.race.title,
        "reference": result.race.reference,
        "a_a_ratio": result.noise(),
        "contestants": {
            name: {
                "seconds": result.seconds(name),
                "cpu_seconds": result.cpu_seconds(name),
                "samples": [[s.operations, s.wall, s.cpu] for s in samples],
            }
            for name, samples in result.samples.items()
        },
        "failures": result.failures,
        "goals": [
            {
                "subject": goal.subject,
                "against": goal.against,
                "at_least": goal.ratio,
                "measured": measured_ratio(result, goal),
            }
            for goal in result.race.goals
        ],
    }


def measured_ratio(result: Result, goal: Goal) -> float | None:
    """Time of the goal's opponent / time of its subject, or None if one of them did not run."""
    if goal.subject not in result.samples or goal.against not in result.samples:
        return None
    return result.ratio(goal.against, goal.subject)


def _goal_line(result: Result, goal: Goal) -> str:
    text = f"{goal.against} / {goal.subject} >= {goal.ratio:.2f}x"
    measured = measured_ratio(result, goal)
    if measured is None:
        return f"{text}: not measured"
    verdict = "reached" if measured >= goal.ratio else "NOT reached"
    return f"{text}: {measured:.2f}x, {verdict}"


def _first_subject(result: Result) -> str:
    """Whom the others are set against: the first goal's subject that ran, or the first that ran."""
    for goal in result.race.goals:
        if goal.subject in result.samples:
            return goal.subject
    return next(iter(result.samples), "")


def _duration(seconds: float) -> str:
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.2f} s"
