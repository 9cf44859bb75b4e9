"""Reading tables through `format("pykudu")`."""

import random

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import pykudu_sql
from tests.spark.all_types import COLUMNS_OF_ALL_TYPES, ROW_OF_ALL_TYPES


def load(spark: SparkSession, path: str, **options: str) -> DataFrame:
    return spark.read.format("pykudu").options(table="t", **options).load(path)


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in frame.toArrow().to_pylist())


@pytest.fixture
def numbers(path: str) -> str:
    """Ten rows in four tablets, some of them on disk."""
    with pykudu_sql.connect(path) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING, w DOUBLE) "
            "PARTITION BY HASH (id) PARTITIONS 4"
        )
        conn.executemany("INSERT INTO t VALUES (?, ?, ?)", [(i, f"v{i}", i / 2) for i in range(6)])
        conn.commit()
        conn.execute("FLUSH TABLE t")
        conn.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", [(i, f"v{i}", i / 2) for i in range(6, 10)]
        )
    return path


def test_all_rows_come_from_memory_and_disk(spark: SparkSession, numbers: str) -> None:
    frame = load(spark, numbers)
    assert frame.schema.simpleString() == "struct<id:bigint,v:string,w:double>"
    assert rows(frame) == [(i, f"v{i}", i / 2) for i in range(10)]
    assert frame.count() == 10


def test_every_type_comes_as_it_was_written(spark: SparkSession, path: str) -> None:
    kinds, row = COLUMNS_OF_ALL_TYPES, ROW_OF_ALL_TYPES
    with pykudu_sql.connect(path) as conn:
        conn.execute(f"CREATE TABLE t ({kinds})")
        conn.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", row)
        conn.execute("INSERT INTO t (id) VALUES (2)")
    assert rows(load(spark, path).where("id = 1")) == [row]
    assert rows(load(spark, path).where("id = 2")) == [(2, *[None] * 14)]
    moments = spark.read.format("pykudu").schema("k timestamp").option("table", "t").load(path)
    assert moments.where("k = timestamp'1812-06-24 05:06:07.000008'").count() == 1


def test_only_the_columns_asked_for_are_read(spark: SparkSession, numbers: str) -> None:
    assert load(spark, numbers, columns="w, id").columns == ["w", "id"]
    frame = spark.read.format("pykudu").schema("v string").option("table", "t").load(numbers)
    assert rows(frame) == [(f"v{i}",) for i in range(10)]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id >= 7", [7, 8, 9]),
        ("id = 3", [3]),
        ("id = 3 OR v = 'v8'", [3, 8]),
        ("length(v) = 2 AND w * 2 > 4.5", [5, 6, 7, 8, 9]),
        ("v IS NULL", []),
        ("id < 2 -- a remark", [0, 1]),
    ],
)
def test_a_condition_keeps_exactly_the_rows_that_match(
    spark: SparkSession, numbers: str, where: str, expected: list[int]
) -> None:
    assert rows(load(spark, numbers, where=where, columns="id")) == [(i,) for i in expected]


def test_one_dataframe_used_in_many_ways_gives_right_rows(
    spark: SparkSession, numbers: str
) -> None:
    """The five shapes that Spark's own push-down for Python sources answers wrongly."""
    frame = load(spark, numbers)
    assert (frame.filter("id = 3").count(), frame.count()) == (1, 10)
    three, five = frame.filter("id = 3"), frame.filter("id = 5")
    three.explain()
    five.explain()
    assert rows(three.select("id")) == [(3,)]
    assert rows(three.union(five).select("id")) == [(3,), (5,)]
    frame.createOrReplaceTempView("m")
    joined = spark.sql("SELECT a.id, b.id AS other FROM m a JOIN m b ON a.id < b.id "
                       "WHERE a.id = 3 AND b.id = 5")  # fmt: skip
    assert rows(joined) == [(3, 5)]
    counted = spark.sql("SELECT (SELECT count(*) FROM m) AS a, "
                        "(SELECT count(*) FROM m WHERE id = 3) AS b")  # fmt: skip
    assert rows(counted) == [(10, 1)]


def test_a_dataframe_loaded_once_stays_at_its_snapshot(spark: SparkSession, numbers: str) -> None:
    frame = load(spark, numbers)
    with pykudu_sql.connect(numbers) as conn:
        conn.execute("DELETE FROM t WHERE id < 5")
        conn.execute("UPSERT INTO t VALUES (9, 'new', 0)")
        conn.commit()
        assert rows(frame) == [(i, f"v{i}", i / 2) for i in range(10)]
        conn.execute("OPTIMIZE TABLE t FULL")
    assert rows(frame.select("id")) == [(i,) for i in range(10)]
    assert rows(load(spark, numbers, columns="id")) == [(i,) for i in range(5, 10)]


def test_the_moment_may_be_a_time_a_hybrid_time_or_a_snapshot(
    spark: SparkSession, numbers: str
) -> None:
    with pykudu_sql.connect(numbers, autocommit=True) as conn:
        conn.execute("CREATE SNAPSHOT before")
        (moment,) = conn.execute("SELECT CAST(now() AS STRING)").fetchone()
        conn.execute("DELETE FROM t WHERE id <> 1")
        assert load(spark, numbers, asOf="before").count() == 10
        assert load(spark, numbers, asOf=moment).count() == 10
        assert load(spark, numbers).count() == 1
        with pytest.raises(PySparkException, match=r"lies in the future|has not come yet"):
            load(spark, numbers, asOf="2999-01-01")


def test_an_empty_table_gives_no_row(spark: SparkSession, path: str) -> None:
    with pykudu_sql.connect(path) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    assert load(spark, path).count() == 0


def test_small_splits_give_more_tasks_and_the_same_rows(spark: SparkSession, path: str) -> None:
    with pykudu_sql.connect(path) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v BINARY)")
        noise = random.Random(7)
        conn.append("t", {"id": range(60_000), "v": [noise.randbytes(16) for _ in range(60_000)]})
    frame = load(spark, path, splitBytes="65536")
    assert frame.rdd.getNumPartitions() > 1
    assert frame.selectExpr("sum(id)").first() == (sum(range(60_000)),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "x"}, "table 'x' does not exist"),
        ({"columns": "id,nope"}, "column 'nope' does not exist"),
        ({"where": "nope = 1"}, "nope"),
        ({"where": "id IN (SELECT id FROM t)"}, "of one row of 't' alone"),
        ({"where": "id = 1) UNION (SELECT 1"}, r"no '\(' opens it"),
        ({"asOf": "yesterday-ish"}, "no moment"),
        ({"splitBytes": "much"}, "not a number of bytes"),
    ],
)
def test_what_does_not_fit_is_said(
    spark: SparkSession, numbers: str, options: dict[str, str], message: str
) -> None:
    reading = spark.read.format("pykudu").options(**{"table": "t", **options})
    with pytest.raises(PySparkException, match=message):
        reading.load(numbers).count()


def test_a_schema_that_is_not_the_tables_is_refused(spark: SparkSession, numbers: str) -> None:
    reading = spark.read.format("pykudu").schema("id int").option("table", "t")
    with pytest.raises(PySparkException, match="read as bigint, not as int"):
        reading.load(numbers).count()
