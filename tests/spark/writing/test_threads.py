"""Writes from threads of the program, and tables under names of Spark's SQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.spark.failures import database_errors
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import active_session, write_table
from pykudu_sql.storage.errors import AlreadyPresentError, InvalidValueError, NotSupportedError

T = TypeVar("T")


@pytest.fixture
def table(path: str) -> str:
    """One row."""
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
        conn.execute("INSERT INTO t VALUES (1, 'a')")
    return path


def in_thread(function: Callable[[], T]) -> T:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def rows(path: str) -> list[tuple[object, ...]]:
    with pykudu_sql.connect(path, read_only=True) as conn:
        return conn.execute("SELECT * FROM t ORDER BY id").fetchall()


def test_a_thread_without_a_session_writes(spark: SparkSession, table: str) -> None:
    frame = spark.createDataFrame([(2, "b")], "id bigint, v string")
    assert in_thread(lambda: write_table(frame, table, "t")).rows == 1
    with pykudu_sql.connect(table, autocommit=True) as conn:
        tables = conn.spark()
        report = in_thread(lambda: tables.write_table(frame, "t", operation="insert_ignore"))
        assert report.rows == 1
        assert in_thread(lambda: conn.spark().session) is tables.session
    assert rows(table) == [(1, "a"), (2, "b")]


def test_a_thread_is_left_as_it_was(spark: SparkSession, table: str) -> None:
    other = spark.newSession()
    frame = spark.createDataFrame([(2, "b")], "id bigint, v string")

    def write() -> list[object]:
        write_table(frame, table, "t")
        found: list[object] = [SparkSession.getActiveSession()]
        with active_session(other):
            write_table(frame, table, "t", operation="upsert")
            found.append(SparkSession.getActiveSession())
        return [*found, SparkSession.getActiveSession()]

    before, within, after = in_thread(write)
    assert before is None and within is not None and after is None


def test_what_spark_writes_in_a_thread_has_a_cure(spark: SparkSession, table: str) -> None:
    frame = spark.createDataFrame([(2, "b")], "id bigint, v string")

    def write() -> None:
        with active_session(spark):
            frame.write.format("pykudu").mode("append").option("table", "t").save(table)

    in_thread(write)
    assert rows(table) == [(1, "a"), (2, "b")]


def test_starting_a_session_in_a_thread_changes_no_setting(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        assert in_thread(start_session) is not None
        assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


def test_a_write_says_the_reason_and_the_way_out(spark: SparkSession, table: str) -> None:
    frame = spark.createDataFrame([(5, "b"), (5, "c")], "id bigint, v string").coalesce(1)
    with pytest.raises(AlreadyPresentError) as caught:
        write_table(frame, table, "t")
    assert caught.value.hint
    assert "Traceback" not in str(caught.value)
    known = spark.range(1, 4).selectExpr("id", "'b' AS v").coalesce(1)
    write_table(known, table, "t", operation="upsert")
    with pytest.raises(
        AlreadyPresentError, match=r"\(id\) = \(1\), and so for 2 rows more"
    ) as there:
        write_table(known, table, "t")
    assert "the operation upsert" in str(there.value.hint)
    with pytest.raises(InvalidValueError, match="there is no operation 'put'") as wrong:
        write_table(frame, table, "t", operation="put")
    assert "choose one of" in (wrong.value.hint or "")


def test_a_view_stands_for_a_table_and_a_table_of_sparks_catalog_cannot(
    spark: SparkSession, table: str
) -> None:
    options = f"USING pykudu OPTIONS (table 't', path '{table}', where 'id < 3')"
    message = "does not keep the options"
    with pytest.raises(NotSupportedError, match=message) as caught, database_errors():
        spark.sql(f"CREATE TABLE mine {options}")
    assert "CREATE TEMPORARY VIEW" in (caught.value.hint or "")
    spark.sql(f"CREATE TEMPORARY VIEW mine {options}")
    try:
        assert [tuple(row) for row in spark.sql("SELECT * FROM mine").collect()] == [(1, "a")]
    finally:
        spark.catalog.dropTempView("mine")


def test_a_view_takes_rows(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TEMPORARY VIEW mine USING pykudu OPTIONS (table 't', path '{table}')")
    try:
        spark.sql("INSERT INTO mine SELECT id + 1, 'b' FROM mine")
    finally:
        spark.catalog.dropTempView("mine")
    assert rows(table) == [(1, "a"), (2, "b")]
