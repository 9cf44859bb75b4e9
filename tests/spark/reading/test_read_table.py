"""The function `read_table`, which plans in this process, gives what the format gives."""

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import pykudu_sql
from pykudu_sql.spark.options import ReadOptions
from pykudu_sql.spark.reading import lease_registry, token_frame
from pykudu_sql.spark.reading.read_plan import read_planner
from pykudu_sql.spark.reading.residual import Projection, Residual, matching
from pykudu_sql.spark.reading.token_task import read_in_task
from pykudu_sql.spark.tables import read_table, write_table
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    OperationalError,
    ProgrammingError,
    UndefinedTableError,
)
from pykudu_sql.storage.remote import scan_planner

Rows = list[tuple[object, ...]]


@pytest.fixture
def prices(path: str) -> str:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, a DECIMAL(5,2) NOT NULL, b DECIMAL(18,4), "
            'c DECIMAL(38,10), "d`e.f" DECIMAL(9,0)) PARTITION BY HASH (id) PARTITIONS 3'
        )
        conn.execute(
            "INSERT INTO t SELECT range, -999.99, IF(range % 3 = 0, NULL, 99999999999999.9999), "
            "-9999999999999999999999999999.9999999999, range FROM range(20)"
        )
        conn.execute("FLUSH TABLE t")
        conn.execute("UPDATE t SET a = 0.01 WHERE id = 7")
    return path


def rows(spark: SparkSession, path: str) -> Rows:
    frame = read_table(spark, path, "t")
    return sorted(tuple(row.values()) for row in frame.toArrow().to_pylist())


def stored(path: str) -> Rows:
    with pykudu_sql.connect(path, read_only=True) as conn:
        return [tuple(row) for row in conn.execute("SELECT * FROM t ORDER BY id").fetchall()]


def test_decimals_are_what_they_are_in_the_table(spark: SparkSession, prices: str) -> None:
    frame = read_table(spark, prices, "t")
    assert frame.schema == spark.read.format("pykudu").option("table", "t").load(prices).schema
    assert rows(spark, prices) == stored(prices)
    assert frame.where("a = 0.01").select("id").collect() == [(7,)]
    chosen = read_table(spark, prices, "t", where="id < 3", columns=["a", "b"])
    assert sorted(chosen.collect(), key=str) == [
        (Decimal("-999.99"), Decimal("99999999999999.9999")),
        (Decimal("-999.99"), Decimal("99999999999999.9999")),
        (Decimal("-999.99"), None),
    ]
    assert frame.selectExpr("sum(a)").first() == (Decimal("-18999.80"),)


def test_a_spark_without_the_expression_is_given_decimals(
    spark: SparkSession, prices: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_frame, "_decimals", lambda *_: {})
    assert rows(spark, prices) == stored(prices)


def test_names_are_names_whatever_stands_in_them(spark: SparkSession, path: str) -> None:
    names = ["${spark.app.name}", "x${q}y", "a,b", " edge ", "`.*`"]
    with pykudu_sql.connect(path, autocommit=True) as conn:
        defined = ", ".join("`" + name.replace("`", "``") + "` DECIMAL(5,1)" for name in names)
        conn.execute(f"CREATE TABLE t (id BIGINT PRIMARY KEY, {defined})")
        conn.execute("INSERT INTO t VALUES (1, 1, 2, 3, 4, NULL)")
    regular = "spark.sql.parser.quotedRegexColumnNames"
    for setting in ("false", "true"):
        spark.conf.set(regular, setting)
        try:
            frame = read_table(spark, path, "t")
            chosen = read_table(spark, path, "t", columns=names)
            assert frame.columns == ["id", *names]
            assert chosen.columns == names
            assert frame.collect() == [(1, 1, 2, 3, 4, None)]
            assert chosen.collect() == [(1, 2, 3, 4, None)]
        finally:
            spark.conf.unset(regular)


