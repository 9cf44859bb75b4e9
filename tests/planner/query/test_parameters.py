"""Placeholders are numbered as the engine wants them, one number a use."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.parameters import number_parameters
from pykudu_sql.planner.type_coercion.exact_decimals import MEETS
from pykudu_sql.storage.common.types.types import DataType, Kind


@pytest.mark.parametrize(
    ("sql", "keys"),
    [("select ?, ?", (0, 1)), ("select :b, :a, :b", ("b", "a")), ("select 1", ())],
)
def test_a_key_has_a_number(context: PlanContext, sql: str, keys: tuple[int | str, ...]) -> None:
    query = number_parameters(LogicalQuery.of(bind(parse(sql), context), 0), context)
    assert query.parameters == keys
    assert all(f"${number}" in printed(query.tree.copy()) for number in range(1, len(keys) + 1))


def test_a_key_that_meets_two_types_has_two_numbers(context: PlanContext) -> None:
    bound = bind(parse("select :x, :x, :x"), context)
    first, second, _ = bound.tree.find_all(exp.Placeholder)
    first.meta[MEETS], second.meta[MEETS] = DataType(Kind.INT32), DataType(Kind.INT64)
    query = number_parameters(LogicalQuery.of(bound, 0), context)
    assert query.parameters == ("x", "x", "x")
    assert query.parameter_types == (DataType(Kind.INT32), DataType(Kind.INT64), None)
