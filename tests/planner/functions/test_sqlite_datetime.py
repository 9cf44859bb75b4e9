"""SQLite's functions of time answer as SQLite itself does."""

import sqlite3
from typing import Any

import duckdb
import pytest

from pykudu_sql.planner.functions.sqlite_datetime import sqlite_datetime_call
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import InvalidValueError

NAMES = {
    "date": "date_of",
    "time": "time_of",
    "datetime": "datetime_of",
    "julianday": "julianday",
    "unixepoch": "unixepoch",
    "strftime": "strftime_of",
}


def ours(name: str, arguments: str) -> Any:
    nodes = parse(f"SELECT {arguments}").expressions
    call = sqlite_datetime_call(NAMES[name], nodes)
    with duckdb.connect() as engine:
        ((value,),) = engine.execute(f"SELECT {call.sql('duckdb')}").fetchall()
    return value


def theirs(name: str, arguments: str) -> Any:
    connection = sqlite3.connect(":memory:")
    try:
        return connection.execute(f"SELECT {name}({arguments})").fetchone()[0]
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("date", "'2024-01-31', '+1 month'"),
        ("date", "'2023-01-31', '+1 month'"),
        ("date", "'2024-02-29', '+1 year'"),
        ("date", "'2024-03-13', 'start of month', '-1 day'"),
        ("date", "'2024-03-13', 'weekday 0'"),
        ("date", "'2024-03-17', 'weekday 0'"),
        ("date", "1710331200, 'unixepoch', 'START OF year'"),
        ("datetime", "'2024-03-13 10:11:12', '+1.5 days', '-30 seconds'"),
        ("datetime", "'1969-12-31 23:59:59', 'localtime', 'utc'"),
        ("time", "'12:30', '+45 minutes'"),
        ("julianday", "'2024-03-13 12:00:00'"),
        ("unixepoch", "'1969-12-31 23:59:59'"),
        ("strftime", "'%Y/%m/%d %H', '2024-03-13 10:00:00', '+1 day'"),
        ("strftime", "'%s', '2024-03-13'"),
    ],
)
def test_a_time_with_its_modifiers_is_that_of_sqlite(name: str, arguments: str) -> None:
    assert str(ours(name, arguments)) == str(theirs(name, arguments))


@pytest.mark.parametrize("modifier", ["'+1 fortnight'", "'weekday 7'", "'start of week'", "''"])
def test_an_unknown_modifier_is_named(modifier: str) -> None:
    with pytest.raises(InvalidValueError, match="is no modifier of a time") as caught:
        ours("date", f"'2024-01-01', {modifier}")
    assert caught.value.message.startswith(modifier)
    assert caught.value.sqlstate == "22023"


def test_a_modifier_that_is_no_text_and_a_call_without_a_time_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="must be written as a text"):
        ours("date", "'2024-01-01', 1")
    with pytest.raises(InvalidValueError, match="a time is missing"):
        sqlite_datetime_call("date_of", ())
