"""Snapshots, dropped tables and the history age through the face."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection, OperationalError, ProgrammingError
from pykudu_sql.settings import stored_setting_value
from pykudu_sql.storage.errors import InvalidValueError


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
        connection.execute("INSERT INTO t VALUES (1, 1)")
        yield connection


def rows(connection: Connection, sql: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql).fetchall()


def test_a_prepared_statement_follows_a_snapshot_whose_name_comes_to_mean_another(
    connection: Connection,
) -> None:
    read = "SELECT v FROM t AS OF SNAPSHOT s WHERE k = 1"
    connection.execute("CREATE SNAPSHOT s")
    assert rows(connection, read) == [(1,)]
    connection.execute("UPDATE t SET v = 2")
    connection.execute("DROP SNAPSHOT s")
    connection.execute("CREATE SNAPSHOT s")
    assert rows(connection, read) == [(2,)]
    connection.execute("DROP SNAPSHOT s")
    with pytest.raises(ProgrammingError, match="snapshot 's' does not exist"):
        rows(connection, read)


def test_a_session_reads_at_a_named_snapshot(connection: Connection) -> None:
    connection.execute("CREATE SNAPSHOT before")
    connection.execute("UPDATE t SET v = 2")
    connection.execute("SET as_of = SNAPSHOT before")
    assert rows(connection, "SELECT * FROM t") == [(1, 1)]
    connection.execute("SET as_of = DEFAULT")
    assert rows(connection, "SELECT * FROM t") == [(1, 2)]


def test_a_name_after_as_of_may_be_any_word(connection: Connection) -> None:
    for name in ("first", "select_", "`two words`", '"Q"', "snapshot"):
        connection.execute(f"CREATE SNAPSHOT {name}")
        assert rows(connection, f"SELECT x.k FROM t AS OF SNAPSHOT {name} AS x") == [(1,)]
    assert len(rows(connection, "SHOW SNAPSHOTS")) == 5
    assert [row[0] for row in rows(connection, "SHOW SNAPSHOTS LIKE 'f%'")] == ["first"]


def test_an_open_transaction_of_another_connection_keeps_what_it_reads(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    with pykudu_sql.connect(path, autocommit=True) as writer, pykudu_sql.connect(path) as reader:
        writer.execute("SET DATABASE history_max_age = 0")
        writer.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
        writer.execute("INSERT INTO t VALUES (1, 1)")
        assert rows(reader, "SELECT v FROM t") == [(1,)]
        writer.execute("UPDATE t SET v = 2")
        writer.execute("DROP TABLE t")
        writer.execute("VACUUM")
        assert rows(writer, "SHOW DROPPED TABLES")[0][0] == "t"
        writer.execute("UNDROP TABLE t")
        writer.execute("OPTIMIZE TABLE t FULL")
        assert rows(reader, "SELECT v FROM t") == [(1,)]
        reader.rollback()
        assert rows(reader, "SELECT v FROM t") == [(2,)]
        reader.rollback()
        writer.execute("DROP TABLE t")
        writer.execute("VACUUM")
        with pytest.raises(ProgrammingError):
            writer.execute("UNDROP TABLE t")


def test_what_is_out_of_reach_has_a_state_of_its_own(connection: Connection) -> None:
    moment = rows(connection, "SELECT now()")[0][0]
    connection.execute("UPDATE t SET v = 2")
    connection.execute("SET DATABASE history_max_age = 0")
    with pytest.raises(OperationalError) as caught:
        rows(connection, f"SELECT * FROM t AS OF '{moment}'")
    assert caught.value.sqlstate == "72000"
    assert "CREATE SNAPSHOT" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (0, 0), ("90", 90), ("1 second", 1), ("2 minutes", 120), ("12 HOURS", 43200),
        ("7days", 604800), ("1 week", 604800), ("forever", -1), (-1, -1),
        ("999999999999 weeks", 1 << 40),
    ],
)  # fmt: skip
def test_an_age_is_seconds_or_words(text: object, seconds: int) -> None:
    assert stored_setting_value("history_max_age", text) == seconds


@pytest.mark.parametrize("text", ["", "x", "-2", "1.5", True, "1 year", "days", "1 s day"])
def test_other_ages_are_refused(text: object) -> None:
    with pytest.raises(InvalidValueError, match="'history_max_age' cannot be"):
        stored_setting_value("history_max_age", text)


def test_the_name_of_a_table_whose_past_is_purged_is_not_that_of_the_table_that_got_it(
    connection: Connection,
) -> None:
    connection.execute(
        "CREATE TABLE u (k STRING PRIMARY KEY) TBLPROPERTIES ('kudu.table.history_max_age_sec'='0')"
    )
    [(moment,)] = rows(connection, "SELECT now()")
    connection.execute("ALTER TABLE u RENAME TO x")
    connection.execute("ALTER TABLE t RENAME TO u")
    connection.execute("VACUUM")
    query = f"SELECT * FROM u AS OF '{moment}'"
    with pytest.raises(pykudu_sql.Error, match="does not reach back to a table 'u'") as caught:
        rows(connection, query)
    assert "the table of that name was 't' then" in str(caught.value)
    assert rows(connection, f"SELECT * FROM t AS OF '{moment}'") == [(1, 1)]
