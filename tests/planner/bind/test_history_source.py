"""CHANGES(...) and FOR SYSTEM_TIME with a window of time."""

from dataclasses import replace
from typing import Any

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.history_source import (
    changes_source,
    history_table,
    is_changes,
    is_window,
    versions_source,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.query_plans import HistoryWindow
from pykudu_sql.storage.common.rows.history_columns import HistoryKind
from pykudu_sql.storage.errors import Error, ProgrammingError

LOW, HIGH = 4_000_000_000_000_000_000, 4_000_000_000_000_000_009


def item(source: str) -> Any:
    return parse(f"select 1 from {source}").args["from_"].this


@pytest.mark.parametrize(
    ("clause", "low", "high"),
    [
        (f"from {LOW} to {HIGH}", LOW + 1, HIGH),
        (f"between {LOW} and {HIGH}", LOW + 1, HIGH + 1),
        ("all", None, None),
    ],
)
def test_a_window_of_versions_has_its_end_only_with_and(
    context: PlanContext, clause: str, low: int | None, high: int | None
) -> None:
    version = item(f"t for system_time {clause}").args["version"]
    assert is_window(version)
    source = versions_source("t", version, context)
    assert source.window == HistoryWindow(HistoryKind.VERSIONS, low, high, None)


def test_as_of_is_no_window() -> None:
    assert not is_window(item(f"t for system_time as of {LOW}").args["version"])


@pytest.mark.parametrize(
    ("call", "name", "low", "high"),
    [
        (f"changes(T, {LOW})", "t", LOW + 1, None),
        (f"changes(db.t, {LOW}, {HIGH})", "db.t", LOW + 1, HIGH + 1),
    ],
)
def test_changes_are_those_behind_the_first_moment(
    context: PlanContext, call: str, name: str, low: int, high: int | None
) -> None:
    function = item(call).this
    assert is_changes(function)
    source = changes_source(function, context)
    assert (source.name, source.lookup_bound) == (name, high)
    assert source.window == HistoryWindow(HistoryKind.CHANGES, low, high, high)


def test_a_session_that_reads_the_past_sees_no_later_history(context: PlanContext) -> None:
    past = replace(context, settings=PlanSettings(as_of=HIGH))
    changes = changes_source(item(f"changes(t, {LOW})").this, past)
    versions = versions_source("t", item("t for system_time all").args["version"], past)
    assert (changes.window.high, changes.window.until) == (HIGH, HIGH)
    assert (versions.window.high, versions.window.until) == (HIGH, HIGH)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("changes()", "takes a table and one or two moments"),
        ("changes(t)", "takes a table and one or two moments"),
        ("changes('t', 1)", "takes a table and one or two moments"),
        (f"changes(t, {HIGH}, {LOW})", "ends before it begins"),
    ],
)
def test_other_arguments_of_changes_are_refused(
    context: PlanContext, call: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        changes_source(item(call).this, context)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (HistoryKind.CHANGES, ["_change_type", "_commit_timestamp"]),
        (HistoryKind.VERSIONS, ["_valid_from", "_valid_to"]),
    ],
)
def test_metadata_columns_stand_behind_the_tables_own_under_new_ids(
    context: PlanContext, kind: HistoryKind, names: list[str]
) -> None:
    table = context.catalog.table("t")
    columns = history_table(table, kind).schema.columns
    own = len(table.schema.columns)
    assert columns[:own] == table.schema.columns
    assert [column.name for column in columns[own:]] == names
    first = table.schema.next_column_id
    assert [column.id for column in columns[own:]] == [first, first + 1]


def test_a_table_with_a_column_of_such_a_name_has_no_history(context: PlanContext) -> None:
    table = context.catalog.table("t")
    with_metadata = history_table(table, HistoryKind.CHANGES)
    with pytest.raises(ProgrammingError, match="has a column '_change_type'") as caught:
        history_table(with_metadata, HistoryKind.CHANGES)
    assert caught.value.sqlstate == "42701"


def test_other_functions_are_no_changes() -> None:
    assert not is_changes(exp.Anonymous(this="range"))
