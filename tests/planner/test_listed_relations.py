"""Listings in FROM: found outside of strings, and run anew at each planning."""

import pytest

import pykudu_sql
from pykudu_sql.planner.listed_relations import MAX_LISTINGS


@pytest.mark.parametrize(
    "query",
    [
        "SELECT '(SHOW TABLES)' AS a",
        "SELECT k FROM t ORDER BY (k)",
        "SELECT max(show) FROM (SELECT 1 AS show) s",
        "SELECT (desc) FROM (SELECT 1 AS desc) s",
    ],
)
def test_what_is_no_listing_is_left_alone(query: str) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        try:
            connection.execute(query).fetchall()
        except pykudu_sql.ProgrammingError as error:
            assert "desc" in error.message  # a keyword, as it was


def test_a_listing_is_not_kept_with_the_plan() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        query = "SELECT sum(rows) FROM (SHOW ROWSETS t)"
        before = connection.execute(query).fetchall()
        connection.execute("INSERT INTO t VALUES (1), (2)")
        assert connection.execute(query).fetchall() != before


def test_a_query_has_so_many_listings_and_no_more() -> None:
    tables = ", ".join(f"(SHOW TABLES) AS t{i}" for i in range(MAX_LISTINGS + 1))
    with (
        pykudu_sql.connect(":memory:") as connection,
        pytest.raises(pykudu_sql.ProgrammingError, match="listings"),
    ):
        connection.execute(f"SELECT * FROM {tables}")


def test_rows_keep_their_values() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING DEFAULT 'it''s')")
        alone = connection.execute("DESCRIBE t").fetchall()
        assert connection.execute("FROM (DESCRIBE t)").fetchall() == alone