def test_columns_without_null_read_faster_and_look_the_same(spark: SparkSession, path: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, a DECIMAL(5,2), b STRING, c DATE)")
        conn.execute(
            "INSERT INTO t SELECT range, 1.5, IF(range = 3, NULL, 'x'), NULL FROM range(9)"
        )
        conn.execute("FLUSH TABLE t")
        full = read_table(spark, path, "t")
        conn.execute("UPDATE t SET a = NULL WHERE id = 2")
    changed = read_table(spark, path, "t")
    told = [(full, [False, False, True, True], 9), (changed, [False, True, True, True], 8)]
    for frame, when_run, count in told:
        assert [field.nullable for field in frame.schema] == [False, True, True, True]
        assert _nullable_when_run(frame) == when_run
        assert frame.selectExpr("count(a)", "count(b)", "count(c)").first() == (count, 8, 0)
    assert full.where("a IS NULL").count() == 0
    assert changed.where("a IS NULL").count() == 1


def _nullable_when_run(frame: DataFrame) -> list[bool]:
    """Which columns may be NULL for Spark's optimizer."""
    output = frame._jdf.queryExecution().optimizedPlan().output()
    return [output.apply(place).nullable() for place in range(len(frame.columns))]


def test_a_cell_that_cannot_be_null_is_not_read_as_something_else(
    spark: SparkSession, prices: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_planner, "_with_null", lambda *_: ())
    with pytest.raises(Exception, match="column 'b' is NULL in a row, and the schema"):
        read_table(spark, prices, "t").collect()


def test_spark_guesses_the_size_of_a_frame_by_the_bytes_to_read(
    spark: SparkSession, path: str
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, a BIGINT) PARTITION BY HASH (id) PARTITIONS 3"
        )
        conn.execute("CREATE TABLE none (id BIGINT PRIMARY KEY)")
        conn.execute("INSERT INTO t SELECT range, range * range * 7919 % 1000003 FROM range(30000)")
        conn.execute("FLUSH TABLE t")
    frame = read_table(spark, path, "t", split_bytes=1 << 16)
    assert frame.rdd.getNumPartitions() > 1
    size = sum(path.stat().st_size for path in Path(path, "tablets").rglob("*") if path.is_file())
    assert size / 2 < _guessed_bytes(frame) < 2 * size
    assert _guessed_bytes(read_table(spark, path, "t", columns=["id"])) < _guessed_bytes(frame)
    few = read_table(spark, path, "t", where="id BETWEEN 7 AND 9")
    assert sorted(few.collect()) == [(key, key * key * 7919) for key in (7, 8, 9)]
    assert read_table(spark, path, "none").collect() == []


def _guessed_bytes(frame: DataFrame) -> int:
    return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())


@pytest.mark.parametrize("changed", [False, True])
def test_a_condition_that_the_scan_decides_needs_no_engine_in_tasks(
    prices: str, changed: bool
) -> None:
    with pykudu_sql.connect(prices, autocommit=True) as conn:
        if changed:
            conn.execute("UPDATE t SET b = 3 WHERE id > 15")
        for where, kind in {
            "b = 3": Projection,
            "id >= 2 AND b IS NOT NULL": Projection,
            "b < 4 OR id = 3": Projection,
            "b <> 3": Residual,
            "b + 1 = 4": Residual,
            "id >= 2 AND b + 1 > 4": Residual,
        }.items():
            options = ReadOptions.of(
                {"path": prices, "table": "t", "where": where, "columns": "a,id"}
            )
            with read_planner(options) as planner:
                plan = planner.plan(planner.columns())
            assert isinstance(plan.residual, kind), where
            texts = [token.to_json() for token in plan.scan.tokens]
            read = read_in_task(options.location, texts, plan.scan.lease_path)
            found = [tuple(row.values()) for b in matching(read, plan.residual)
                     for row in b.to_pylist()]  # fmt: skip
            plan.scan.release()
            expected = conn.execute(f"SELECT a, id FROM t WHERE {where}").fetchall()
            assert sorted(found) == sorted(map(tuple, expected)), where


def test_a_frame_of_one_task_is_not_shuffled(spark: SparkSession, prices: str) -> None:
    few = read_table(spark, prices, "t", where="id = 3").groupBy("id").count()
    plan = few._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in plan
    assert few.collect() == [(3, 1)]


