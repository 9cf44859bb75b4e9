"""Which assigned values are computed from the cells of a row, and which only by the engine."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.dml.row_expressions import BoundRow, row_comparisons, row_expression
from pykudu_sql.planner.dml.update import plan_update
from pykudu_sql.planner.explain.key_text import key_text
from pykudu_sql.planner.operands.row_expression import FirstNotNull
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyChange, UpdateQuery
from pykudu_sql.planner.pushdown.condition import ConditionReader
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, FixedCell


@pytest.mark.parametrize(
    "assignment",
    [
        "a = a + 1",
        "a = 2 * a - b",
        "a = coalesce(a, 0) + ?1",
        "a = b",
        "s = s || ?1",
        "s = coalesce(s, 'none')",
    ],
)
def test_plain_expressions_of_one_family_are_computed_from_the_row(
    context: PlanContext, assignment: str
) -> None:
    sql = f"update t set {assignment.replace('?1', '?')} where id = 1"
    plan = plan_update(SourceText(sql), context)
    assert isinstance(plan, KeyChange)
    text = assignment.replace("2 * a - b", "(2 * a) - b")
    assert f"set: {text}" in key_text(plan).details


@pytest.mark.parametrize(
    "assignment",
    [
        "a = a / 2", "a = a + 1.5", "a = a + '1'", "a = abs(a)", "a = s", "s = a", "s = s || 5",
        "a = a + (select 1)", "a = case when a > 1 then 2 end", "a = cast(s as int)",
        "a = a + 300000000000000000000",
    ],
)  # fmt: skip
def test_anything_else_is_computed_by_the_engine(context: PlanContext, assignment: str) -> None:
    plan = plan_update(SourceText(f"update t set {assignment} where id = 1"), context)
    assert isinstance(plan, UpdateQuery)


def test_an_expression_is_read_for_the_column_that_takes_it(context: PlanContext) -> None:
    bound = bind(parse("select coalesce(a, 5) from t"), context)
    columns = bound.references[0].table.schema.by_name
    source = BoundRow(ConditionReader(bound, context))
    node = bound.tree.expressions[0]
    expected = FirstNotNull((ColumnCell(columns["a"].id), FixedCell(5)))
    assert row_expression(node, columns["b"], source) == expected
    assert row_expression(node, columns["s"], source) is None


@pytest.mark.parametrize(
    ("condition", "is_read"),
    [
        ("a > b and s = 'x'", True), ("5 < a", True), ("s >= ?", True),
        ("a > s", False), ("a > 1 or b > 1", False), ("a is null", False), ("abs(a) > 1", False),
        ("1 = 1", False), ("a = '1'", False), ("a <> 1", False),
    ],
)  # fmt: skip
def test_comparisons_of_cells_are_read_where_both_sides_are_of_one_family(
    context: PlanContext, condition: str, is_read: bool
) -> None:
    bound = bind(parse(f"select 1 from t where {condition}"), context)
    source = BoundRow(ConditionReader(bound, context))
    comparisons = row_comparisons(bound.tree.args["where"].this, source)
    assert (comparisons is not None) is is_read
    assert row_comparisons(None, source) == ()
