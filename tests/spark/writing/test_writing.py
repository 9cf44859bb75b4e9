"""Writing DataFrames as one commit: all rows at one moment, or none."""

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import pykudu_sql
from pykudu_sql.spark.tables import read_table, write_table
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    LockedError,
    NotNullError,
    RowNotFoundError,
    UndefinedColumnError,
    UndefinedTableError,
    ValueOutOfRangeError,
)
from tests.spark.all_types import COLUMNS_OF_ALL_TYPES, ROW_OF_ALL_TYPES

Rows = list[tuple[object, ...]]


@pytest.fixture
def table(path: str) -> str:
    with pykudu_sql.connect(path) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING, w INT NOT NULL DEFAULT 7) "
            "PARTITION BY HASH (id) PARTITIONS 3"
        )
        conn.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    return path


def content(path: str, sql: str = "SELECT * FROM t ORDER BY id") -> Rows:
    with pykudu_sql.connect(path, read_only=True) as conn:
        return [tuple(row) for row in conn.execute(sql).fetchall()]


def strays(path: str) -> list[str]:
    """Files that belong to no commit."""
    folders = [Path(path) / name for name in ("staging", "tmp")]
    return [str(file) for folder in folders for file in folder.rglob("*") if file.is_file()]


def new_rows(spark: SparkSession, *rows: tuple[object, ...]) -> DataFrame:
    return spark.createDataFrame(list(rows), "id bigint, v string")


def test_rows_are_added_by_the_plain_data_frame_writer(spark: SparkSession, table: str) -> None:
    frame = spark.range(10, 1010, numPartitions=4).selectExpr("concat('v', id) AS v", "id")
    frame.write.format("pykudu").mode("append").option("table", "t").save(table)
    assert content(table, "SELECT count(*), min(v), max(v), sum(w), sum(id) FROM t") == [
        (1002, "a", "v999", 7003, sum(range(10, 1010)) + 3)
    ]
    assert strays(table) == []


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("insert_ignore", [(1, "a", 1), (2, "b", 2), (3, "new", 7)]),
        ("upsert", [(1, "a", 1), (2, "new", 2), (3, "new", 7)]),
        ("update_ignore", [(1, "a", 1), (2, "new", 2)]),
    ],
)
def test_operations_do_what_they_do_in_sql(
    spark: SparkSession, table: str, operation: str, expected: Rows
) -> None:
    report = write_table(new_rows(spark, (2, "new"), (3, "new")), table, "t", operation=operation)
    assert report.rows == 2
    assert content(table) == expected
    assert strays(table) == []


