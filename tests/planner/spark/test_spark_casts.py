"""Casts for Spark: those on which the engines agree, and no others."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.spark.spark_casts import read_moment, translate_cast
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, Typed, ValueType


def to_spark(source: ValueType, target: str, node: exp.Expr | None = None) -> Typed:
    return translate_cast(
        Typed(node or exp.column("a"), source), exp.DataType.build(target, dialect="duckdb")
    )


@pytest.mark.parametrize(
    ("source", "target", "sql"),
    [
        (ValueType.INT, "BIGINT", "CAST(a AS BIGINT)"),
        (ValueType.BIGINT, "TEXT", "CAST(a AS STRING)"),
        (ValueType.DECIMAL, "INT", "CAST(ROUND(a, 0) AS INT)"),
        (ValueType.INT, "DECIMAL(9, 2)", "CAST(a AS DECIMAL(9, 2))"),
        (ValueType.BOOLEAN, "INT", "CAST(a AS INT)"),
        (ValueType.NULL, "DATE", "CAST(a AS DATE)"),
        (ValueType.DOUBLE, "DOUBLE", "a"),
    ],
)
def test_a_cast_that_loses_nothing_is_written_for_spark(
    source: ValueType, target: str, sql: str
) -> None:
    assert to_spark(source, target).node.sql("spark") == sql


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (ValueType.TEXT, "INT", "a cast from TEXT to INT"),
        (ValueType.DOUBLE, "BIGINT", "a cast from DOUBLE to BIGINT"),
        (ValueType.DOUBLE, "TEXT", "a cast from DOUBLE to TEXT"),
        (ValueType.TEXT, "DECIMAL(9, 2)", "a cast from TEXT to DECIMAL"),
        (ValueType.NULL, "BLOB", "a cast from NULL to BINARY"),
        (ValueType.INT, "UUID", "a cast to UUID"),
        (ValueType.INT, "INT[]", "a cast to INT[]"),
    ],
)
def test_a_cast_on_which_the_engines_differ_is_refused_with_both_types(
    source: ValueType, target: str, reason: str
) -> None:
    with pytest.raises(NotOnSparkError) as caught:
        to_spark(source, target)
    assert reason in str(caught.value)


def test_text_is_a_moment_only_where_it_is_written_out() -> None:
    day = exp.Literal.string("2024-02-29")
    assert to_spark(ValueType.TEXT, "DATE", day).type is ValueType.DATE
    assert read_moment(day, ValueType.TIMESTAMP).type is ValueType.TIMESTAMP
    for text in ("2024-2-29", "2024-02-29 10:00", "2024-02-29T10:00:00", "today", ""):
        with pytest.raises(NotOnSparkError, match="no plain literal"):
            read_moment(exp.Literal.string(text), ValueType.TIMESTAMP)
    with pytest.raises(NotOnSparkError, match="no plain literal"):
        to_spark(ValueType.TEXT, "DATE")
