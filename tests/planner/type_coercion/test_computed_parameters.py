"""What a query computes from parameters and makes one with decimals is asked for at each run."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.type_coercion.computed_parameters import computed_numbers
from pykudu_sql.planner.types.expression_types import ExpressionTypes


def computed(sql: str, context: PlanContext) -> list[tuple[str, tuple[int | str, ...]]]:
    tree = bind(parse(sql), context).tree
    types = ExpressionTypes(context, lambda node: node)
    found = computed_numbers(list(tree.walk()), types)
    assert {(each.whole, each.scale) for each in found} <= {(26, 4)}
    return [(each.sql, each.keys) for each in found]


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("select coalesce(big, ? + 0) from kinds", (0,)),
        ("select case when k > 1 then big else ? * ? end from kinds", (0, 1)),
        ("select 1 from kinds where big in (1, abs(?))", (0,)),
        ("select nullif(big, :x + 1) from kinds", ("x",)),
        ("select big from kinds union all select ? + 0", (0,)),
        ("select * from (select big from kinds) as s union all select ? + 0", (0,)),
        ("select coalesce(big, -y) from kinds, (select ? + 0 as y) as s", (0,)),
        ("values (? + 0), (cast(1 as decimal(30,4)))", (0,)),
    ],
)
def test_a_number_of_a_type_that_the_run_decides_is_noted(
    context: PlanContext, sql: str, keys: tuple[int | str, ...]
) -> None:
    ((text, noted),) = computed(sql, context)
    assert noted == keys
    assert text.startswith("SELECT [typeof(")
    assert all(f"${place + 1}" in text for place in range(len(keys)))


@pytest.mark.parametrize(
    "sql",
    [
        "select coalesce(big, ?) from kinds",
        "select coalesce(k, ? + 0) from kinds",
        "select coalesce(big, cast(? + 0 as decimal(9,2))) from kinds",
        "select big, ? + 0 from kinds",
        "select coalesce(big, 1.5) from kinds",
    ],
)
def test_nothing_else_is_noted(context: PlanContext, sql: str) -> None:
    assert computed(sql, context) == []


@pytest.mark.parametrize(
    ("computed", "follows"),
    [
        ("? + 0", True),
        ("-abs(? * ?)", True),
        ("case when k > 1 then 1 else ? + 1 end", True),
        ("(select ? + 0)", True),
        ("round(?, 2)", True),
        ("trunc(?)", False),
        ("list_sum([?])", False),
    ],
)
def test_it_is_noted_whether_the_types_of_the_values_decide(
    context: PlanContext, computed: str, follows: bool
) -> None:
    tree = bind(parse(f"select 1 from kinds where big > {computed}"), context).tree
    types = ExpressionTypes(context, lambda node: node)
    (noted,) = computed_numbers(list(tree.walk()), types)
    assert noted.follows is follows
