"""SET, maintenance and DROP TABLE: what the words mean, and where a wrong one is."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.commands.commands import drop_table, flush, optimize, set_option, vacuum
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.listing_plans import Show
from pykudu_sql.planner.plan.plan import (
    DropTables,
    Flush,
    Optimize,
    Plan,
    SetDatabase,
    SetOption,
    Vacuum,
)
from pykudu_sql.storage.catalog.snapshots import NamedSnapshot
from pykudu_sql.storage.errors import (
    Error,
    SyntaxError,
    UndefinedObjectError,
    UndefinedTableError,
)


def set_to(sql: str, context: PlanContext) -> Plan:
    return set_option(TokenStream(sql), context)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("= on", True),
        ("TO false", False),
        ("= -12", -12),
        ("= 1.5e3", 1500.0),
        ("= 'it''s'", "it's"),
        ("= Word", "Word"),
        ("= default", None),
        ("= NULL", None),
    ],
)
def test_a_setting_takes_words_numbers_and_strings(
    context: PlanContext, written: str, value: object
) -> None:
    assert set_to(f"set Some_Option {written}", context) == SetOption("some_option", value)


def test_reset_is_the_default_and_set_alone_lists_all(context: PlanContext) -> None:
    assert set_to("reset x", context) == SetOption("x", None, "RESET")
    assert set_to("set", context) == set_to("set all;", context) == Show("SETTINGS")


def test_an_option_may_be_the_databases_and_may_be_called_database(context: PlanContext) -> None:
    assert set_to("set database x = 5", context) == SetDatabase("x", 5)
    assert set_to("set database = 'DB'", context) == SetOption("database", "db")


def test_as_of_becomes_a_bound_while_planning(context: PlanContext) -> None:
    snapshots = {"monday": NamedSnapshot("monday", 4711, 0)}
    there = replace(context, snapshots=snapshots)
    assert set_to("set as_of = snapshot monday", there) == SetOption("as_of", 4711)
    assert set_to("set as_of = default", there) == SetOption("as_of", None)


@pytest.mark.parametrize(
    ("sql", "error", "column"),
    [
        ("set x", SyntaxError, 6),
        ("set x = ", SyntaxError, 9),
        ("set x = -on", SyntaxError, 10),
        ("set x = 1 2", SyntaxError, 11),
        ("set database = nope", UndefinedObjectError, 16),
        ("set as_of = snapshot nope", UndefinedObjectError, 22),
    ],
)
def test_a_wrong_setting_is_shown_at_its_place(
    context: PlanContext, sql: str, error: type[Error], column: int
) -> None:
    with pytest.raises(error) as caught:
        set_to(sql, context)
    assert caught.value.span is not None
    assert caught.value.span.start == column - 1


def test_maintenance_is_of_a_table_or_where_none_is_named_of_all(context: PlanContext) -> None:
    t = context.catalog.table("t")
    for written in ("flush", "flush table"):
        assert flush(TokenStream(written), context) == Flush(None)
        assert flush(TokenStream(f"{written} T"), context) == Flush(t)
    assert vacuum(TokenStream("vacuum table t"), context) == Vacuum(t)
    assert vacuum(TokenStream("vacuum;"), context) == Vacuum(None)
    assert optimize(TokenStream("optimize t"), context) == Optimize(t)
    assert optimize(TokenStream("optimize table t full"), context) == Optimize(t, full=True)


def test_optimize_needs_a_table_and_nothing_may_follow(context: PlanContext) -> None:
    for sql in ("optimize", "optimize t full full", "optimize t everything"):
        with pytest.raises(SyntaxError):
            optimize(TokenStream(sql), context)


def test_a_table_to_drop_must_exist_unless_the_statement_says_otherwise(
    context: PlanContext,
) -> None:
    assert drop_table(TokenStream("drop table Events purge"), context) == DropTables(("events",))
    absent = drop_table(TokenStream("drop table if exists db.nope"), context)
    assert absent == DropTables(("db.nope",), if_exists=True)
    with pytest.raises(UndefinedTableError, match="'event' does not exist") as caught:
        drop_table(TokenStream("drop table event"), context)
    assert caught.value.span is not None
    assert caught.value.span.start == len("drop table ")


def test_tables_of_the_system_are_not_dropped(context: PlanContext) -> None:
    with pytest.raises(Error) as caught:
        drop_table(TokenStream("drop table if exists sys.tables"), context)
    assert caught.value.sqlstate == "42501"
