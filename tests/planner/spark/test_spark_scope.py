"""Names of a query while it is translated for Spark."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.spark.spark_scope import SparkScope, describe, only
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, ValueType

OUTER = SparkScope({}, sources={"t": {"a": ValueType.INT, "b": ValueType.TEXT}})
INNER = SparkScope({}, OUTER, {"t": {"a": ValueType.DATE}}, {"n": ValueType.BIGINT})


def test_a_column_is_that_of_the_nearest_query_around_it() -> None:
    assert INNER.column(exp.column("A", table="T")) is ValueType.DATE
    assert INNER.column(exp.column("b", table="t")) is ValueType.TEXT
    assert OUTER.column(exp.column("a", table="t")) is ValueType.INT


def test_a_name_without_a_source_in_the_scope_is_refused() -> None:
    for column in (exp.column("c", table="t"), exp.column("a", table="u"), exp.column("a")):
        with pytest.raises(NotOnSparkError, match="could not be followed to its table"):
            INNER.column(column)


def test_a_name_of_the_select_list_is_only_an_item_of_order_by() -> None:
    alone = parse("SELECT 1 AS n ORDER BY n").find(exp.Column)
    within = parse("SELECT 1 AS n ORDER BY n + 1").find(exp.Column)
    window = parse("SELECT sum(1) OVER (ORDER BY n)").find(exp.Column)
    assert alone is not None and within is not None and window is not None
    assert INNER.column(alone) is ValueType.BIGINT
    for column in (within, window):
        with pytest.raises(NotOnSparkError, match="over the output name n"):
            INNER.column(column)


def test_a_part_that_is_not_known_is_named_with_its_node() -> None:
    call = parse("SELECT lag(a IGNORE NULLS, 2) OVER ()").find(exp.Lag)
    assert call is not None
    only(call, "this", "offset", "default")
    with pytest.raises(NotOnSparkError, match=r"OFFSET of lag\(\)"):
        only(call, "this")


@pytest.mark.parametrize(
    ("expression", "name"),
    [("MY_function(1)", "my_function()"), ("sum(a)", "sum()"), ("a + 1", "ADD"), ("a", "COLUMN")],
)
def test_a_node_is_described_by_its_function_or_its_kind(expression: str, name: str) -> None:
    assert describe(parse(f"SELECT {expression}").expressions[0]) == name
