"""Numbers and texts that are no moments, and parameters that are no tables, are told so."""

import contextlib

import pytest

import pykudu_sql


@pytest.mark.parametrize("number", [1999, 20260131, 1_700_000_000, 1_700_000_000_000_000])
def test_a_year_a_date_or_seconds_are_told_what_they_are_read_as(number: int) -> None:
    with contextlib.closing(pykudu_sql.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        with pytest.raises(pykudu_sql.DataError, match="a number is a hybrid timestamp") as caught:
            connection.execute(f"SELECT * FROM t FOR SYSTEM_TIME AS OF {number}")
        assert "1970-01-0" in str(caught.value) and "'2026-01-31'" in str(caught.value)


@pytest.mark.parametrize("text", ["1e3", "1.5", "'1999'", "'x'"])
def test_what_is_no_moment_is_shown_as_it_was_written_with_the_forms(text: str) -> None:
    with contextlib.closing(pykudu_sql.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        with pytest.raises(pykudu_sql.DataError, match=r"^['\w.]+ is no moment") as caught:
            connection.execute(f"SELECT * FROM t FOR SYSTEM_TIME AS OF {text}")
        assert "'2026-01-31'" in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "form"),
    [
        ("SELECT * FROM t AS OF 'Loaded'", "SNAPSHOT 'loaded'"),
        ("SELECT count(*) FROM t AS OF ?", "SNAPSHOT 'loaded'"),
        ("RESTORE TABLE t TO 'loaded'", "SNAPSHOT 'loaded'"),
        ("SET as_of = 'loaded'", "SNAPSHOT 'loaded'"),
        ("SELECT * FROM CHANGES(t, 'loaded')", "snapshot('loaded')"),
    ],
)
def test_the_name_of_a_snapshot_is_told_how_a_snapshot_is_named(statement: str, form: str) -> None:
    with contextlib.closing(pykudu_sql.connect(":memory:", autocommit=True)) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        connection.execute("CREATE SNAPSHOT loaded")
        with pytest.raises(pykudu_sql.DataError, match="is no moment") as caught:
            connection.execute(statement, ("loaded",) if "?" in statement else ())
        assert caught.value.hint == f"there is a snapshot of that name: write {form}"


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM ?", "DELETE FROM ?", "UPDATE ? SET a = 1", "SELECT 1 FROM t, ?"]
)
def test_a_parameter_cannot_stand_for_a_table(statement: str) -> None:
    with contextlib.closing(pykudu_sql.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        with pytest.raises(pykudu_sql.ProgrammingError, match="cannot be a table") as caught:
            connection.execute(statement, ("t",))
        assert caught.value.sqlstate == "42601" and "?0" not in str(caught.value)
