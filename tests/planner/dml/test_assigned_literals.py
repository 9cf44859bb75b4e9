"""Numbers that a query writes into DECIMAL columns keep all their digits."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.dml.assigned_literals import type_assigned_literals, written_single
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import ValueOutOfRangeError

LONG = "1." + "1" * 40


def assigned(sql: str, context: PlanContext) -> str:
    schema = context.catalog.table("kinds").schema
    tree = parse(sql)
    type_assigned_literals(tree, (schema.by_name["big"], schema.by_name["f"]), context)
    return tree.sql("duckdb")


@pytest.mark.parametrize(
    "sql",
    [
        "VALUES ({}, 1), (2, 3)",
        "SELECT {} AS x, 1 FROM kinds",
        "SELECT 1, 2 UNION ALL (SELECT (-{}), 1)",
        "WITH c AS (SELECT {} AS x) SELECT x, 1 FROM c",
        "SELECT -y, 1 FROM (SELECT x AS y FROM (SELECT {}) AS s(x)) AS t",
        "SELECT (SELECT {}), 1",
        "SELECT * FROM (SELECT 1 AS x, 2 UNION ALL SELECT {}, 2) AS s",
        "SELECT 1 AS a UNION ALL BY NAME SELECT {} AS a",
        "SELECT coalesce({}, big) FROM kinds",
        "SELECT CASE WHEN k = 1 THEN -(-{}) ELSE big END FROM kinds",
        "SELECT max(x) FROM (SELECT greatest({}, 1) AS x FROM kinds) AS s",
        "WITH RECURSIVE c AS (SELECT {} AS x, 1 AS n UNION ALL SELECT x, n FROM c) SELECT x FROM c",
    ],
)
def test_a_long_number_is_cast_to_the_column_it_fills(context: PlanContext, sql: str) -> None:
    printed = assigned(sql.format(LONG), context)
    assert f"CAST('{LONG}' AS DECIMAL(38, 4))" in printed


@pytest.mark.parametrize(
    "sql",
    [
        f"VALUES (1, {LONG})",
        f"SELECT f, {LONG} FROM kinds",
        f"SELECT CASE WHEN f > {LONG} THEN 1 END FROM kinds",
        f"SELECT CAST({LONG} AS DOUBLE) + 1",
        f"SELECT 1 FROM (SELECT {LONG} AS x) AS s",
        "VALUES (1.5, 2)",
    ],
)
def test_a_number_in_another_place_stays(context: PlanContext, sql: str) -> None:
    assert "CAST('" not in assigned(sql, context)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT {} + 1",
        "SELECT x + 0 FROM (SELECT {} AS x) AS s",
        "SELECT (SELECT {}) * 2, 1",
        "SELECT sum(x) FROM (SELECT 1 AS x UNION ALL SELECT {}) AS s",
        "SELECT CASE WHEN k = 1 THEN round({}, 50) END FROM kinds",
    ],
)
def test_what_is_computed_from_a_long_number_fills_no_decimal(
    context: PlanContext, sql: str
) -> None:
    with pytest.raises(ValueOutOfRangeError, match="column 'big'") as caught:
        assigned(sql.format(LONG), context)
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("expression", "kind", "is_text"),
    [
        ("CAST(2.675 AS FLOAT)", "DECIMAL(9,2)", True),
        ("(2.675::REAL)", "STRING", True),
        ("CAST(2.675 AS FLOAT)", "DOUBLE", False),
        ("CAST(2.675 AS FLOAT) + 1", "DECIMAL(9,2)", False),
        ("CAST(2.675 AS DOUBLE)", "STRING", False),
    ],
)
def test_what_is_cast_to_float_is_a_text_where_it_is_written_down(
    expression: str, kind: str, is_text: bool
) -> None:
    node = parse(f"SELECT {expression}").expressions[0]
    written = written_single(node, parse_type(kind))
    assert (written is not node) == is_text
    assert not is_text or written.to.this is exp.DType.TEXT
