"""Decimals that become one value keep all digits behind the point, or an error is raised."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.type_coercion.united_decimals import unite_exactly
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.storage.errors import ProgrammingError

WHOLE = "cast('1' as decimal(38,0))"
FRACTION = f"cast('0.{'0' * 29}1' as decimal(38,30))"


@pytest.mark.parametrize(
    "query",
    [
        f"select coalesce(null, {FRACTION}, {WHOLE})",
        f"select case when true then {FRACTION} else {WHOLE} end",
        f"select min(x) from (values ({FRACTION}), ({WHOLE})) as v(x)",
        f"select min(x) from (select {FRACTION} as x union all select {WHOLE}) as v",
    ],
)
def test_the_smaller_value_keeps_its_digits(
    context: PlanContext, evaluate: Callable[[str], Any], query: str
) -> None:
    assert evaluate(plan_rows(SourceText(query), context).sql) == Decimal(f"0.{'0' * 29}1")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"select {WHOLE} % {FRACTION}", "^% of DECIMAL"),
        (f"select [{WHOLE}] = [{FRACTION}]", "no type of 38 digits"),
    ],
)
def test_what_cannot_be_cast_is_refused(context: PlanContext, query: str, message: str) -> None:
    with pytest.raises(ProgrammingError, match=message) as caught:
        plan_rows(SourceText(query), context)
    assert caught.value.sqlstate == "42804"


def test_types_that_fit_together_stay_as_they_are(context: PlanContext) -> None:
    tree = parse("select coalesce(cast(1 as decimal(5,2)), cast(1 as decimal(9,4)), 1.5)")
    before = printed(tree.copy())
    unite_exactly(list(tree.walk()), ExpressionTypes(context, lambda node: node))
    assert printed(tree) == before
