"""Conditions on functions of times, as ranges of the stored column."""

import datetime as dt
from typing import Any

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.explain.predicate_text import predicate_text
from pykudu_sql.planner.operands.template import (
    SteppedComparison,
    SteppedInList,
    columns_in,
    fill,
    parameters_in,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.condition import ConditionReader
from pykudu_sql.planner.pushdown.table_condition import Condition
from pykudu_sql.planner.pushdown.time_condition import time_condition
from pykudu_sql.storage.common.types.schema import Schema

DAY = "ts >= '2024-01-05 00:00:00' AND ts <= '2024-01-05 23:59:59.999999'"
FROM_2024 = "ts >= '2024-01-01 00:00:00'"
FINITE = "ts <= 9223372036854775806"


def condition(where: str, context: PlanContext) -> tuple[Condition, Schema] | None:
    """What a WHERE says of the table of events, with the table's schema."""
    bound = bind(parse(f"select 1 from events where {where}"), context)
    reader = ConditionReader(bound, context)
    read = time_condition(bound.tree.args["where"].this, reader)
    return None if read is None else (read, read.reference.table.schema)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("ts::date = date '2024-01-05'", DAY),
        ("'2024-01-05' = cast((ts) as date)", DAY),
        ("date(ts) = '2024-01-05'", DAY),
        ("try_cast(ts as date) = date '2024-01-05'", DAY),
        ("ts::date = timestamp '2024-01-05 00:00:00'", DAY),
        ("ts::date = timestamp '2024-01-05 00:00:01'", "false"),
        ("date_trunc('day', ts) = date '2024-01-05'", DAY),
        ("date_trunc('days', ts)::date = date '2024-01-05'", DAY),
        ("date_trunc('d', ts::date) = '2024-01-05'", DAY),
        ("ts::timestamp::date::timestamp = '2024-01-05'", DAY),
        ("ts::date in ('2024-01-05')", DAY),
        ("ts::date between '2024-01-05' and '2024-01-05'", DAY),
        ("ts::date < date '2024-01-01'", "ts <= '2023-12-31 23:59:59.999999'"),
        ("date '2024-01-01' <= ts::date", FROM_2024),
        ("ts::date > '2023-12-31'", FROM_2024),
        ("date_trunc('month', ts) >= date '2023-12-02'", FROM_2024),
        ("date_trunc('month', ts) = date '2024-01-15'", "false"),
        ("date_trunc('week', day) = '2024-01-01'", "day >= '2024-01-01' AND day <= '2024-01-07'"),
        ("date_trunc('hour', day) = '2024-01-01'", "day = '2024-01-01'"),
        ("date_trunc('hour', day) = timestamp '2024-01-01 01:00'", "false"),
        ("year(day) = 2024", "day >= '2024-01-01' AND day <= '2024-12-31'"),
        ("extract(year from day) in (2024, 2023)", "day >= '2023-01-01' AND day <= '2024-12-31'"),
        ("date_part('year', day) between 2023 and 2024",
         "day >= '2023-01-01' AND day <= '2024-12-31'"),
        ("year(ts) >= 2024", f"{FROM_2024} AND {FINITE}"),
        ("year(ts::date) > 2023.5", f"{FROM_2024} AND {FINITE}"),
        ("year(day) = null", "false"),
        ("ts::date = ?", "CAST(ts AS DATE) = ?1"),
        ("date_trunc('h', ts) in (?, '2024-01-01')",
         "date_trunc('hour', ts) IN (?1, '2024-01-01')"),
        ("year(ts) between ? and :a", "year(ts) >= ?1 AND year(ts) <= :a"),
    ],
)  # fmt: skip
def test_a_condition_on_a_function_of_a_time_is_a_range_of_the_time(
    context: PlanContext, where: str, text: str
) -> None:
    read = condition(where, context)
    assert read is not None
    assert predicate_text(read[0].template, read[1]) == text
    assert read[0].fails_null
    assert read[0].is_exact


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("ts::date = '2024-01-05 10:00'", "true"),
        ("ts::date = 5", "true"),
        ("year(ts) = 'soon'", "true"),
        ("ts::date = timestamptz '2024-01-05 00:00+01'", "true"),
        ("date_trunc('day', ts) = timestamp_ns '2024-01-05 00:00:00'", DAY),
        ("year(day) = 2024 and day is not null", None),
        ("day = '2024-01-01'", None), ("at + 1 = 2", None), ("month(ts) = 1", None),
        ("ts::date = day", None), ("ts::timestamptz = '2024-01-01'", None),
        ("date_trunc('decade', ts) = '2020-01-01'", None), ("ts::date is null", None),
        ("not (ts::date = '2024-01-05')", None), ("ts::date <> '2024-01-05'", None),
        ("year(ts) in (2024, cast(2025 as float))", None), ("year(at::varchar) = 2024", None),
        ("extract(day from ts) = 5", None), ("year(ts)::date = '2024-01-01'", None),
        ("ts::date between symmetric '2024-01-05' and '2024-01-01'", None),
        ("ts::timestamp(0) = '2024-01-05'", None),
    ],
)  # fmt: skip
def test_anything_else_is_wider_or_not_read(
    context: PlanContext, where: str, text: str | None
) -> None:
    read = condition(where, context)
    assert (None if read is None else predicate_text(read[0].template, read[1])) == text
    assert read is None or not read[0].is_exact


@pytest.mark.parametrize(
    ("where", "values", "text", "is_exact"),
    [
        ("ts::date = ?", (dt.date(2024, 1, 5),), DAY, True),
        ("ts::date = ?", (dt.datetime(2024, 1, 5),), DAY, True),
        ("ts::date = ?", (dt.datetime(2024, 1, 5, 1),), "false", True),
        ("ts::date = ?", ("2024-01-05",), DAY, True),
        ("ts::date = ?", ("2024-01-05 01:00",), "true", False),
        ("ts::date = ?", (None,), "false", True),
        ("ts::date in (?, '2024-01-05', ?)", (None, dt.date(2024, 1, 5)), DAY, True),
        ("year(day) = ?", (2024,), "day >= '2024-01-01' AND day <= '2024-12-31'", True),
        ("year(day) = ?", ("x",), "true", False),
    ],
)
def test_parameters_are_compared_as_literals_are(
    context: PlanContext, where: str, values: tuple[Any, ...], text: str, is_exact: bool
) -> None:
    read = condition(where, context)
    assert read is not None
    template, schema = read[0].template, read[1]
    assert isinstance(template, SteppedComparison | SteppedInList)
    assert len(list(parameters_in(template))) == len(values)
    assert {schema.by_id[i].name for i in columns_in(template)} <= {"ts", "day"}
    filled = fill(template, values)
    assert (predicate_text(filled.predicate, schema), filled.is_exact) == (text, is_exact)
