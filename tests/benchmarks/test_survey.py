"""Surveys of the benchmarks: figures, bounds and what is printed of them."""

import json

from benchmarks.report import as_json, format_survey
from benchmarks.survey import Bound, Figure, Survey, SurveyResult, run_survey


def surveyed(*bounds: Bound) -> SurveyResult:
    figures = [Figure("opening", 0.0125, "s"), Figure("files", 1_234_567, "bytes")]
    return run_survey(Survey("sizes", "what it takes", lambda: figures, bounds))


def test_figures_are_printed_with_their_units() -> None:
    text = format_survey(surveyed())
    assert "opening          12.5 ms" in text
    assert "files    1,234,567 bytes" in text


def test_a_bound_is_reported_as_reached_or_not() -> None:
    text = format_survey(surveyed(Bound("opening", most=1.0), Bound("files", least=2_000_000)))
    assert "goal: opening <= 1: 0.0125, reached" in text
    assert "goal: files >= 2,000,000: 1,234,567, NOT reached" in text


def test_a_bound_on_a_figure_that_is_not_there_is_not_measured() -> None:
    assert "goal: memory <= 300: not measured" in format_survey(surveyed(Bound("memory", most=300)))


def test_a_survey_that_fails_says_why_and_has_no_figures() -> None:
    def fail() -> list[Figure]:
        raise OSError("disk on fire")

    result = run_survey(Survey("sizes", "", fail, [Bound("opening", most=1.0)]))
    assert result.failures == {"sizes": "OSError: disk on fire"}
    assert "out, OSError: disk on fire" in format_survey(result)


def test_surveys_are_part_of_the_json() -> None:
    written = json.loads(as_json([surveyed(Bound("opening", most=1.0))], {}))
    (survey,) = written["surveys"]
    assert survey["figures"]["files"] == {"value": 1_234_567, "unit": "bytes"}
    assert survey["goals"] == [{"figure": "opening", "expected": "<= 1", "measured": 0.0125}]
