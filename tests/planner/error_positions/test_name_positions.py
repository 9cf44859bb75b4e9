"""Errors about missing and duplicate objects point at the name, whatever statement has it."""

import pytest

import pykudu_sql
from pykudu_sql.planner.error_positions.name_positions import span_of_name

MADE = (
    "CREATE TABLE a (k INT PRIMARY KEY, v INT)",
    "CREATE SNAPSHOT s",
    "CREATE DATABASE d",
    "CREATE VIEW w AS SELECT 1 AS one",
)


@pytest.fixture(scope="module")
def conn() -> pykudu_sql.Connection:
    made = pykudu_sql.connect(autocommit=True)
    for statement in MADE:
        made.execute(statement)
    return made


@pytest.mark.parametrize(
    "statement",
    [
        "UNDROP TABLE ^q",
        "UNDROP TABLE ^q AS r",
        "UNDROP TABLE ^d.q",
        "UNDROP TABLE ^a",
        "CREATE SNAPSHOT ^s",
        "DROP SNAPSHOT ^q",
        "CREATE DATABASE ^d",
        "CREATE TABLE ^a (a INT PRIMARY KEY)",
        'CREATE TABLE ^"a" (a INT PRIMARY KEY)',
        "CREATE TABLE ^w (a INT PRIMARY KEY)",
        "CREATE VIEW ^a AS SELECT 1 AS a",
        "CREATE TABLE ^q.a (a INT PRIMARY KEY)",
        "UNDROP TABLE q AS ^sys.q",
        "UNDROP TABLE q AS ^r.q",
        "SET ^q = 1",
        "RESET ^q",
        "SHOW ^q",
    ],
)
def test_the_name_is_pointed_at(conn: pykudu_sql.Connection, statement: str) -> None:
    with pytest.raises(pykudu_sql.Error) as caught:
        conn.execute(statement.replace("^", ""))
    assert caught.value.position is not None
    assert caught.value.position.column == statement.index("^") + 1


def test_a_table_that_is_taken_for_a_new_name_is_pointed_at(conn: pykudu_sql.Connection) -> None:
    conn.execute("CREATE TABLE dropped (k INT PRIMARY KEY)")
    conn.execute("DROP TABLE dropped")
    with pytest.raises(pykudu_sql.Error) as caught:
        conn.execute("UNDROP TABLE dropped AS a")
    assert caught.value.position is not None and caught.value.position.column == 25


def test_a_statement_that_nobody_wrote_is_not_quoted(conn: pykudu_sql.Connection) -> None:
    with pytest.raises(pykudu_sql.Error) as caught:
        conn.create_table("a", {"k": [1]}, key=["k"])
    assert caught.value.position is None


@pytest.mark.parametrize(
    "statement", ["SELECT q", "CREATE TABLE r AS SELECT 'q'", "CREATE DATABASE 'x", ""]
)
def test_a_name_that_is_not_there_has_no_place(statement: str) -> None:
    assert span_of_name("there is no table 'q'", statement) is None
