"""Surveys: figures that are no race - bytes, heights, rates of one operation - and their bounds.

A survey measures once, or takes its own medians; what it compares lies side by side in one run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        name: what was measured; unique within a survey.
        value: how much.
        unit: of the value, such as "bytes" or "rows/s"; empty for a plain number.
    """

    name: str
    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """Between what a figure has to lie, both ends allowed.

    Attributes:
        figure: its name.
        least, most: the ends.
    """

    figure: str
    least: float = float("-inf")
    most: float = float("inf")

    def holds(self, value: float) -> bool:
        """Whether a value lies between the ends."""
        return self.least <= value <= self.most


@dataclass(frozen=True, slots=True)
class Survey:
    """Something to be measured.

    Attributes:
        name: short name.
        title: one line that says exactly what is measured.
        measure: does it all.
        bounds: what should come out.
    """

    name: str
    title: str
    measure: Callable[[], Sequence[Figure]]
    bounds: Sequence[Bound] = ()


@dataclass(frozen=True, slots=True)
class SurveyResult:
    """What came out of a survey.

    Attributes:
        survey: that was done.
        figures: in its order; empty if it failed.
        failures: what went wrong, by the survey's name.
    """

    survey: Survey
    figures: Sequence[Figure]
    failures: dict[str, str] = field(default_factory=dict)

    def value(self, name: str) -> float | None:
        """A figure by its name, or None if it was not measured."""
        return next((figure.value for figure in self.figures if figure.name == name), None)


def run_survey(survey: Survey) -> SurveyResult:
    """Measure; a survey that raises has no figures."""
    try:
        return SurveyResult(survey, survey.measure())
    except Exception as error:
        return SurveyResult(survey, (), {survey.name: f"{type(error).__name__}: {error}"[:200]})
