"""DISTINCT, ORDER BY, FILTER and OVER belong to calls that gather rows."""

import pytest

from pykudu_sql.planner.functions.call_clauses import check_call_clause
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import ProgrammingError


def check(expression: str) -> None:
    for node in parse(f"SELECT {expression}").walk():
        check_call_clause(node)


@pytest.mark.parametrize(
    "expression",
    [
        "count(DISTINCT a)",
        "sum(a) FILTER (WHERE a > 1) OVER (ORDER BY b)",
        "string_agg(a, ',' ORDER BY b)",
        "last_value(a IGNORE NULLS) OVER (ORDER BY b)",
        "row_number() OVER ()",
        "abs(sum(DISTINCT a))",
    ],
)
def test_aggregates_and_windows_take_them(expression: str) -> None:
    check(expression)


@pytest.mark.parametrize(
    ("expression", "clause", "name"),
    [
        ("upper(DISTINCT a)", "DISTINCT", "upper()"),
        ("abs(a) FILTER (WHERE a > 1)", "FILTER", "abs()"),
        ("length(a) OVER ()", "OVER", "length()"),
        ("sum(lower(a) OVER (PARTITION BY b))", "OVER", "lower()"),
    ],
)
def test_another_function_is_named_with_the_clause(expression: str, clause: str, name: str) -> None:
    with pytest.raises(ProgrammingError) as caught:
        check(expression)
    assert caught.value.message.startswith(f"{clause} belongs to aggregates, and {name}")
    assert caught.value.sqlstate == "42809"
    assert caught.value.span is not None


def test_order_by_of_a_query_is_no_clause_of_a_call() -> None:
    check("abs(a) AS b FROM t ORDER BY upper(s)")
