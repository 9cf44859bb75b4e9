"""AS OF and the statement's own time."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.plan import InsertValues, Query, SetOption
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import Error

NOW = 1_700_000_000_000_000
Y2020 = 1_577_836_800_000_000


def bounds(sql: str, context: PlanContext) -> list[int | None]:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    return [scan.bound for scan in planned.scans]


@pytest.mark.parametrize(
    ("clause", "bound"),
    [
        ("for system_time as of '2020-01-01'", (Y2020 + 1) << 12),
        ("for system_time as of timestamp '2020-01-01 00:00:00'", (Y2020 + 1) << 12),
        ("for system_time as of cast('2020-01-01' as timestamp)", (Y2020 + 1) << 12),
        ("as of timestamp '2020-01-01'", (Y2020 + 1) << 12),
        ("timestamp as of '2020-01-01'", (Y2020 + 1) << 12),
        ("for timestamp as of '2020-01-01'", (Y2020 + 1) << 12),
        ("as of 4000000000000000000", 4000000000000000001),
        ("for system_time as of 4000000000000000000", 4000000000000000001),
        ("as of now()", (NOW + 1) << 12),
        ("as of current_timestamp", (NOW + 1) << 12),
        ("for system_time as of now() - interval 5 minutes", (NOW - 300_000_000 + 1) << 12),
        ("as of now() - interval '1' hour", (NOW - 3_600_000_000 + 1) << 12),
        ("as of '5 min ago'", (NOW - 300_000_000 + 1) << 12),
        ("as of '5 mins ago'", (NOW - 300_000_000 + 1) << 12),
        ("for system_time as of ' 1 hr 30 MINUTES ago '", (NOW - 5_400_000_000 + 1) << 12),
        ("for system_time as of '2days ago'", (NOW - 172_800_000_000 + 1) << 12),
        ("as of 'now'", (NOW + 1) << 12),
    ],
)
def test_as_of_includes_commits_at_its_moment(
    context: PlanContext, clause: str, bound: int
) -> None:
    assert bounds(f"select count(*) from t {clause}", context) == [bound]
    assert bounds(f"select count(x.id) from t {clause} as x where x.id > 0", context) == [bound]


@pytest.mark.parametrize("clause", ["as of '5 min ago'", "as of 'now'", "as of now()"])
def test_a_plan_at_a_moment_told_from_the_present_is_made_anew(
    context: PlanContext, clause: str
) -> None:
    planned = plan(f"select count(*) from t {clause}", context)
    fixed = plan("select count(*) from t as of '2020-01-01'", context)
    assert isinstance(planned, Query) and isinstance(fixed, Query)
    assert not planned.cacheable and fixed.cacheable


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("5 minits ago", "'minits' is no unit of time"),
        ("5 ago", "has no unit of time"),
        ("99999999999999 years ago", "lies before 1970"),
        ("-5 min ago", "no moment"),
    ],
)
def test_what_is_no_moment_before_the_present_is_refused(
    context: PlanContext, moment: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        bounds(f"select count(*) from t as of '{moment}'", context)


def test_each_table_has_its_own_moment_and_columns(context: PlanContext) -> None:
    planned = plan(
        "select old.was, new.a from t for system_time as of '2019-01-01' old join t new using (id)",
        context,
    )
    assert isinstance(planned, Query)
    first, second = planned.scans
    assert first.bound is not None
    assert second.bound is None
    assert "was" in first.table.schema.by_name
    assert "was" not in second.table.schema.by_name


def test_a_column_or_table_of_another_time_is_unknown(context: PlanContext) -> None:
    with pytest.raises(Error, match="column 'was' does not exist"):
        plan("select was from t", context)
    with pytest.raises(Error, match="column 'a' does not exist"):
        plan("select a from t as of timestamp '2019-01-01'", context)
    with pytest.raises(Error, match="table 'u' does not exist"):
        plan("select * from u as of timestamp '2019-01-01'", context)


def test_a_session_can_stay_in_the_past(context: PlanContext) -> None:
    option = plan("set as_of = '2019-01-01'", context)
    assert isinstance(option, SetOption)
    assert isinstance(option.value, int)
    past = replace(context, settings=PlanSettings(as_of=option.value))
    assert bounds("select was from t", past) == [option.value]
    assert bounds("select a from t as of now()", past) == [(NOW + 1) << 12]
    assert plan("set as_of = default", context) == SetOption("as_of", None)


@pytest.mark.parametrize(
    ("clause", "sqlstate"),
    [
        ("as of timestamp '2999-01-01'", "22023"),
        ("for system_time as of now() + interval 1 day", "22023"),
        ("as of timestamp 'soon'", "22018"),
        ("for system_time as of true", "22018"),
        ("for system_time as of null", "22018"),
        ("for system_time as of -5", "22018"),
        ("for system_time as of ?", "0A000"),
        ("for system_time as of id", "42P10"),
        ("for system_time as of (select 1)", "42P10"),
        ("for system_time contained in ('2019-01-01', '2020-01-01')", "0A000"),
    ],
)
def test_what_is_no_moment_is_refused(context: PlanContext, clause: str, sqlstate: str) -> None:
    with pytest.raises(Error) as caught:
        plan(f"select 1 from t {clause}", context)
    assert caught.value.sqlstate == sqlstate


def test_a_with_query_has_no_past(context: PlanContext) -> None:
    with pytest.raises(Error, match="AS OF cannot be used on the WITH query"):
        plan("with c as (select 1) select * from c as of 5", context)


def test_one_statement_has_one_time_and_is_not_kept(context: PlanContext) -> None:
    planned = plan("select now(), current_timestamp from t where id > 0", context)
    assert isinstance(planned, Query)
    assert planned.sql.count("CAST('2023-11-14 22:13:20' AS TIMESTAMP)") == 2
    assert planned.names == ("now()", "current_timestamp")
    assert not planned.cacheable
    assert plan("select 1 from t", context).cacheable
    assert plan("select * from t as of timestamp '2020-01-01'", context).cacheable
    assert not plan("select * from t as of now()", context).cacheable
    assert not plan("update t set s = now() where a = 1", context).cacheable
    assert not plan("delete from events where ts < now() - interval 1 day", context).cacheable


def test_the_present_prunes(context: PlanContext) -> None:
    planned = plan("select 1 from events where ts > now() - interval 1 day", context)
    assert isinstance(planned, Query)
    assert planned.scans[0].predicate is not None


def test_the_present_is_a_value(context: PlanContext) -> None:
    planned = plan("insert into events (host, at, ts) values ('a', 1, now())", context)
    assert isinstance(planned, InsertValues)
    assert planned.columns[2] == (NOW,)
