"""Statements of a session whose engine is Spark: moments, transactions, writes, errors, choice."""

import datetime as dt
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("statements") / "my.db"


@pytest.fixture(scope="module")
def connection(spark: SparkSession, path: Path) -> Iterator[Connection]:
    with pykudu_sql.connect(str(path), autocommit=True, engine="spark") as connection:
        connection.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, k INT, s STRING, d DECIMAL(9, 2), day DATE,"
            " ts TIMESTAMP, x BINARY, b BOOLEAN, v DOUBLE, f FLOAT)"
            " PARTITION BY HASH (id) PARTITIONS 2"
        )
        for i in range(6):
            connection.execute(
                f"INSERT INTO t VALUES ({i}, {i} % 3, 's_{i}%', {i}.25, '2020-01-0{i + 1}',"
                f" '1960-01-0{i + 1} 00:00:00.5', x'0{i}', {i} > 2, {i} / 4, {i} / 10)"
            )
        yield connection


def plan_of(connection: Connection, sql: str) -> str:
    return "\n".join(row[0] for row in connection.execute(f"EXPLAIN {sql}").fetchall())


@pytest.mark.parametrize(
    "condition",
    [
        "id = 3",
        "id IN (1, 4, 77) AND k < 2",
        "s = 's_3%'",
        "s LIKE 's_%'",
        "s LIKE 's%' AND day > '2020-01-03'",
        "day BETWEEN '2020-01-02' AND '2020-01-04' OR id = 0",
        "ts >= '1960-01-03 00:00:00.5'",
        "x = x'04'",
        "d = 3.25",
        "b",
        "f = 0.1 OR v = 0.25",
        "k IS NULL OR id > 4",
    ],
)
def test_a_condition_that_was_pushed_down_loses_no_row(
    connection: Connection, condition: str
) -> None:
    sql = f"SELECT id FROM t WHERE {condition} ORDER BY id"
    theirs = connection.execute(sql).fetchall()
    connection.execute("SET engine = 'duckdb'")
    ours = connection.execute(sql).fetchall()
    connection.execute("SET engine = 'spark'")
    assert theirs == ours


def test_explain_shows_the_engine_its_sql_and_what_each_table_is_read_by(
    connection: Connection,
) -> None:
    plan = plan_of(connection, "SELECT s FROM t WHERE id = 3 AND k > 1 AND s LIKE 's%' AND s <> ''")
    assert plan.startswith("ENGINE spark\n  sql: SELECT `t`.`s` AS `s` FROM `__scan_0` AS `t`")
    assert """read where: ("id" = 3) AND ("k" >= 2) AND ("s" LIKE 's%')""" in plan
    assert "columns: id, k, s" in plan
    assert "rows in" in plan_of(connection, "ANALYZE SELECT s FROM t WHERE k = 1")


def test_parameters_keep_their_types_and_their_text(connection: Connection) -> None:
    text = "it's \\ ${spark.app.name} `?` $1\n☃"
    given = (3, text, Decimal("2.50"), dt.date(2020, 1, 4), dt.datetime(1960, 1, 4), b"\x00'", None)
    sql = "SELECT ?, ?, ?, ?, ?, ?, ?, -1.5, id FROM t WHERE id = CAST(? AS BIGINT) AND k + ? > -9"
    theirs = connection.execute(sql, (*given, 3, -2)).fetchone()
    assert theirs == (*given, Decimal("-1.5"), 3)


def test_each_table_of_a_query_is_read_at_its_own_moment(connection: Connection) -> None:
    connection.execute("CREATE TABLE past (id INT PRIMARY KEY, v INT)")
    connection.execute("INSERT INTO past VALUES (1, 10), (2, 20)")
    before = connection.snapshot_timestamp()
    connection.execute("UPDATE past SET v = v + 1")
    connection.execute("DELETE FROM past WHERE id = 2")
    sql = f"SELECT o.id, o.v, n.v FROM past FOR SYSTEM_TIME AS OF {before} o LEFT JOIN past n"
    sql += " ON o.id = n.id ORDER BY 1"
    assert connection.execute(sql).fetchall() == [(1, 10, 11), (2, 20, None)]
    assert "ENGINE spark" in plan_of(connection, sql)


