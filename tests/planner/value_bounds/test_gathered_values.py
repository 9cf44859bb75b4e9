"""Aggregates that gather rows into one value are looked at when the value is whole."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.value_bounds.gathered_values import TOO_LARGE, bound_exact


def bounded(text: str) -> exp.Expr:
    item: exp.Expr = parse(f"select {text} from t").expressions[0]
    tree = item.copy()
    return bound_exact(tree, list(tree.walk()), lambda _: None)


def checks(tree: exp.Expr) -> list[str]:
    """The measured value and the name of each check."""
    calls = [each for each in tree.find_all(exp.Anonymous) if each.name == TOO_LARGE]
    return [f"{printed(call.expressions[0])} {call.expressions[1].name}" for call in calls]


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("list(a)", 'CAST(LEN(ARRAY_AGG("a")) * 16 AS DOUBLE) list'),
        ("string_agg(s, ',')", "CAST(STRLEN(LISTAGG(\"s\", ',')) AS DOUBLE) string_agg"),
        ("histogram(a)", 'CAST(CARDINALITY(HISTOGRAM("a")) * 16 AS DOUBLE) histogram'),
    ],
)
def test_a_gathering_aggregate_is_measured_under_its_own_name(text: str, check: str) -> None:
    assert checks(bounded(text)) == [check]


@pytest.mark.parametrize(
    "text",
    [
        "list(a) filter (where b > 1)",
        "list(a) over (partition by b)",
        "string_agg(s, ',' order by a) filter (where b > 1)",
    ],
)
def test_the_clauses_behind_an_aggregate_belong_to_the_value(text: str) -> None:
    tree = parse(f"select {text} from t")
    whole = printed(bound_exact(tree, list(tree.walk()), lambda _: None).expressions[0])
    (check,) = checks(bounded(text))
    clauses = ("FILTER(WHERE", "OVER (PARTITION BY")
    assert [whole.count(clause) for clause in clauses if clause in whole] == [3]
    assert any(clause in check for clause in clauses)


def test_an_aggregate_within_a_call_is_checked_there() -> None:
    tree = bounded("upper(string_agg(s, ','))")
    assert isinstance(tree, exp.Upper) and isinstance(tree.this, exp.Case)


@pytest.mark.parametrize("text", ["sum(a)", "max(s)", "count(*)", "upper(s)", "a < 1"])
def test_other_aggregates_stay_as_they_are(text: str) -> None:
    assert checks(bounded(text)) == []
