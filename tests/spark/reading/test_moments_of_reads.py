"""The moment that a read on Spark is of: before the table was made, and inside a transaction."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.jobs.options import ChangesOptions
from pykudu_sql.spark.failures import database_errors
from pykudu_sql.spark.tables import read_table
from pykudu_sql.storage.errors import Error, NotSupportedError, UndefinedTableError
from tests.spark.spark_jobs import changes


@pytest.fixture
def conn(path: str) -> Iterator[Connection]:
    with pykudu_sql.connect(path) as connection:
        connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        yield connection


def ids(conn: Connection) -> list[int]:
    return sorted(row.id for row in conn.spark().read_table("t").collect())


def test_a_moment_before_the_table_says_since_when_it_exists(
    spark: SparkSession, conn: Connection
) -> None:
    before = conn.snapshot_timestamp()
    conn.execute("CREATE TABLE late (id BIGINT PRIMARY KEY)")
    message = "table 'late' did not exist yet at that moment"
    with pytest.raises(UndefinedTableError, match=message) as caught:
        read_table(spark, conn.path, "late", as_of=before)
    assert "it exists since 20" in (caught.value.hint or "")
    source = spark.read.format("pykudu").options(table="late", asOf=str(before))
    with pytest.raises(UndefinedTableError, match=message), database_errors():
        source.load(conn.path)
    with pytest.raises(pykudu_sql.ProgrammingError, match=message):
        conn.execute(f"SELECT * FROM late FOR SYSTEM_TIME AS OF {before}")


def test_a_read_sees_the_snapshot_of_the_open_transaction(
    spark: SparkSession, conn: Connection
) -> None:
    assert conn.execute("SELECT count(*) FROM t WHERE id > 0").fetchone() == (1,)
    with pykudu_sql.connect(conn.path, autocommit=True) as other:
        other.execute("INSERT INTO t VALUES (2)")
    assert ids(conn) == [row[0] for row in conn.execute("SELECT id FROM t").fetchall()] == [1]
    conn.commit()
    assert ids(conn) == [1, 2]


def test_a_read_is_refused_where_it_would_miss_changes_of_its_transaction(
    spark: SparkSession, conn: Connection
) -> None:
    before = conn.snapshot_timestamp()
    conn.execute("INSERT INTO t VALUES (2)")
    tables = conn.spark()
    for read in (
        lambda: tables.read_table("t"),
        lambda: tables.read_changes("t", since=before),
    ):
        with pytest.raises(NotSupportedError, match="changes that are not committed"):
            read()
    assert [row.id for row in tables.read_table("t", as_of=before).collect()] == [1]
    conn.commit()
    assert ids(conn) == [1, 2]
    assert tables.read_changes("t", since=before).count() == 1


def test_a_read_sees_the_moment_that_the_session_is_set_to(
    spark: SparkSession, conn: Connection
) -> None:
    conn.execute(f"SET as_of = {conn.snapshot_timestamp()}")
    conn.execute("RESET as_of")
    before = conn.snapshot_timestamp()
    conn.execute("INSERT INTO t VALUES (2)")
    conn.commit()
    conn.execute(f"SET as_of = {before}")
    assert ids(conn) == [1]


@pytest.mark.parametrize(
    ("since", "sqlstate"),
    [
        *(("1999", "22018"), ("20260131", "22018"), ("1e3", "22018"), ("2026-13-01", "22018")),
        *(("x", "42704"), ("SNAPSHOT monday", "42704")),
    ],
)
def test_changes_since_what_is_no_moment_end_before_spark_starts(
    path: str, since: str, sqlstate: str
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    with pytest.raises(Error, match=f"^'?{since}'? is no moment") as caught:
        changes(path, "t", f"{path}.changes", since, ChangesOptions(master="no master"))
    assert caught.value.sqlstate == sqlstate
    assert "'2026-01-31 12:00:00'" in (caught.value.hint or "")
    assert not Path(f"{path}.changes").exists()