def test_uncommitted_changes_keep_a_query_here(connection: Connection) -> None:
    connection.execute("BEGIN")
    try:
        assert "ENGINE spark" in plan_of(connection, "SELECT max(k) FROM t WHERE id > 1")
        connection.execute("INSERT INTO t (id, k) VALUES (100, 100)")
        plan = plan_of(connection, "SELECT max(k) FROM t WHERE id > 1")
        assert "not on Spark: the transaction has changes that are not committed" in plan
        found = connection.execute("SELECT max(k) FROM t WHERE id > 1").fetchone()
    finally:
        connection.execute("ROLLBACK")
    assert found == (100,)


def test_a_transaction_keeps_its_snapshot(connection: Connection, path: Path) -> None:
    sql = "SELECT count(k), sum(k) FROM t WHERE k >= 0"
    with pykudu_sql.connect(str(path), autocommit=True) as other:
        connection.execute("BEGIN")
        try:
            before = connection.execute(sql).fetchone()
            other.execute("INSERT INTO t (id, k) VALUES (200, 7)")
            assert connection.execute(sql).fetchone() == before
        finally:
            connection.execute("ROLLBACK")
            other.execute("DELETE FROM t WHERE id = 200")


def test_tables_are_made_and_filled_from_queries_on_spark(connection: Connection) -> None:
    rows = "SELECT id, count(*) AS n, sum(d) AS total FROM t WHERE id < 4 GROUP BY id"
    made = f"CREATE TABLE sums PRIMARY KEY (id) AS {rows}"
    assert "ENGINE spark" in plan_of(connection, made)
    connection.execute(made)
    more = "INSERT INTO sums SELECT id, k, d FROM t WHERE id >= 4"
    assert "ENGINE spark" in plan_of(connection, more)
    assert connection.execute(more).rowcount == 2
    connection.execute("SET engine = 'duckdb'")
    found = connection.execute("SELECT * FROM sums ORDER BY id").fetch_arrow_table()
    connection.execute("SET engine = 'spark'")
    assert found.column("n").to_pylist() == [1, 1, 1, 1, 1, 2]
    assert found.schema.field("n").type == pa.int64()


def test_an_overflow_is_an_error_of_ours(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.DataError, match="overflow"):
        connection.execute("SELECT id + 9223372036854775807 FROM t WHERE id > 0").fetchall()


def test_a_subquery_of_several_rows_as_a_value_is_an_error_of_ours(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.DataError, match="more than one row"):
        connection.execute("SELECT (SELECT k FROM t WHERE id < 3) FROM t").fetchall()


def test_auto_takes_spark_for_what_scans_more_than_the_setting(connection: Connection) -> None:
    connection.execute("SET engine = 'auto'")
    try:
        small = plan_of(connection, "SELECT sum(k) FROM t")
        connection.execute("SET spark_scan_bytes = 10")
        large = plan_of(connection, "SELECT sum(k) FROM t")
    finally:
        connection.execute("SET spark_scan_bytes = DEFAULT")
        connection.execute("SET engine = 'spark'")
    assert small.startswith("ENGINE duckdb\n  not on Spark: its scans take about ")
    assert large.startswith("ENGINE spark")


def test_interrupt_ends_the_statement_and_its_job(
    spark: SparkSession, connection: Connection
) -> None:
    # Interrupted at its first job, a broadcast: a task that multiplies rows hears of no
    # interruption, and would take a processor from the tests after this one.
    slow = "SELECT count(*) FROM " + ", ".join(f"t AS t{i}" for i in range(11))
    slow += " WHERE " + " + ".join(f"t{i}.k" for i in range(11)) + " = -1"
    failures: list[pykudu_sql.Error] = []

    def run() -> None:
        try:
            connection.execute(slow)
        except pykudu_sql.Error as error:
            failures.append(error)

    tracker = spark.sparkContext.statusTracker()
    runner = threading.Thread(target=run)
    runner.start()
    while runner.is_alive() and not tracker.getActiveJobsIds():
        time.sleep(0.001)
    connection.interrupt()
    runner.join()
    assert [error.sqlstate for error in failures] == ["57014"]
    while tracker.getActiveJobsIds():
        time.sleep(0.01)


def test_a_database_in_memory_stays_with_the_embedded_engine() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True, engine="spark") as memory:
        memory.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
        memory.execute("INSERT INTO t VALUES (1, 2)")
        assert memory.execute("SELECT sum(v) FROM t").fetchone() == (2,)
        assert "not on Spark: the database is in memory" in plan_of(memory, "SELECT sum(v) FROM t")
