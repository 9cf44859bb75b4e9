"""Which expressions are functions of one text column, and the query for their values."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.pushdown.words.text_functions import function_of_text, over_words


def argument(expression: str, context: PlanContext) -> str | None:
    bound = bind(parse(f"select {expression} from t"), context)
    column = function_of_text(bound.tree.expressions[0], bound)
    return None if column is None else column[1].name


@pytest.mark.parametrize(
    "expression",
    [
        "upper(s)",
        "trim(lower(s))",
        "substr(s, -2)",
        "coalesce(s, 'none')",
        "case when s like 'a%' or s is null then 'a' else left(s, 1) end",
        "concat(s, '-', upper(s))",
        "s || '!'",
    ],
)
def test_a_function_of_a_text_has_one_column(expression: str, context: PlanContext) -> None:
    assert argument(expression, context) == "s"


@pytest.mark.parametrize(
    "expression",
    [
        "s",
        "'a' || 'b'",
        "s || a",
        "upper(a)",
        "length(s)",
        "s || random()",
        "s || current_date",
        "upper((select max(s) from t))",
        "repeat(s, 1000000)",
        "s || ?",
    ],
)
def test_other_expressions_are_none(expression: str, context: PlanContext) -> None:
    assert argument(expression, context) is None


def test_values_are_those_of_words(context: PlanContext) -> None:
    bound = bind(parse("select concat(s, upper(t.s)) from t"), context)
    sql = to_sql(over_words(bound.tree.expressions[0]))
    assert sql == 'SELECT CONCAT("word", UPPER("word")) FROM "__scan_words"'