@pytest.mark.parametrize(
    ("rows", "operation", "error"),
    [
        ([(3, "x"), (2, "x")], "insert", AlreadyPresentError),
        ([(3, "x"), (3, "y")], "insert", AlreadyPresentError),
        ([(3, "x")], "update", RowNotFoundError),
        ([(None, "x")], "insert", NotNullError),
    ],
)
def test_a_row_that_does_not_fit_undoes_the_write(
    spark: SparkSession, table: str, rows: Rows, operation: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        write_table(new_rows(spark, *rows), table, "t", operation=operation)
    assert content(table) == [(1, "a", 1), (2, "b", 2)]
    assert strays(table) == []


def test_a_commit_that_fails_in_spark_leaves_no_trace(spark: SparkSession, table: str) -> None:
    writing = new_rows(spark, (3, "x"), (2, "x")).write.format("pykudu").mode("append")
    with pytest.raises(PySparkException, match="AlreadyPresentError"):
        writing.option("table", "t").save(table)
    assert content(table) == [(1, "a", 1), (2, "b", 2)]
    assert strays(table) == []


def test_rows_are_deleted_by_their_keys(spark: SparkSession, table: str) -> None:
    frame = new_rows(spark, (2, "")).select("id")
    write_table(frame, table, "t", operation="delete")
    assert content(table) == [(1, "a", 1)]


def test_an_overwrite_keeps_the_old_rows_for_as_of(spark: SparkSession, table: str) -> None:
    with pykudu_sql.connect(table, autocommit=True) as conn:
        conn.execute("CREATE SNAPSHOT old")
    frame = new_rows(spark, (2, "new"), (5, "new"))
    frame.write.format("pykudu").mode("overwrite").option("table", "t").save(table)
    assert content(table) == [(2, "new", 7), (5, "new", 7)]
    old = read_table(spark, table, "t", as_of="old", columns=["id", "v"])
    assert sorted(tuple(row) for row in old.collect()) == [(1, "a"), (2, "b")]


def test_every_type_goes_as_it_is_read(spark: SparkSession, path: str) -> None:
    kinds, row = COLUMNS_OF_ALL_TYPES, ROW_OF_ALL_TYPES
    with pykudu_sql.connect(path) as conn:
        conn.execute(f"CREATE TABLE t ({kinds})")
        conn.execute(f"CREATE TABLE copy ({kinds})")
        conn.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", row)
        conn.execute("INSERT INTO t (id) VALUES (2)")
    write_table(read_table(spark, path, "t"), path, "copy")
    assert content(path, "SELECT * FROM copy ORDER BY id") == [row, (2, *[None] * 14)]
    moments = spark.sql("SELECT 3L AS id, timestamp'1912-04-14 23:40:00' AS k")
    write_table(moments, path, "copy")
    assert content(path, "SELECT k FROM copy WHERE id = 3") == [(dt.datetime(1912, 4, 14, 23, 40),)]


def fails_once(folder: str) -> object:
    """A step that lets each task fail after it has passed rows on, the first time."""

    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        yield from batches
        mark = os.path.join(folder, str(context.partitionId()))
        if not os.path.exists(mark):
            open(mark, "w").close()
            raise RuntimeError("the first attempt fails")

    return step


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_task_tried_again_writes_its_rows_once(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    frame = spark.range(100, 200, numPartitions=2).selectExpr("id", "'x' AS v")
    failing = frame.mapInArrow(fails_once(str(marks)), frame.schema)  # type: ignore[arg-type]
    assert write_table(failing, table, "t").rows == 100
    assert len(list(marks.iterdir())) == 2
    assert content(table, "SELECT count(*) FROM t") == [(102,)]
    assert strays(table) == []


def test_a_job_that_fails_leaves_no_trace(spark: SparkSession, table: str) -> None:
    frame = spark.range(10, 2000, numPartitions=4).selectExpr(
        "id", "IF(id = 1999, raise_error('no'), 'x') AS v"
    )
    with pytest.raises(PySparkException, match="no"):
        write_table(frame, table, "t")
    assert len(content(table)) == 2
    assert strays(table) == []


def test_a_write_of_a_name_happens_once(spark: SparkSession, table: str) -> None:
    frame = new_rows(spark, (3, "x"))
    assert write_table(frame, table, "t", write_id="monday").timestamp is not None
    assert write_table(frame, table, "t", write_id="monday").timestamp is None
    assert len(content(table)) == 3


def test_the_process_that_has_the_database_open_commits_itself(
    spark: SparkSession, table: str
) -> None:
    with pykudu_sql.connect(table) as conn:
        tables = conn.spark()
        assert tables.read_table("t", where="id > 1").count() == 1
        tables.write_table(new_rows(spark, (3, "x")), "t")
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (3,)
        assert tables.read_table("t").count() == 3


def test_a_database_that_another_connection_writes_is_said_to_be_locked(
    spark: SparkSession, table: str
) -> None:
    with pykudu_sql.connect(table), pytest.raises(LockedError):
        write_table(new_rows(spark, (3, "x")), table, "t", wait_seconds=0.1)
    assert len(content(table)) == 2
    assert strays(table) == []


def test_what_does_not_fit_is_said_before_a_task_starts(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    frame = new_rows(spark, (3, "x"))
    with pytest.raises(UndefinedTableError, match="table 'x' does not exist"):
        write_table(frame, table, "x")
    with pytest.raises(UndefinedColumnError, match="column 'u' does not exist"):
        write_table(frame.withColumnRenamed("v", "u"), table, "t")
    with pytest.raises(NotNullError):
        write_table(frame.select("v"), table, "t")
    with pytest.raises(ValueOutOfRangeError):
        write_table(frame.selectExpr("id", "99999999999L AS w"), table, "t")
    with pytest.raises(PySparkException, match="there is no operation 'merge'"):
        frame.write.format("pykudu").mode("append").options(table="t", operation="merge").save(
            table
        )
    assert strays(table) == []


def test_an_identity_column_that_a_frame_leaves_out_is_numbered(
    spark: SparkSession, path: str
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE n (id INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v STRING)"
        )
        conn.execute("INSERT INTO n (v) VALUES ('first')")
        frame = spark.sql("SELECT explode(array('x', 'y')) AS v")
        assert conn.spark().write_table(frame, "n").rows == 2
        found = conn.execute("SELECT id, v FROM n ORDER BY id").fetchall()
        assert [number for number, _ in found] == [1, 2, 3]
        assert sorted(text for _, text in found) == ["first", "x", "y"]
    assert strays(path) == []


def test_rows_that_a_hidden_counter_numbers_are_inserted_and_upserted(
    spark: SparkSession, path: str
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE n (id BIGINT, v STRING, NON UNIQUE PRIMARY KEY (id)) "
            "PARTITION BY HASH (id) PARTITIONS 2"
        )
        conn.execute("INSERT INTO n VALUES (1, 'first')")
        frame = new_rows(spark, (1, "x"), (1, "y"), (2, "z"))
        assert conn.spark().write_table(frame, "n").rows == 3
        numbered = "SELECT auto_incrementing_id, id FROM n ORDER BY auto_incrementing_id"
        found = conn.execute(numbered).fetchall()
        assert [row[0] for row in found] == [1, 2, 3, 4]
        assert sorted(row[1] for row in found) == [1, 1, 1, 2]
        given = spark.sql("SELECT 7L AS id, 40L AS auto_incrementing_id, 'u' AS v")
        conn.spark().write_table(given, "n", operation="upsert")
        conn.execute("INSERT INTO n VALUES (8, 'after')")
        assert conn.execute(numbered).fetchall()[-2:] == [(40, 7), (41, 8)]
        with pytest.raises(ValueOutOfRangeError, match="should not be set"):
            conn.spark().write_table(given, "n")
    assert strays(path) == []
