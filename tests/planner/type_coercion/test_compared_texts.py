"""Text literals beside values of other types: numbers, or refused with their place."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.node_index import NodeIndex
from pykudu_sql.planner.type_coercion.compared_texts import read_compared_texts
from pykudu_sql.planner.type_coercion.exact_decimals import COMPARING
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.storage.errors import DataError


def read(condition: str, context: PlanContext) -> str:
    nodes = NodeIndex(bind(parse(f"select 1 from kinds, events where {condition}"), context).tree)
    types = ExpressionTypes(context, lambda node: node)
    read_compared_texts(nodes.all(*COMPARING), types, context)
    return str(nodes.nodes[0].args["where"].this.sql("duckdb"))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("k = '1.50'", "k = 1.50"),
        ("'-7' < small + 1", "-7 < small + 1"),
        ("k in ('1', 2, ' 3 ')", "k IN (1, 2, 3)"),
        ("big between '1e2' and '1'", "big BETWEEN 100 AND 1"),
        ("nullif(k, '1') is null", "NULLIF(k, 1) IS NULL"),
        ("'1' in (select k from kinds)", "1 IN (SELECT k FROM kinds)"),
        ("k in ('0x1', 1)", "k IN ('0x1', 1)"),
        ("value = '1.5' and f = 'inf'", "value = '1.5' AND f = 'inf'"),
        ("k + value = 'nan'", "k + value = 'nan'"),
        ("host = '1' and host in (1, 'x')", "host = '1' AND host IN (1, 'x')"),
        ("day > '2024-01-01 12:00:00'", "day > '2024-01-01 12:00:00'"),
        ("ts > '2024-1-1'", "ts > '2024-1-1'"),
        ("raw = 'a'", "raw = 'a'"),
    ],
)
def test_a_text_beside_exact_numbers_becomes_one(
    context: PlanContext, condition: str, expected: str
) -> None:
    assert read(condition, context) == expected


@pytest.mark.parametrize(
    ("condition", "sqlstate"),
    [
        ("k = 'x'", "22018"),
        ("k in (1, 'x')", "22018"),
        ("case k when 'x' then true end", "22018"),
        ("max(k) over () is distinct from 'x'", "22018"),
        ("k between '1' and 'inf'", "22003"),
        ("big <> '1e99'", "22003"),
        ("value < 'x'", "22018"),
        ("day = '2024-02-30'", "22008"),
        ("ts = 'x'", "22018"),
        ("ts - ts = 'x'", "22018"),
        ("(k = 1) = 'x'", "22018"),
        ("raw = '\\xz'", "22018"),
    ],
)
def test_a_text_that_is_no_value_of_the_type_is_refused_with_its_place(
    context: PlanContext, condition: str, sqlstate: str
) -> None:
    with pytest.raises(DataError) as caught:
        read(condition, context)
    assert caught.value.sqlstate == sqlstate
    assert caught.value.span is not None
