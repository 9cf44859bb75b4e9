"""DDL, SHOW, DESCRIBE, EXPLAIN and SET through the face."""

from collections.abc import Iterator
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE m (host STRING, at TIMESTAMP, load DOUBLE DEFAULT 0.5 COMMENT 'how much',"
            " PRIMARY KEY (host, at)) PARTITION BY HASH (host) PARTITIONS 2, RANGE (at) ("
            "PARTITION VALUES < '2026-01-01', PARTITION '2026-01-01' <= VALUES)"
        )
        connection.execute(
            "INSERT INTO m VALUES ('a', '2025-06-01 00:00:00', 1), ('b', '2026-06-01 00:00:00', 2)"
        )
        yield connection


def rows(connection: Connection, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    return connection.execute(sql, parameters).fetchall()


def text(connection: Connection, sql: str, parameters: Any = None) -> str:
    return "\n".join(line for (line,) in rows(connection, sql, parameters))


def test_messages_say_what_was_done(connection: Connection) -> None:
    said = [
        connection.execute(sql).message
        for sql in (
            "CREATE TABLE t (a INT PRIMARY KEY)",
            "CREATE TABLE IF NOT EXISTS t (a INT PRIMARY KEY)",
            "INSERT INTO t VALUES (1), (2)",
            "UPSERT INTO t VALUES (2), (3)",
            "DELETE FROM t WHERE a = 1",
            "ALTER TABLE t ADD COLUMN b INT",
            "UPDATE t SET b = 1",
            "DROP TABLE t",
            "DROP TABLE IF EXISTS t",
            "SELECT 1",
        )
    ]
    assert said == [
        "Table has been created.",
        "Table already exists.",
        "Inserted 2 row(s)",
        "Upserted 2 row(s)",
        "Deleted 1 row(s)",
        "Table has been altered.",
        "Updated 2 row(s)",
        "Table has been dropped.",
        "Table does not exist.",
        None,
    ]


def test_a_table_made_from_a_query_holds_its_rows(connection: Connection) -> None:
    cursor = connection.execute(
        "CREATE TABLE c PRIMARY KEY (host) AS SELECT host, load * 2 AS twice FROM m"
    )
    assert cursor.rowcount == 2
    assert rows(connection, "SELECT * FROM c ORDER BY host") == [("a", 2.0), ("b", 4.0)]


def test_a_table_whose_rows_cannot_be_written_is_not_created(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.IntegrityError):
        connection.execute("CREATE TABLE c PRIMARY KEY (one) AS SELECT 1 AS one, host FROM m")
    assert connection.list_tables() == ["m"]


def test_show_create_table_makes_the_same_table_again(connection: Connection) -> None:
    sql = text(connection, "SHOW CREATE TABLE m")
    connection.execute("DROP TABLE m")
    connection.execute(sql)
    assert text(connection, "SHOW CREATE TABLE m") == sql


def test_describe_tells_columns_as_impala_does(connection: Connection) -> None:
    cursor = connection.execute("DESCRIBE m")
    assert [column[0] for column in cursor.description or ()][:7] == [
        "name",
        "type",
        "comment",
        "primary_key",
        "key_unique",
        "nullable",
        "default_value",
    ]
    assert [row[:7] for row in cursor.fetchall()] == [
        ("host", "STRING", "", True, True, False, None),
        ("at", "TIMESTAMP", "", True, True, False, None),
        ("load", "DOUBLE", "how much", False, None, True, "0.5"),
    ]


def test_show_lists_tables_tablets_and_ranges(connection: Connection) -> None:
    connection.execute("CREATE TABLE other (a INT PRIMARY KEY)")
    assert rows(connection, "SHOW TABLES") == [("m",), ("other",)]
    assert rows(connection, "SHOW TABLES LIKE 'o%'") == [("other",)]
    tablets = rows(connection, "SHOW TABLETS m")
    assert len(tablets) == 4
    assert sum(row[3] for row in tablets) == 2
    ranges = connection.execute("SHOW RANGE PARTITIONS m")
    assert [column[0] for column in ranges.description or ()] == ["RANGE (at)"]
    assert len(ranges.fetchall()) == 2


def test_show_rowsets_follows_a_flush(connection: Connection) -> None:
    assert {row[2] for row in rows(connection, "SHOW ROWSETS m")} == {"MemRowSet"}
    connection.execute("FLUSH TABLE m")
    assert {row[2] for row in rows(connection, "SHOW ROWSETS m")} == {"DiskRowSet"}


@pytest.mark.parametrize("flushed", [False, True])
def test_rowsets_are_listed_with_their_first_and_last_key(
    connection: Connection, flushed: bool
) -> None:
    connection.execute("CREATE TABLE spans (a INT, b STRING, PRIMARY KEY (a, b))")
    connection.execute("INSERT INTO spans VALUES (7, 'x'), (-3, 'it''s'), (7, 'b')")
    if flushed:
        connection.execute("FLUSH TABLE spans")
    (row,) = rows(connection, "SHOW ROWSETS spans")
    assert row[-2:] == ("(-3, 'it''s')", "(7, 'x')")


def test_settings_are_listed_changed_and_reset(connection: Connection) -> None:
    def value(name: str) -> object:
        return rows(connection, f"SHOW SETTINGS LIKE '{name}'")[0][1]

    assert value("default_hash_partitions") == "0"
    connection.execute("SET default_hash_partitions = 4")
    assert value("default_hash_partitions") == "4"
    connection.execute("SET default_hash_partitions = DEFAULT")
    assert value("default_hash_partitions") == "0"


@pytest.mark.parametrize(
    ("sql", "sqlstate", "message"),
    [
        ("SET default_hash_partition = 4", "42704", "did you mean 'default_hash_partitions'"),
        ("SET threads = 4", "55P02", "while the database is open"),
        ("SET default_hash_partitions = 'many'", "22023", "whole number"),
        ("SET implicit_primary_key = 7", "22023", "true or false"),
    ],
)
def test_settings_refuse_what_they_cannot_be(
    connection: Connection, sql: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(pykudu_sql.Error) as caught:
        connection.execute(sql)
    assert caught.value.sqlstate == sqlstate
    assert message in str(caught.value)


def test_connect_refuses_settings_it_does_not_know() -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="'durabilty'"):
        pykudu_sql.connect(":memory:", durabilty="off")
    with pytest.raises(pykudu_sql.DataError, match="durability"):
        pykudu_sql.connect(":memory:", durability="sometimes")


@pytest.mark.parametrize("size", ["64MB", "64 mb", 64 << 20, str(64 << 20)])
def test_sizes_are_given_in_bytes_or_with_a_unit(size: object) -> None:
    with pykudu_sql.connect(":memory:", memory_limit=size) as connection:
        found = rows(connection, "SHOW SETTINGS LIKE 'memory_limit'")
        assert found[0][1] == str(64 << 20)
        assert rows(connection, "SELECT 1") == [(1,)]


def test_explain_tells_what_a_scan_leaves_unread(connection: Connection) -> None:
    plan = text(connection, "EXPLAIN SELECT load FROM m WHERE host = 'a' AND at < '2025-12-01'")
    assert "tablets: 1 of 4" in plan
    assert "rowsets: 1 of 2" in plan
    assert "KEY LOOKUP m" in text(
        connection, "EXPLAIN SELECT load FROM m WHERE host = 'a' AND at = '2025-06-01'"
    )


def test_explain_prunes_by_parameters_when_they_are_given(connection: Connection) -> None:
    sql = "EXPLAIN SELECT load FROM m WHERE host = ? AND load > 0"
    assert "known when the parameters are" in text(connection, sql)
    assert "tablets: 2 of 4" in text(connection, sql, ("a",))


def test_explain_analyze_runs_the_statement_and_counts(connection: Connection) -> None:
    plan = text(connection, "EXPLAIN ANALYZE SELECT count(*) FROM m")
    assert "returned: 2 rows" in plan
    assert "total: 1 row in" in plan
    plan = text(connection, "EXPLAIN ANALYZE DELETE FROM m WHERE load > 1")
    assert "total: 1 row in" in plan
    assert rows(connection, "SELECT host FROM m") == [("a",)]


def test_a_limit_and_an_empty_table_make_no_difference_to_columns(connection: Connection) -> None:
    connection.execute("CREATE TABLE e (a INT PRIMARY KEY, v STRING)")
    cursor = connection.execute("SELECT v, a FROM e LIMIT 3")
    assert [column[:2] for column in cursor.description or ()] == [("v", "STRING"), ("a", "INT")]
    assert cursor.fetchall() == []


def test_columns_may_share_a_name(connection: Connection) -> None:
    cursor = connection.execute("SELECT host, host FROM m WHERE load = 1")
    assert [column[0] for column in cursor.description or ()] == ["host", "host"]
    assert cursor.fetchall() == [("a", "a")]
