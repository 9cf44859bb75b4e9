"""A table gets a new name in a database that exists, whatever statement gives it."""

import pytest

import pykudu_sql


@pytest.mark.parametrize("statement", ["ALTER TABLE a RENAME TO {}.b", "UNDROP TABLE z AS {}.b"])
@pytest.mark.parametrize(("database", "state"), [("nowhere", "3D000"), ("sys", "42501")])
def test_a_table_moves_into_no_database_that_is_not_there(
    statement: str, database: str, state: str
) -> None:
    with pykudu_sql.connect(autocommit=True) as conn:
        conn.execute("CREATE TABLE a (k INT PRIMARY KEY)")
        conn.execute("CREATE TABLE z (k INT PRIMARY KEY)")
        conn.execute("DROP TABLE z")
        with pytest.raises(pykudu_sql.Error) as caught:
            conn.execute(statement.format(database))
        assert caught.value.sqlstate == state
        assert conn.execute("SHOW DATABASES").fetchall() == [("default", "")]
        conn.execute("CREATE DATABASE d")
        conn.execute(statement.format("d"))
        assert conn.execute("SELECT database_name FROM sys.tables WHERE name = 'd.b'").fetchall()


def test_a_table_of_a_dropped_database_comes_back_with_it() -> None:
    with pykudu_sql.connect(autocommit=True) as conn:
        conn.execute("CREATE DATABASE d")
        conn.execute("CREATE TABLE d.a (k INT PRIMARY KEY)")
        conn.execute("DROP DATABASE d CASCADE")
        conn.execute("UNDROP TABLE d.a")
        assert conn.list_tables() == ["d.a"]
