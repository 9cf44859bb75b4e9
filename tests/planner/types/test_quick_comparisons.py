"""Where values fit, decimals of too many digits together are compared in a type of the engine."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows

WIDE = "cast('{}' as decimal(38,2))"
FINE = "cast('{}' as decimal(38,6))"
NINES = "9" * 36


def _is_quick(sql: str) -> bool:
    return parse(sql).find(exp.TryCast) is not None


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
@pytest.mark.parametrize(
    ("one", "other", "order"),
    [
        ("5.25", "5.250000", 0),
        ("5.25", "5.250001", -1),
        ("-5.25", "-5.250001", 1),
        (f"{NINES}.99", "1.000001", 1),  # does not fit beside six digits
        (f"-{NINES}.99", "0.000001", -1),
    ],
)
def test_a_comparison_is_that_of_the_numbers_whether_they_fit_or_not(
    context: PlanContext,
    evaluate: Callable[[str], Any],
    operator: str,
    one: str,
    other: str,
    order: int,
) -> None:
    sql = f"select {WIDE.format(one)} {operator} {FINE.format(other)}"
    expected = {
        "=": order == 0, "<>": order != 0, "<": order < 0,
        "<=": order <= 0, ">": order > 0, ">=": order >= 0,
    }  # fmt: skip
    planned = plan_rows(SourceText(sql), context).sql
    assert _is_quick(planned)
    assert evaluate(planned) is expected[operator]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (f"{WIDE.format(5)} in ({FINE.format(5)}, {FINE.format(6)})", True),
        (f"{WIDE.format(NINES)} in ({FINE.format(5)}, {WIDE.format(NINES)})", True),
        (f"{WIDE.format(NINES)} not in ({FINE.format(5)}, {FINE.format(6)})", True),
        (f"{WIDE.format(5)} in ({FINE.format(6)}, null)", None),
        (f"{WIDE.format(5)} between {FINE.format('4.999999')} and {WIDE.format(NINES)}", True),
        (f"{WIDE.format(5)} between {FINE.format('5.000001')} and {WIDE.format(NINES)}", False),
        (f"{WIDE.format(5)} > (select {FINE.format('4.999999')})", True),
    ],
)
def test_lists_and_ranges_take_each_value_as_it_is(
    context: PlanContext, evaluate: Callable[[str], Any], condition: str, holds: bool | None
) -> None:
    assert evaluate(plan_rows(SourceText(f"select {condition}"), context).sql) is holds


@pytest.mark.parametrize(
    ("sql", "is_quick"),
    [
        ("select 1 from kinds where big < 0.00000000000000001", True),
        ("select k from kinds group by k having sum(big) > (select sum(big) * 0.1 from kinds)",
         True),
        ("select k from kinds group by k having sum(big) is distinct from sum(big) * 0.1", False),
        ("select 1 from kinds a join kinds b on a.big = b.big * b.big", False),
        ("select 1 from kinds a where big > (select sum(big) * 0.1 from kinds b where b.k = a.k)",
         False),
        ("select 1 from kinds where big * random()::decimal(9,8) * 0.1 > big", False),
        (f"select 1 from kinds where big < 0.{'0' * 37}1", False),  # no value would fit
    ],
)  # fmt: skip
def test_what_the_engine_joins_by_or_would_compute_twice_has_one_form(
    context: PlanContext, sql: str, is_quick: bool
) -> None:
    assert _is_quick(plan_rows(SourceText(sql), context).sql) is is_quick
