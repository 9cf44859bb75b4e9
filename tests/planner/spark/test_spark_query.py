# ruff: noqa: E501  (tables of expressions read best one a line)
"""Queries for Spark, without Spark: what is translated, how, and what is left alone."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import pykudu_sql
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH
from pykudu_sql import Connection
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.query.scan_condition import scan_condition
from pykudu_sql.planner.spark.spark_query import spark_sql
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, ValueType, common_type


@pytest.fixture(scope="module")
def context() -> Iterator[PlanContext]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, k INT, m SMALLINT, d DECIMAL(9, 2), f FLOAT,"
            " v DOUBLE, s STRING, day DATE, ts TIMESTAMP)"
        )
        yield context_of(connection)


def context_of(connection: Connection) -> PlanContext:
    return connection._session._planner.context(connection._session._state.visible_catalog)


def planned(sql: str, context: PlanContext) -> Query:
    found = plan(sql, context)
    assert isinstance(found, Query)
    return found


def shown(expression: str, context: PlanContext, parameters: tuple[Any, ...] = ()) -> str:
    """The text between SELECT and the alias of the only column."""
    text = spark_sql(planned(f"SELECT {expression} AS x FROM t", context), parameters)
    return text.removeprefix("SELECT ").removesuffix(" AS `x` FROM `__scan_0` AS `t`")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("k / 2", "(CAST(`t`.`k` AS DOUBLE) / NULLIF(CAST(2 AS DOUBLE), 0))"),
        ("k // 2", "CAST(((`t`.`k`) DIV NULLIF(2, 0)) AS INT)"),
        ("m + 1", "`t`.`m` + CAST(1 AS SMALLINT)"),
        ("m + 40000", "`t`.`m` + 40000"),
        ("sum(k)", "CAST(SUM(`t`.`k`) AS DECIMAL(38, 0))"),
        ("day + INTERVAL 2 MONTHS", "CAST(`t`.`day` AS TIMESTAMP_NTZ) + INTERVAL '2' MONTH"),
        ("day < '2020-01-01'", "`t`.`day` < CAST('2020-01-01' AS DATE)"),
        ("CAST(d AS INT)", "CAST(ROUND(`t`.`d`, 0) AS INT)"),
        (
            "max(k, 1, 2)",
            "CASE WHEN (`t`.`k`) IS NULL OR (1) IS NULL OR (2) IS NULL THEN NULL ELSE GREATEST(`t`.`k`, 1, 2) END",
        ),
        ("nvl2(k, 1, 2)", "CASE WHEN NOT (`t`.`k`) IS NULL THEN 1 ELSE 2 END"),
        ("add_months(day, 2)", "CAST(`t`.`day` AS TIMESTAMP_NTZ) + INTERVAL '2' MONTH"),
        ("date_add(ts, INTERVAL 3 DAYS)", "CAST(`t`.`ts` AS TIMESTAMP_NTZ) + INTERVAL '3' DAY"),
        (
            "date_trunc('d', ts)",
            "CAST(DATE_TRUNC('DAY', CAST(`t`.`ts` AS TIMESTAMP_NTZ)) AS TIMESTAMP_NTZ)",
        ),
        ("x'00ff'", "UNHEX('00ff')"),
        ("s NOT LIKE 'a%'", "`t`.`s` NOT LIKE 'a%'"),
        ("s = 'a\\b''c'", "`t`.`s` = 'a\\\\b\\'c'"),
    ],
)
def test_an_expression_says_to_spark_what_it_means_here(
    context: PlanContext, ours: str, theirs: str
) -> None:
    assert shown(ours, context) == theirs


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("lower(s)", "lower()"),
        ("CAST(s AS DOUBLE)", "a cast from TEXT to DOUBLE"),
        ("CAST(d AS TEXT)", "a cast from DECIMAL to TEXT"),
        ("f + 1", "INT and FLOAT meet"),
        ("f / f", "division of FLOAT"),
        ("day = s", "text as DATE that is no plain literal"),
        ("substr(s, -1)", "a position or length that is no plain number"),
        ("round(v, 1)", "round() of DOUBLE"),
        ("sum(k ORDER BY id)", "order"),
        ("first(k)", "first()"),
        ("[k, 1]", "array()"),
        ("ts - ts", "SUB of TIMESTAMP"),
        ("k ** 2", "pow"),
        ("repeat(s, k)", "repeat()"),
        ("repeat(concat(s, s), k)", "repeat()"),
        ("soundex(s)", "regexp_like()"),
    ],
)
def test_what_the_engines_answer_differently_is_refused(
    context: PlanContext, expression: str, reason: str
) -> None:
    with pytest.raises(NotOnSparkError) as raised:
        shown(expression, context)
    assert reason.lower() in str(raised.value).lower()


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3)"
        " SELECT * FROM r, t",
        "SELECT DISTINCT ON (k) k, id FROM t",
        "SELECT -k AS k, id FROM t ORDER BY k + 1, id",
        "SELECT k, count(*) FROM t GROUP BY ROLLUP (k)",
        "SELECT * FROM t, range(3)",
        "SELECT id FROM t ASOF JOIN t AS u USING (id)",
    ],
)
def test_clauses_that_were_not_tested_are_refused(context: PlanContext, sql: str) -> None:
    with pytest.raises(NotOnSparkError):
        spark_sql(planned(sql, context), ())


def test_what_spark_is_given_leaves_the_tree_of_the_plan_as_it_is(context: PlanContext) -> None:
    query = planned("SELECT k / 2 AS half, s FROM t WHERE id > ? ORDER BY half", context)
    first = spark_sql(query, (1,))
    assert to_sql(query.residual) == query.sql
    assert spark_sql(query, (2,)) == first.replace("> 1", "> 2")


def test_parameters_are_written_out_with_their_types(context: PlanContext) -> None:
    assert shown("k + ?", context, (-3,)) == "`t`.`k` + (-3)"
    assert shown("d + ?", context, (Decimal("1.50"),)) == "`t`.`d` + 1.50"
    assert shown("s || ?", context, ("it's",)) == "`t`.`s` || 'it\\'s'"
    with pytest.raises(NotOnSparkError, match="a parameter of type float"):
        shown("v + ?", context, (float("nan"),))


def test_types_that_meet_in_different_ways_have_no_common_type() -> None:
    assert common_type([ValueType.NULL, ValueType.INT, ValueType.BIGINT]) is ValueType.BIGINT
    assert common_type([ValueType.DATE, ValueType.TIMESTAMP]) is ValueType.TIMESTAMP
    assert common_type([ValueType.FLOAT, ValueType.DOUBLE]) is ValueType.DOUBLE
    for types in ([ValueType.FLOAT, ValueType.INT], [ValueType.BOOLEAN, ValueType.INT]):
        with pytest.raises(NotOnSparkError):
            common_type(types)


@pytest.mark.parametrize(
    ("where", "condition"),
    [
        ("id < 3 AND k > 1", '("id" <= 2) AND ("k" >= 2)'),
        ("s LIKE 'it''s%' AND f = 0.1", """("s" LIKE 'it''s%')"""),
        ("id = 3 OR f = 0.5", None),
        ("id IN (1, 2)", '"id" IN (1, 2)'),
        ("s LIKE 'a^_%' ESCAPE '^'", None),
        ("day >= '2020-01-31'", "\"day\" >= '2020-01-31'"),
    ],
)
def test_the_condition_of_a_scan_never_says_more_than_its_predicate(
    context: PlanContext, where: str, condition: str | None
) -> None:
    (scan,) = planned(f"SELECT * FROM t WHERE {where}", context).scans
    assert scan_condition(bind_predicate(scan.predicate, ()), scan.table.schema) == condition


def test_columns_without_an_alias_have_their_headings_on_spark_too(context: PlanContext) -> None:
    query = planned('SELECT "nvl(k, 1)", abs(k) FROM (SELECT nvl(k, 1), k FROM t) q', context)
    assert query.names == ("nvl(k, 1)", "abs(k)")
    assert "AS `nvl(k, 1)`" in spark_sql(query, [])


@pytest.mark.parametrize("number", QUERIES)
def test_every_query_of_tpch_is_one_for_spark(number: int) -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        for table in TPCH.values():
            connection.execute(table.ddl({}, ""))
        query = planned(QUERIES[number], context_of(connection))
        assert spark_sql(query, ()).startswith(("SELECT", "WITH"))
