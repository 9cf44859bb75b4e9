"""Texts with an offset beside a TIMESTAMP."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.compared_timestamps import convert_timestamp_texts
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.plan.context import PlanContext

OFFSET = "'2026-01-31 12:00:00+02:00'"
IN_UTC = "'2026-01-31 10:00:00'"


def condition(sql: str, context: PlanContext) -> str:
    query = bind(parse(f"select 1 from events where {sql}"), context)
    return display(query.tree.args["where"].this)


@pytest.mark.parametrize(
    "form",
    [
        "ts = {}",
        "{} < ts",
        "ts between {} and now()",
        "ts in ({})",
        "ts is distinct from {}",
        "cast({} as timestamp) is null",
        "case ts when {} then true end",
    ],
)
def test_a_literal_that_meets_a_timestamp_is_in_utc(context: PlanContext, form: str) -> None:
    converted = condition(form.format(OFFSET), context)
    assert IN_UTC in converted and "+02" not in converted


@pytest.mark.parametrize("form", ["host = {}", "host in ({})", "cast({} as date) is null"])
def test_a_literal_that_meets_none_stays(context: PlanContext, form: str) -> None:
    assert OFFSET in condition(form.format(OFFSET), context)


@pytest.mark.parametrize(
    ("sql", "cast"),
    [("host = ts", "CAST("), ("try_cast(host as timestamp) = ts", "TRY_CAST(")],
)
def test_a_text_column_is_read_with_its_offset(context: PlanContext, sql: str, cast: str) -> None:
    converted = condition(sql, context).upper()
    assert "REGEXP_MATCHES(HOST" in converted.replace('"', "")
    assert f"{cast}REPLACE(" in converted


def test_the_parameters_that_meet_a_timestamp_are_returned(context: PlanContext) -> None:
    tree = parse("select 1 from events where ts > ? and host = ? and ts < cast(? as timestamp)")
    query = bind(tree, context)
    assert query.timestamp_parameters == {0, 2}
    assert convert_timestamp_texts(query.tree) == {0, 2}
