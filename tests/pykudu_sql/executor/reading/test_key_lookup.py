"""Look-ups of one row by its whole key."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.reading.key_lookup import FilteredLookup, Lookup
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.comparison import EngineRequiredError


@pytest.fixture
def look_up(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> Callable[..., list[tuple[Any, ...]]]:
    """The rows of a look-up with parameters."""
    connection.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, word STRING, day DATE, at TIMESTAMP, n DECIMAL(5, 2))"
    )
    connection.execute("INSERT INTO t VALUES (1, 'a', '2026-01-31', '2026-01-31 12:00:00', 1.5)")
    connection.execute("INSERT INTO t (k) VALUES (2)")

    def look_up(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        outcome = Lookup(state, planned(sql))(parameters)
        rows = outcome.result.fetch(5)
        assert outcome.rowcount == len(rows)
        return rows

    return look_up


def test_cells_become_python_values_of_their_types(look_up: Callable[..., Any]) -> None:
    day, noon = dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 12)
    rows = look_up("SELECT n, at, day, word, k FROM t WHERE k = ?", 1)
    assert rows == [(Decimal("1.50"), noon, day, "a", 1)]


def test_a_column_without_a_value_is_none_whatever_its_type(look_up: Callable[..., Any]) -> None:
    assert look_up("SELECT word, day, at, n FROM t WHERE k = ?", 2) == [(None,) * 4]


@pytest.mark.parametrize("key", [3, None, 2.5, 1 << 40])
def test_a_key_that_no_row_has_gives_no_row(look_up: Callable[..., Any], key: object) -> None:
    assert look_up("SELECT word FROM t WHERE k = ?", key) == []


def test_a_key_that_only_the_engine_can_compare_is_left_to_it(look_up: Callable[..., Any]) -> None:
    with pytest.raises(EngineRequiredError):
        look_up("SELECT word FROM t WHERE k = ?", 1 << 200)


def test_a_lookup_at_a_past_moment_gives_the_row_as_it_was(
    connection: Connection, look_up: Callable[..., Any]
) -> None:
    past = connection.snapshot_timestamp()
    connection.execute("UPDATE t SET word = 'b' WHERE k = 1")
    assert look_up(f"SELECT word FROM t AS OF {past} WHERE k = ?", 1) == [("a",)]
    assert look_up("SELECT word FROM t WHERE k = ?", 1) == [("b",)]


@pytest.mark.parametrize(("word", "rows"), [("a", [(1,)]), ("b", []), (None, []), ("a\0", [])])
def test_a_condition_is_tested_on_the_row(
    state: SessionState, planned: Callable[[str], Any], look_up: Any, word: object, rows: object
) -> None:
    run = FilteredLookup(state, planned("SELECT k FROM t WHERE word = ? AND k = 1 AND n > 1"))
    assert run((word,)).result.fetch(5) == rows
