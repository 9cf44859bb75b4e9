"""A decimal without digits before the point gets a zero there, wherever a text is made of it."""

import pytest

from pykudu_sql import Connection, connect
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.type_coercion.decimal_texts import WRITING, write_zeros
from pykudu_sql.planner.types.expression_types import ExpressionTypes

TEXTS = {
    "CAST(b AS STRING)": "0.25",
    "-b || 'x'": "-0.25x",
    "'x' || a": "x0." + "5" + 37 * "0",
    "CAST(-a AS VARCHAR(4))": "-0.5",
    "concat(b, NULL, d)": "0.250.50",
    "concat_ws(',', b, -a)": "0.25,-0." + "5" + 37 * "0",
    "string_agg(b, ',' ORDER BY k)": "0.25,0.75",
    "string_agg(DISTINCT b, ',' ORDER BY b DESC)": "0.75,0.25",
    "CAST(max(b) AS STRING)": "0.75",
    "CAST([b, NULL] AS STRING)": "[0.25, NULL]",
    "CAST({'n': b, 'l': [b]} AS STRING)": "{'n': 0.25, 'l': [0.25]}",
    "CAST(list(b) AS STRING)": "[0.25, 0.75]",
    "CAST(list(b) AS STRING[])[1]": "0.25",
    "CAST(map {'a': b} AS STRING)": "{a=0.25}",
    "CAST((b, 1) AS STRING)": "(.25, 1)",  # a row without names has no type to write
    "CAST(.5 AS STRING)": "0.5",
    "TRY_CAST((SELECT min(b) FROM t) AS STRING)": "0.25",
    "quote(b)": "0.25",
}


@pytest.fixture(scope="module")
def connection() -> Connection:
    connection = connect(":memory:", autocommit=True)
    connection.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, a DECIMAL(38,38), b DECIMAL(2,2), d DECIMAL(9,2))"
    )
    connection.execute("INSERT INTO t VALUES (1, 0.5, 0.25, 0.5), (2, 0, 0.75, 7)")
    return connection


@pytest.mark.parametrize("expression", TEXTS)
def test_a_text_of_a_decimal_has_a_digit_before_the_point(
    connection: Connection, expression: str
) -> None:
    rows = connection.execute(f"SELECT {expression} FROM t").fetchall()
    assert rows[0] == (TEXTS[expression],)


def test_texts_are_grouped_and_compared_as_they_are_shown(connection: Connection) -> None:
    grouped = "SELECT b || '', count(*) FROM t GROUP BY b || '' HAVING b || '' <> '.25' ORDER BY 1"
    assert connection.execute(grouped).fetchall() == [("0.25", 1), ("0.75", 1)]
    found = connection.execute("SELECT k FROM t WHERE CAST(b AS STRING) = '0.75'")
    assert found.fetchall() == [(2,)]


@pytest.mark.parametrize("text", ["cast(k as string)", "'a' || code", "cast(1.5 as string)"])
def test_texts_of_other_values_are_made_as_before(context: PlanContext, text: str) -> None:
    assert "DECIMAL" not in plan_rows(SourceText(f"select {text} from kinds"), context).sql.upper()


@pytest.mark.parametrize(
    ("operand", "written"),
    [
        ("cast(d as decimal(2,2))", "DECIMAL(3, 2)"),
        ("cast(d as decimal(38,38))", "REGEXP_REPLACE"),
        ("cast(d as decimal(3,2))", None),
        ("d", None),
    ],
)
def test_an_operand_without_room_for_a_zero_gets_some(
    context: PlanContext, operand: str, written: str | None
) -> None:
    tree = bind(parse(f"select {operand} || 'x' from t"), context).tree
    before = tree.sql()
    types = ExpressionTypes(context, lambda node: node)
    assert write_zeros(nodes_of(tree, *WRITING), types) is (written is not None)
    assert written in tree.sql() if written else tree.sql() == before
