"""DESCRIBE of tables, views and databases, and SHOW TABLE STATS."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.inspection.descriptions import describe, table_stats
from pykudu_sql.executor.session_state import SessionState

Described = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def described(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> Described:
    """The rows of a DESCRIBE."""
    connection.execute(
        "CREATE TABLE t (k INT, j STRING, v INT DEFAULT 7 COMMENT 'how many', PRIMARY KEY (k, j)) "
        "PARTITION BY HASH (k) PARTITIONS 3 COMMENT 'things'"
    )

    def described(sql: str) -> list[tuple[Any, ...]]:
        outcome = describe(state, planned(sql))
        rows = outcome.result.fetch(100)
        assert outcome.rowcount == len(rows)
        assert {len(row) for row in rows} == {len(outcome.result.names)}
        return rows

    return described


def test_a_column_is_shown_with_its_place_in_the_key_and_its_default(described: Described) -> None:
    by_name = {row[0]: row for row in described("DESCRIBE t")}
    assert by_name["j"][1:7] == ("STRING", "", True, True, False, None)
    assert by_name["v"][1:7] == ("INT", "how many", False, None, True, "7")


def test_a_key_that_the_table_itself_completes_is_not_unique(
    connection: Connection, described: Described
) -> None:
    connection.execute("CREATE TABLE log (k INT NOT NULL, v INT, NON UNIQUE PRIMARY KEY (k))")
    assert [row[:5] for row in described("DESCRIBE log")] == [
        ("k", "INT", "", True, False),
        ("v", "INT", "", False, None),
    ]
    labels = {row[0]: row[1] for row in described("DESCRIBE FORMATTED log")}
    assert labels["NON UNIQUE PRIMARY KEY:"].startswith("k")
    assert labels["Partitioning:"] == "none"


def test_formatted_a_table_tells_rows_tablets_and_key(
    connection: Connection, described: Described
) -> None:
    connection.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    labels = {row[0]: row[1] for row in described("DESCRIBE FORMATTED t")}
    assert (labels["Database:"], labels["Name:"], labels["Table Type:"]) == (
        "default",
        "t",
        "TABLE",
    )
    assert (labels["Rows:"], labels["Tablets:"]) == ("2", "3")
    assert labels["PRIMARY KEY:"] == "k, j"
    assert labels["Partitioning:"] == "HASH (k) PARTITIONS 3"
    assert labels["Comment:"] == "things"


def test_formatted_a_table_whose_history_never_ends_says_so(
    connection: Connection, described: Described
) -> None:
    connection.execute("SET DATABASE history_max_age = 60")
    labels = {row[0]: row[1] for row in described("DESCRIBE FORMATTED t")}
    assert labels["History:"] == "60 seconds"
    connection.execute("ALTER TABLE t SET TBLPROPERTIES ('kudu.table.history_max_age_sec' = '-1')")
    labels = {row[0]: row[1] for row in described("DESCRIBE FORMATTED t")}
    assert labels["History:"] == "for ever"


def test_a_view_is_shown_with_its_columns_and_formatted_with_its_text(
    connection: Connection, described: Described
) -> None:
    connection.execute("CREATE DATABASE d")
    connection.execute("CREATE VIEW d.w AS SELECT v AS n FROM default.t")
    assert described("DESCRIBE d.w") == [("n", "INT", "")]
    labels = {row[0]: row[1] for row in described("DESCRIBE FORMATTED d.w")}
    assert (labels["Database:"], labels["Name:"], labels["Table Type:"]) == ("d", "w", "VIEW")
    assert "AS n FROM" in labels["View Text:"]


def test_a_database_is_shown_with_its_comment_and_the_place_of_the_store(
    connection: Connection, state: SessionState, described: Described
) -> None:
    connection.execute("CREATE DATABASE d COMMENT 'other'")
    assert described("DESCRIBE DATABASE d") == [("d", state.store.path, "other")]
    assert described("DESCRIBE DATABASE default") == [("default", state.store.path, "")]


def test_stats_count_the_rows_and_bytes_that_there_are(
    connection: Connection, state: SessionState, described: Described
) -> None:
    columns, rows = table_stats(state, state.catalog.table("t"))
    assert columns.names[:3] == ("#Rows", "#Partitions", "Size")
    assert rows[0][:3] == (0, 3, "0B")
    connection.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    connection.execute("DELETE FROM t WHERE k = 2")
    connection.execute("FLUSH TABLE t")
    ((count, tablets, size, *_),) = table_stats(state, state.catalog.table("t"))[1]
    assert (count, tablets) == (1, 3)
    assert size != "0B" and size.endswith("B")
