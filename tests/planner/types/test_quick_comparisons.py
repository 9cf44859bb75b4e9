"""Which exact comparisons have a quick form, and what it looks like."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.decimal_values import Digits
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.types.quick_comparisons import quick_form


def condition(text: str) -> exp.Expr:
    where = parse(f"select 1 from t where {text}").args["where"]
    assert isinstance(where, exp.Where)
    comparison: exp.Expr = where.this
    return comparison


def test_a_comparison_of_wide_numbers_is_tried_as_decimals_first() -> None:
    node = condition("a * b > c")
    before = node.sql()
    form = quick_form(node, [Digits(40, 6), Digits(12, 2)], [])
    assert form is not None and "TRY_CAST" in form.sql()
    assert node.sql() == before


@pytest.mark.parametrize("text", ["a * random() > c", "a is distinct from b"])
def test_a_comparison_whose_null_says_something_else_has_none(text: str) -> None:
    assert quick_form(condition(text), [Digits(40, 6), Digits(12, 2)], []) is None
