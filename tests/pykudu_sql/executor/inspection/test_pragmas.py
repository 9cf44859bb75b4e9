"""PRAGMA: facts of the catalog under SQLite's column names."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.inspection.pragmas import pragma
from pykudu_sql.executor.session_state import SessionState


@pytest.fixture
def rows_of(
    state: SessionState, planned: Callable[[str], Any]
) -> Callable[[str], list[tuple[Any, ...]]]:
    """The rows of a PRAGMA."""
    return lambda sql: pragma(state, planned(sql)).result.fetch(100)


def test_a_column_of_the_key_has_its_place_in_it_from_1(
    connection: Connection, rows_of: Callable[[str], Any]
) -> None:
    connection.execute("CREATE TABLE t (a INT, b STRING, v INT NOT NULL, PRIMARY KEY (a, b))")
    assert [(row[1], row[3], row[5]) for row in rows_of("PRAGMA table_info(t)")] == [
        ("a", 1, 1),
        ("b", 1, 2),
        ("v", 1, 0),
    ]


def test_a_default_is_shown_as_sql_writes_it(
    connection: Connection, rows_of: Callable[[str], Any]
) -> None:
    connection.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, s STRING DEFAULT 'it''s', n INT DEFAULT 0)"
    )
    assert [row[4] for row in rows_of("PRAGMA table_info(t)")] == [None, "'it''s'", "0"]


def test_a_view_has_columns_that_may_be_null_and_no_key(
    connection: Connection, rows_of: Callable[[str], Any]
) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
    connection.execute("CREATE VIEW w AS SELECT k FROM t")
    assert rows_of("PRAGMA table_info(w)") == [(0, "k", "INT", 0, None, 0)]


def test_tables_and_views_are_listed_under_their_databases(
    connection: Connection, rows_of: Callable[[str], Any]
) -> None:
    assert rows_of("PRAGMA table_list") == []
    connection.execute("CREATE DATABASE d")
    connection.execute("CREATE TABLE d.t (k INT NOT NULL, NON UNIQUE PRIMARY KEY (k))")
    connection.execute("CREATE VIEW w AS SELECT k, k + 1 AS next FROM d.t")
    assert rows_of("PRAGMA table_list") == [
        ("d", "t", "table", 1, 1, 1),
        ("default", "w", "view", 2, 0, 0),
    ]


def test_databases_in_memory_have_no_file(
    connection: Connection, rows_of: Callable[[str], Any]
) -> None:
    connection.execute("CREATE DATABASE d")
    assert rows_of("PRAGMA database_list") == [(0, "d", ""), (1, "default", "")]
