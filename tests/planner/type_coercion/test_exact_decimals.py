"""Comparisons of numbers are exact in all 38 digits, whatever the other side is."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.type_coercion.exact_decimals import (
    COMPARISONS,
    compared,
    mark_numbers,
    noted_numbers,
)

NINES = "9" * 38
TINY = f"0.{'0' * 37}1"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (f"cast('{NINES}' as decimal(38,0)) = cast('{TINY}' as decimal(38,38))", False),
        (f"cast('{NINES}' as decimal(38,0)) > cast('{TINY}' as decimal(38,38))", True),
        (f"cast('1' as decimal(38,0)) < 1{TINY[1:]}", True),
        ("cast('1' as decimal(38,0)) = cast('0' as decimal(38,38))", False),
        (f"nullif(cast('{NINES}' as decimal(38,0)), cast('{TINY}' as decimal(38,38))) is null",
         False),
    ],
)  # fmt: skip
def test_decimals_without_a_common_type_are_compared_exactly(
    context: PlanContext, evaluate: Callable[[str], Any], condition: str, holds: bool
) -> None:
    assert evaluate(plan_rows(SourceText(f"select {condition}"), context).sql) is holds


@pytest.mark.parametrize(
    ("condition", "notes"),
    [
        ("big = 0.00001", ["0.00001 is 0.00001"]),
        ("big between 1 and 2.5", ["1 is 1", "2.5 is 2.5"]),
        ("k in (-1, f)", ["-1 is -1"]),
        ("k = big", []),
        ("code = 1", []),
    ],
)
def test_the_numbers_beside_number_columns_are_noted(
    context: PlanContext, condition: str, notes: list[str]
) -> None:
    tree = bind(parse(f"select 1 from kinds where {condition}"), context).tree
    mark_numbers(tree.find_all(*COMPARISONS), context)
    assert list(noted_numbers(tree)) == notes


@pytest.mark.parametrize(
    ("condition", "operands"),
    [
        ("(a) = ((b))", ["a", "b"]),
        ("a between 1 and 2", ["a", "1", "2"]),
        ("a in (1, b)", ["a", "1", "b"]),
        ("case a when 1 then 2 else 3 end", ["a", "1"]),
        ("case when a then 2 end", []),
    ],
)
def test_a_comparison_has_operands_without_parentheses(condition: str, operands: list[str]) -> None:
    node: exp.Expr = parse(f"select {condition} from t").expressions[0]
    assert [display(each) for each in compared(node)] == operands
