"""Calls in Spark's SQL: what is made to answer alike, and what is not."""

import pytest

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.spark.spark_expressions import Expressions
from pykudu_sql.planner.spark.spark_functions import FUNCTIONS, ordered
from pykudu_sql.planner.spark.spark_operators import OPERATORS
from pykudu_sql.planner.spark.spark_scope import Outputs, SparkScope
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, Typed, ValueType
from tests.planner.spark.columns import SCOPE


def no_subqueries(query: object, scope: SparkScope) -> tuple[object, Outputs]:
    raise AssertionError("there is no subquery")


EXPRESSIONS = Expressions(no_subqueries, {**OPERATORS, **FUNCTIONS})  # type: ignore[arg-type]


def typed(expression: str) -> Typed:
    return EXPRESSIONS.typed(parse(f"SELECT {expression}").expressions[0], SCOPE)


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("count(*)", ValueType.BIGINT),
        ("count(DISTINCT s)", ValueType.BIGINT),
        ("sum(i)", ValueType.HUGEINT),
        ("sum(d)", ValueType.DECIMAL),
        ("avg(d)", ValueType.DOUBLE),
        ("max(day)", ValueType.DATE),
        ("bool_and(i > 1)", ValueType.BOOLEAN),
        ("row_number() OVER (ORDER BY i)", ValueType.BIGINT),
        ("lag(i, 2, 0) OVER (ORDER BY n)", ValueType.INT),
        ("coalesce(NULL, n, i)", ValueType.BIGINT),
        ("length(s)", ValueType.BIGINT),
        ("extract(year FROM day)", ValueType.BIGINT),
        ("date_trunc('month', day)", ValueType.TIMESTAMP),
        ("round(d, 1)", ValueType.DECIMAL),
    ],
)
def test_a_call_has_the_type_that_it_has_here(call: str, result: ValueType) -> None:
    assert typed(call).type is result


def test_sums_of_64_bits_are_made_of_decimals_and_those_of_32_are_not() -> None:
    assert "CAST(n AS DECIMAL(28, 0))" in typed("sum(DISTINCT n)").node.sql("spark")
    assert "CAST(i" not in typed("sum(i)").node.sql("spark")


def test_over_and_filter_go_to_the_aggregates_of_what_a_call_becomes() -> None:
    printed = typed("avg(i) FILTER (WHERE i > 1) OVER (PARTITION BY s)").node.sql("spark")
    assert printed.count("OVER (PARTITION BY s)") == 2
    assert printed.count("FILTER(WHERE i > 1)") == 2


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("count(DISTINCT i, s)", "several columns"),
        ("sum(s)", "sum() of TEXT"),
        ("round(x)", "round() of DOUBLE"),
        ("substr(s, 0)", "a position or length that is no plain number"),
        ("substr(s, i)", "a position or length that is no plain number"),
        ("extract(hour FROM day)", "the HOUR of DATE"),
        ("date_trunc('decade', day)", "date_trunc() of DATE to DECADE"),
        ("max(NULL)", "max() of NULL"),
        ("bool_or(i)", "a condition of type INT"),
        (
            "sum(i) OVER (ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "a window over a RANGE of values",
        ),
    ],
)
def test_a_call_that_spark_answers_otherwise_is_refused_with_the_reason(
    call: str, reason: str
) -> None:
    with pytest.raises(NotOnSparkError) as caught:
        typed(call)
    assert reason in str(caught.value)


def test_the_place_of_nulls_in_an_order_is_kept() -> None:
    order = parse("SELECT 1 ORDER BY i DESC NULLS LAST, s NULLS FIRST").args["order"]
    printed = ordered(EXPRESSIONS, order, SCOPE).sql("duckdb")
    assert "i DESC" in printed and "NULLS FIRST" in printed
    assert "NULLS FIRST" not in printed.partition(",")[0]
