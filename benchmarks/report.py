"""The outcome of a run, for reading (a table for each race) and for programs (JSON)."""

import json
import math
from collections.abc import Sequence
from typing import Any

from benchmarks.harness import Goal, Result
from benchmarks.survey import Bound, SurveyResult


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


def format_survey(result: SurveyResult) -> str:
    """One survey as a list of figures and what should have come out."""
    survey = result.survey
    names = [figure.name for figure in result.figures]
    values = [_number(figure.value, figure.unit) for figure in result.figures]
    width, digits = max(map(len, names), default=0), max(map(len, values), default=0)
    lines = [f"{survey.name}: {survey.title}"]
    for name, value in zip(names, values, strict=True):
        lines.append(f"  {name.ljust(width)}  {value.rjust(digits)}")
    lines += [f"  {name}: out, {reason}" for name, reason in result.failures.items()]
    lines += [f"  goal: {_bound_line(result, bound)}" for bound in survey.bounds]
    return "\n".join(lines)


def as_json(results: Sequence[Result | SurveyResult], facts: dict[str, str]) -> str:
    """The whole run as JSON: machine facts, each race with all its samples, each survey."""
    races = [_race_dict(r) for r in results if isinstance(r, Result)]
    surveys = [_survey_dict(r) for r in results if isinstance(r, SurveyResult)]
    return json.dumps({"machine": facts, "races": races, "surveys": surveys}, indent=2)


def _survey_dict(result: SurveyResult) -> dict[str, Any]:
    return {
        "name": result.survey.name,
        "title": result.survey.title,
        "figures": {f.name: {"value": f.value, "unit": f.unit} for f in result.figures},
        "failures": result.failures,
        "goals": [
            {
                "figure": bound.figure,
                "expected": _interval(bound),
                "measured": result.value(bound.figure),
            }
            for bound in result.survey.bounds
        ],
    }


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


def _bound_line(result: SurveyResult, bound: Bound) -> str:
    text = f"{bound.figure} {_interval(bound)}"
    measured = result.value(bound.figure)
    if measured is None:
        return f"{text}: not measured"
    verdict = "reached" if bound.holds(measured) else "NOT reached"
    return f"{text}: {_number(measured, '')}, {verdict}"


def _interval(bound: Bound) -> str:
    ends = ((">=", bound.least), ("<=", bound.most))
    return " and ".join(f"{sign} {_number(end, '')}" for sign, end in ends if math.isfinite(end))


def _number(value: float, unit: str) -> str:
    """Seconds as a duration, counts whole, all else with three digits."""
    if unit == "s":
        return _duration(value)
    text = f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


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
