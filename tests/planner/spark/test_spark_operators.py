"""Operators in Spark's SQL, with their types."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.spark.spark_expressions import Expressions
from pykudu_sql.planner.spark.spark_operators import OPERATORS, or_null
from pykudu_sql.planner.spark.spark_scope import Outputs, SparkScope
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, Typed, ValueType
from tests.planner.spark.columns import SCOPE


def one_number(query: exp.Expr, scope: SparkScope) -> tuple[exp.Expr, Outputs]:
    return query.copy(), (("n", ValueType.BIGINT),)


EXPRESSIONS = Expressions(one_number, OPERATORS)


def typed(expression: str) -> Typed:
    return EXPRESSIONS.typed(parse(f"SELECT {expression}").expressions[0], SCOPE)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2147483647", ValueType.INT),
        ("2147483648", ValueType.BIGINT),
        ("1.5", ValueType.DECIMAL),
        ("1e5", ValueType.DOUBLE),
        ("i / 2", ValueType.DOUBLE),
        ("i // 2", ValueType.INT),
        ("-d", ValueType.DECIMAL),
        ("day + INTERVAL 1 DAY", ValueType.TIMESTAMP),
        ("day + 1", ValueType.DATE),
        ("day - day", ValueType.BIGINT),
        ("s || 'x'", ValueType.TEXT),
        ("NOT flag OR i IS NULL", ValueType.BOOLEAN),
        ("x BETWEEN 1 AND i", ValueType.BOOLEAN),
        ("ts > '2024-01-01 10:00:00'", ValueType.BOOLEAN),
        ("EXISTS (SELECT 1)", ValueType.BOOLEAN),
        ("(SELECT 1)", ValueType.BIGINT),
        ("CASE WHEN flag THEN i ELSE NULL END", ValueType.INT),
        ("NULL", ValueType.NULL),
    ],
)
def test_an_expression_has_the_type_that_it_has_here(expression: str, result: ValueType) -> None:
    assert typed(expression).type is result


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("s + 1", "INT"),
        ("f / 2", "division of FLOAT"),
        ("x // 2", "DOUBLE"),
        ("i AND flag", "a condition of type INT"),
        ("s LIKE i::TEXT", "LIKE with a pattern that is no literal"),
        (r"s LIKE 'a\b'", "has a backslash"),
        ("i || s", "of type INT as text"),
        ("ts - ts", "Sub of TIMESTAMP and TIMESTAMP"),
        ("day + INTERVAL (i) DAY", "an INTERVAL that is no whole number"),
        ("day > s", "text as DATE that is no plain literal"),
        ("99999999999999999999", "the number 99999999999999999999"),
        ("mystery(i)", "mystery()"),
        ("nowhere", "could not be followed"),
    ],
)
def test_what_spark_might_answer_otherwise_is_refused_with_the_reason(
    expression: str, reason: str
) -> None:
    with pytest.raises(NotOnSparkError) as caught:
        typed(expression)
    assert reason in str(caught.value)


def test_the_tree_of_the_statement_is_left_as_it_is() -> None:
    node = parse("SELECT CASE WHEN i IN (1, 2) THEN d / 3 END").expressions[0]
    before = node.copy()
    EXPRESSIONS.typed(node, SCOPE)
    assert node == before


def test_a_divisor_of_zero_is_null() -> None:
    assert or_null(exp.column("a")).sql("spark") == "NULLIF(a, 0)"
    assert "NULLIF" in typed("i % n").node.sql("spark")
