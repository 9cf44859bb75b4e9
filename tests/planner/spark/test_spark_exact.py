"""Exact comparisons for Spark: numbers as structs of two decimals."""

from decimal import Decimal

import pytest
from sqlglot import exp, parse_one

from pykudu_sql.planner.functions.decimal_values import sort_key
from pykudu_sql.planner.spark.spark_exact import exact_form, key_of, key_operand
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, Typed, ValueType


def key_sql(node: exp.Expr, kind: ValueType) -> str:
    return key_of(Typed(node, kind)).node.sql("spark")


def test_the_key_of_a_number_is_its_whole_part_and_the_rest_and_null_of_null() -> None:
    assert key_sql(exp.column("x"), ValueType.DECIMAL) == (
        "CASE WHEN NOT (x) IS NULL THEN NAMED_STRUCT("
        "'whole', CAST(FLOOR((x)) AS DECIMAL(38, 0)), "
        "'rest', CAST((x) - FLOOR((x)) AS DECIMAL(38, 38))) END"
    )


@pytest.mark.parametrize(
    ("number", "whole", "rest"),
    [
        ("5.5", "5", "0.50000000000000000000000000000000000000"),
        ("-5.25", "-6", "0.75000000000000000000000000000000000000"),
        ("0", "0", "0.00000000000000000000000000000000000000"),
    ],
)
def test_the_key_of_a_constant_is_written_out(number: str, whole: str, rest: str) -> None:
    literal = exp.Literal.string(sort_key(Decimal(number)))
    sql = key_sql(literal, ValueType.TEXT)
    assert f"CAST('{whole}' AS DECIMAL(38, 0))" in sql
    assert f"CAST('{rest}' AS DECIMAL(38, 38))" in sql


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (exp.Literal.string(sort_key(Decimal(f"0.{'1' * 39}"))), ValueType.TEXT),
        (exp.Literal.string(sort_key(Decimal(10**38))), ValueType.TEXT),
        (exp.column("x"), ValueType.DOUBLE),
    ],
)
def test_what_no_two_decimals_hold_stays_off_spark(node: exp.Expr, kind: ValueType) -> None:
    with pytest.raises(NotOnSparkError):
        key_of(Typed(node, kind))


def test_the_number_is_taken_out_of_the_text_that_the_embedded_engine_compares() -> None:
    key = parse_one(
        "CAST((replace(CAST(x AS TEXT), '.', '') || '000') AS BIGNUM)", dialect="duckdb"
    )
    assert key_operand(key).sql() == "x"
    with pytest.raises(NotOnSparkError):
        key_operand(parse_one("CAST((a || b) AS BIGNUM)", dialect="duckdb"))


def test_of_a_quick_form_only_the_exact_comparison_is_translated() -> None:
    exact = "CAST(x AS BIGNUM) > CAST(y AS BIGNUM)"
    quick = "TRY_CAST(x AS DECIMAL(38, 6)) > TRY_CAST(y AS DECIMAL(38, 6))"
    form = exact_form(parse_one(f"COALESCE({quick}, {exact})", dialect="duckdb"))
    assert form is not None
    assert form.sql("duckdb") == exact
    for other in (f"COALESCE(a, {exact})", f"COALESCE({quick}, b)", "COALESCE(a, b)", "x > y"):
        assert exact_form(parse_one(other, dialect="duckdb")) is None