def test_rows_in_memory_reach_the_tasks_however_many_they_are(
    spark: SparkSession, path: str
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, a STRING)")
        conn.execute("INSERT INTO t SELECT range, repeat('x', 200) || range FROM range(20000)")
        frame = read_table(spark, path, "t")
    assert frame.selectExpr("count(DISTINCT a)", "sum(id)").first() == (20_000, 199_990_000)


def test_a_dataframe_stays_at_the_moment_of_its_making(spark: SparkSession, prices: str) -> None:
    frame = read_table(spark, prices, "t", columns=["id"], where="id < 5")
    with pykudu_sql.connect(prices, autocommit=True) as conn:
        conn.execute("DELETE FROM t")
        conn.execute("OPTIMIZE TABLE t FULL")
        conn.execute("VACUUM")
    assert sorted(frame.collect()) == [(i,) for i in range(5)]
    assert frame.union(frame).count() == 10
    assert read_table(spark, prices, "t").count() == 0


def test_files_are_given_back_when_nobody_reads_them(
    spark: SparkSession, prices: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = lease_registry._LeaseRegistry()
    monkeypatch.setattr(lease_registry, "_REGISTRY", held)
    leases = Path(prices, "leases")
    before = set(leases.iterdir()) if leases.exists() else set()
    frame = read_table(spark, prices, "t")
    assert len(set(leases.iterdir()) - before) == 1
    assert frame.count() == len(frame.collect()) == 20
    held.release_all()
    assert set(leases.iterdir()) <= before
    with pytest.raises(Exception, match="has been released") as raised:
        frame.collect()
    assert OperationalError.__name__ in str(raised.value)
    with pytest.raises(OperationalError, match="has been released"):
        frame.count()


def test_what_is_wrong_is_said_at_once(spark: SparkSession, prices: str) -> None:
    for columns in ("id", []):
        with pytest.raises(ProgrammingError, match="a list of at least one name"):
            read_table(spark, prices, "t", columns=columns)
    with pytest.raises(UndefinedTableError):
        read_table(spark, prices, "nothing")
    frame = spark.sql("SELECT 1L AS id, 1.0BD AS a, 2.0BD AS A")
    with pytest.raises(InvalidSchemaError, match="column 'a' twice"):
        write_table(frame, prices, "t")


def test_a_count_is_exact_at_the_moment_of_the_frame_and_starts_no_task(
    spark: SparkSession, path: str
) -> None:
    """Over hash tablets: rows on disk and in memory, updated and deleted in either."""
    steps = [
        "INSERT INTO t SELECT range, range FROM range(1000)",
        "FLUSH TABLE t",
        "DELETE FROM t WHERE id % 10 = 0",
        "INSERT INTO t SELECT range, 1 FROM range(1000, 1100)",
        "UPDATE t SET v = 7 WHERE id % 3 = 0",
        "FLUSH TABLE t",
        "DELETE FROM t WHERE id % 7 = 0",
        "INSERT INTO t VALUES (7, 7), (0, 0)",
        "DELETE FROM t WHERE id = 7",
        "OPTIMIZE TABLE t",
        "DELETE FROM t",
    ]
    moments, expected, frames = [], [], []
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT) PARTITION BY HASH (id) PARTITIONS 4"
        )
        for step in steps:
            conn.execute(step)
            expected.append(conn.execute("SELECT count(v) FROM t").fetchone()[0])
            moments.append(str(conn.snapshot_timestamp()))
            frames.append(read_table(spark, path, "t"))
        conn.execute("BEGIN")
        conn.execute("INSERT INTO t VALUES (1, 1)")
        open_count = read_table(spark, path, "t").count()
        conn.execute("ROLLBACK")
    conditions = read_table(spark, path, "t", where="v = 7", as_of=moments[4])
    assert conditions.count() == conditions.groupBy().count().first()[0] > 0
    assert [frame.groupBy().count().first()[0] for frame in frames] == expected
    jobs = spark.sparkContext.statusTracker()
    before = jobs.getJobIdsForGroup()
    assert [frame.count() for frame in frames] == expected
    at_moments = [read_table(spark, path, "t", as_of=moment).count() for moment in moments]
    assert at_moments == expected
    assert (open_count, expected[-1]) == (0, 0)
    assert jobs.getJobIdsForGroup() == before
    assert frames[0].select("v").count() == expected[0]
