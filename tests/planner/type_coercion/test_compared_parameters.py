"""What the parameters of a query stand beside, and the type that they meet there."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.node_index import NodeIndex
from pykudu_sql.planner.type_coercion.compared_parameters import (
    assigned_parameters,
    compared_parameters,
)
from pykudu_sql.planner.types.expression_types import ExpressionTypes


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select 1 from t where a = ? and s = :x", [(0, "INT"), ("x", "STRING")]),
        ("select 1 from t where (a, s) = (?, ?)", [(0, "INT"), (1, "STRING")]),
        ("select 1 from t where a in (?, ?)", [(0, "INT"), (1, "INT")]),
        ("select 1 from kinds where ? between k and big", [(0, "INT"), (0, "DECIMAL(30,4)")]),
        ("select case a when ? then 1 end from t", [(0, "INT")]),
        ("select 1 from t group by b having max(a) = ?", [(0, "INT")]),
        ("select 1 from t where upper(s) = ?", [(0, "STRING")]),
        ("select 1 from t where s like any (?, 'x', ?)", [(0, "STRING"), (1, "STRING")]),
        ("select 1 from t where s not ilike all (?)", [(0, "STRING")]),
        ("select 1 from t where starts_with(s, ?) or prefix(?, s)", [(0, "STRING"), (1, "STRING")]),
        ("select instr(s, ?), position(? in s) from t", [(0, "STRING"), (1, "STRING")]),
        ("select 1 from t where contains([a], ?) or s like (select ?)", []),
        ("select 1 from t where 1 = ?", []),
        ("select ? from t", []),
    ],
)
def test_a_parameter_has_the_type_of_all_that_it_is_compared_with(
    context: PlanContext, sql: str, expected: list[tuple[int | str, str]]
) -> None:
    nodes = NodeIndex(bind(parse(sql), context).tree)
    types = ExpressionTypes(context, lambda node: node)
    compared = compared_parameters(nodes.nodes, types)
    pairs = [(each.key, str(each.type)) for each in compared]
    assert sorted(pairs, key=str) == sorted(expected, key=str)
    assert assigned_parameters(nodes.all(exp.Placeholder)) == ()
