"""Comparisons of rows are written out as comparisons of their columns."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.row_values import compares_rows, written_out
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.storage.errors import Error


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("(1, 2) = (1, 2)", True),
        ("(1, null) = (2, 2)", False),
        ("(1, null) = (1, 2)", None),
        ("(1, null) <> (2, 2)", True),
        ("(1, 2) < (1, 3)", True),
        ("(1, null) < (2, 0)", True),
        ("(1, null) < (1, 0)", None),
        ("(1, 2) <= (1, 2)", True),
        ("(1, 2) in ((1, 2), (3, 4))", True),
        ("(1, 3) in ((1, null))", None),
        ("(1, 2) between (1, 1) and (2, 0)", True),
        ("row(1, (2, 3)) = row(1, (2, 3))", True),
        ("case (1, 2) when (1, 2) then true else false end", True),
    ],
)
def test_rows_compare_column_by_column_in_three_valued_logic(
    context: PlanContext, condition: str, value: bool | None
) -> None:
    assert context.evaluate(plan_rows(SourceText(f"select {condition}"), context).sql) == (value,)


@pytest.mark.parametrize(
    ("condition", "sqlstate"),
    [
        ("(1, 2) = (1, 2, 3)", "42601"),
        ("(1, 2) in (select 1)", "42601"),
        ("(1, 2) is null", "0A000"),
        ("(1, count(*)) in (select 1, 2)", "0A000"),
    ],
)
def test_rows_of_other_widths_and_without_a_meaning_are_refused(
    context: PlanContext, condition: str, sqlstate: str
) -> None:
    with pytest.raises(Error) as caught:
        plan_rows(SourceText(f"select {condition}"), context)
    assert caught.value.sqlstate == sqlstate


def test_what_compares_no_row_is_left_alone() -> None:
    plain, row, odd = parse("select a = 1, (a, b) = (1, 2), (a, b) = c from t").expressions
    assert [compares_rows(each) for each in (plain, row, odd)] == [False, True, True]
    assert written_out(odd) is odd
    assert isinstance(written_out(row), exp.Paren)
