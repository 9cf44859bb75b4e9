"""Streams of changes: the rows of a table, then every change of them, once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession

import pykudu_sql
from pykudu_sql.spark.failures import database_errors
from pykudu_sql.storage.errors import HistoryPurgedError, ProgrammingError, UndefinedTableError

Rows = list[tuple[object, ...]]


@pytest.fixture
def table(path: str) -> str:
    """Four rows in three tablets."""
    run(
        path,
        "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING) PARTITION BY HASH (id) PARTITIONS 3",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
    )
    return path


def run(path: str, *statements: str) -> str:
    """Do statements, each as a commit; the hybrid time after them."""
    with pykudu_sql.connect(path, autocommit=True) as conn:
        for statement in statements:
            conn.execute(statement)
        return str(conn.snapshot_timestamp())


def stream(spark: SparkSession, path: str, **options: str) -> DataFrame:
    reader = spark.readStream.format("pykudu").option("readChangeFeed", "true")
    return reader.options(table="t", **options).load(path)


def changes(spark: SparkSession, **options: str) -> DataFrameReader:
    return spark.read.format("pykudu").options(table="t", readChangeFeed="true", **options)


@pytest.fixture
def batches(tmp_path: Path) -> Callable[[DataFrame], list[Rows]]:
    """Run a stream to its present end on one checkpoint; the rows of each batch."""

    def given(frame: DataFrame) -> list[Rows]:
        found: list[Rows] = []

        def keep(batch: DataFrame, number: int) -> None:
            found.append(sorted(tuple(row) for row in batch.collect()))

        writer = frame.writeStream.foreachBatch(keep)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        with database_errors():
            query.awaitTermination()
        return found

    return given


def told(rows: Rows) -> Rows:
    """Rows without the times of their commits."""
    return [row[:-1] for row in rows]


def test_a_stream_gives_the_rows_and_then_each_change_once(
    spark: SparkSession, table: str, batches: Callable[[DataFrame], list[Rows]]
) -> None:
    frame = stream(spark, table)
    assert frame.columns == ["id", "v", "_change_type", "_commit_timestamp"]
    (first,) = batches(frame)
    assert told(first) == [(i, "abcd"[i - 1], "insert") for i in range(1, 5)]
    assert batches(stream(spark, table)) == []
    run(
        table,
        "UPDATE t SET v = 'B' WHERE id = 2",
        "FLUSH TABLE t",
        "DELETE FROM t WHERE id = 3",
        "INSERT INTO t VALUES (5, 'e')",
    )
    (second,) = batches(stream(spark, table))
    assert told(second) == [
        (2, "B", "update_postimage"),
        (2, "b", "update_preimage"),
        (3, "c", "delete"),
        (5, "e", "insert"),
    ]
    times = [int(str(row[-1])) for row in (*first, *second)]
    assert max(times[:4]) < min(times[4:]) and len(set(times[4:])) == 3


def test_a_batch_has_so_many_rows_but_whole_commits(
    spark: SparkSession, table: str, batches: Callable[[DataFrame], list[Rows]]
) -> None:
    limited = {"maxRowsPerTrigger": "2", "columns": "id"}
    first = batches(stream(spark, table, **limited))
    assert len(first) > 1
    assert sorted(row[0] for rows in first for row in rows) == [1, 2, 3, 4]
    run(
        table,
        "INSERT INTO t VALUES (11, 'x')",
        "INSERT INTO t VALUES (12, 'x')",
        "INSERT INTO t VALUES (13, 'x'), (14, 'x'), (15, 'x')",
        "INSERT INTO t VALUES (16, 'x')",
    )
    later = batches(stream(spark, table, **limited))
    assert [[row[0] for row in rows] for rows in later] == [[11, 12], [13, 14, 15], [16]]


def test_a_batch_that_is_run_again_has_the_same_rows(
    spark: SparkSession,
    table: str,
    tmp_path: Path,
    batches: Callable[[DataFrame], list[Rows]],
) -> None:
    first = batches(stream(spark, table))
    forget_commit(tmp_path / "checkpoint", 0)
    run(table, "UPDATE t SET v = 'z' WHERE id = 1", "OPTIMIZE TABLE t FULL")
    again, later = batches(stream(spark, table))
    assert [again] == first
    assert told(later) == [(1, "a", "update_preimage"), (1, "z", "update_postimage")]


def forget_commit(checkpoint: Path, number: int) -> None:
    """Let Spark forget that a batch was done, as when it is killed before it could note that."""
    (checkpoint / "commits" / str(number)).unlink()
    (checkpoint / "commits" / f".{number}.crc").unlink(missing_ok=True)


def test_a_first_batch_runs_again_though_the_table_has_new_columns(
    spark: SparkSession,
    table: str,
    tmp_path: Path,
    batches: Callable[[DataFrame], list[Rows]],
) -> None:
    batches(stream(spark, table))
    forget_commit(tmp_path / "checkpoint", 0)
    run(
        table,
        "ALTER TABLE t ADD COLUMN w INT DEFAULT 7",
        "ALTER TABLE t ADD COLUMN x STRING",
        "ALTER TABLE t CHANGE COLUMN v u STRING",
        "UPDATE t SET w = 8 WHERE id = 1",
        "FLUSH TABLE t",
    )
    again, later = batches(stream(spark, table))
    assert told(again) == [(i, "abcd"[i - 1], 7, None, "insert") for i in range(1, 5)]
    assert told(later) == [
        (1, "a", 7, None, "update_preimage"),
        (1, "a", 8, None, "update_postimage"),
    ]


def test_a_batch_of_changes_runs_again_though_the_table_has_new_columns(
    spark: SparkSession,
    table: str,
    tmp_path: Path,
    batches: Callable[[DataFrame], list[Rows]],
) -> None:
    batches(stream(spark, table))
    run(table, "INSERT INTO t VALUES (5, 'e')")
    batches(stream(spark, table))
    forget_commit(tmp_path / "checkpoint", 1)
    run(table, "ALTER TABLE t ADD COLUMN w INT DEFAULT 7", "UPDATE t SET w = 8 WHERE id = 5")
    again, later = batches(stream(spark, table))
    assert told(again) == [(5, "e", 7, "insert")]
    assert told(later) == [(5, "e", 7, "update_preimage"), (5, "e", 8, "update_postimage")]


def test_a_stream_that_runs_on_sees_what_is_committed_meanwhile(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    source = stream(spark, table, startingTimestamp=run(table))
    writer = source.writeStream.format("parquet").trigger(processingTime="200 milliseconds")
    places = {"path": str(tmp_path / "out"), "checkpointLocation": str(tmp_path / "checkpoint")}
    query = writer.options(**places).start()
    try:
        for number in range(3):
            run(table, f"INSERT INTO t VALUES ({10 + number}, 'x')")
        query.processAllAvailable()
    finally:
        query.stop()
    found = spark.read.parquet(str(tmp_path / "out"))
    assert sorted(row.id for row in found.collect()) == [10, 11, 12]


def test_a_start_before_history_is_an_error(
    spark: SparkSession, table: str, batches: Callable[[DataFrame], list[Rows]]
) -> None:
    start = run(table)
    run(table, "DELETE FROM t WHERE id = 1", "SET DATABASE history_max_age = 0")
    run(table, "INSERT INTO t VALUES (9, 'x')", "VACUUM")
    with pytest.raises(HistoryPurgedError, match="its history goes back to"):
        batches(stream(spark, table, startingTimestamp=start))


def test_a_stream_goes_on_after_the_table_was_idle_for_longer_than_history_is_kept(
    spark: SparkSession, table: str, batches: Callable[[DataFrame], list[Rows]]
) -> None:
    batches(stream(spark, table))
    run(table, "SET DATABASE history_max_age = 0")
    assert [told(rows) for rows in batches(stream(spark, table))] in ([], [[]])
    run(table, "INSERT INTO t VALUES (9, 'x')")
    with pytest.raises(HistoryPurgedError, match="its history goes back to"):
        batches(stream(spark, table))


def test_a_table_made_anew_is_another_stream(
    spark: SparkSession, table: str, batches: Callable[[DataFrame], list[Rows]]
) -> None:
    batches(stream(spark, table))
    run(table, "DROP TABLE t", "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
    with pytest.raises(UndefinedTableError, match="was dropped"):
        batches(stream(spark, table))


def test_what_is_no_feed_is_said(spark: SparkSession, table: str) -> None:
    with database_errors(), pytest.raises(StreamingQueryException, match="readChangeFeed"):
        plain = spark.readStream.format("pykudu").option("table", "t").load(table)
        plain.writeStream.format("noop").start().awaitTermination()
    with pytest.raises(ProgrammingError, match="for the rows of a table"), database_errors():
        stream(spark, table, where="id = 1")


def test_the_changes_between_two_moments_are_a_batch(spark: SparkSession, table: str) -> None:
    low = run(table)
    high = run(table, "DELETE FROM t WHERE id = 2")
    run(table, "DELETE FROM t WHERE id = 3")
    span = changes(spark, startingTimestamp=low, endingTimestamp=high).load(table)
    assert told([tuple(row) for row in span.collect()]) == [(2, "b", "delete")]
    chosen = (
        changes(spark, startingTimestamp=low)
        .schema("_change_type string not null, id bigint not null")
        .load(table)
    )
    assert sorted(tuple(row) for row in chosen.collect()) == [("delete", 2), ("delete", 3)]
    assert chosen.count() == 2
    with (
        pytest.raises(ProgrammingError, match="need the option 'startingTimestamp'"),
        database_errors(),
    ):
        changes(spark).load(table).count()


def test_an_open_database_tells_its_changes(spark: SparkSession, table: str) -> None:
    with pykudu_sql.connect(table, autocommit=True) as conn:
        before = conn.snapshot_timestamp()
        conn.execute("UPDATE t SET v = 'B' WHERE id = 2")
        conn.execute("DELETE FROM t WHERE id = 3")
        between = conn.snapshot_timestamp()
        conn.execute("INSERT INTO t VALUES (5, 'e')")
        tables = conn.spark()
        told = tables.read_changes("t", since=before, until=between, columns=["id", "v"])
        found = {(row["_change_type"], row["id"], row["v"]) for row in told.collect()}
        assert tables.read_changes("t", since=between).count() == 1
    assert {("update_postimage", 2, "B"), ("delete", 3, "c")} <= found


def test_a_stream_restarted_after_alter_table_has_the_columns_of_its_restart(
    spark: SparkSession, table: str, batches: Callable[[DataFrame], list[Rows]]
) -> None:
    before = stream(spark, table)
    batches(before)
    run(
        table,
        "UPDATE t SET v = 'z' WHERE id = 1",
        "ALTER TABLE t ADD COLUMN w INT DEFAULT 7",
        "ALTER TABLE t CHANGE COLUMN v u STRING",
        "UPDATE t SET u = 'y' WHERE id = 2",
    )
    (renamed,) = batches(stream(spark, table))
    assert told(renamed) == [
        (1, "a", 7, "update_preimage"),
        (1, "z", 7, "update_postimage"),
        (2, "b", 7, "update_preimage"),
        (2, "y", 7, "update_postimage"),
    ]
    run(table, "ALTER TABLE t DROP COLUMN u", "UPDATE t SET w = 8 WHERE id = 3")
    (dropped,) = batches(stream(spark, table))
    assert told(dropped) == [(3, 7, "update_preimage"), (3, 8, "update_postimage")]
    run(table, "DELETE FROM t WHERE id = 3")
    with pytest.raises(ProgrammingError, match="column 'v'"):
        batches(before)


def test_a_late_stream_has_the_changes_of_a_range_that_was_dropped_meanwhile(
    spark: SparkSession, path: str, batches: Callable[[DataFrame], list[Rows]]
) -> None:
    low = run(
        path,
        "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING) PARTITION BY HASH (id) PARTITIONS 2, "
        "RANGE (id) (PARTITION VALUES < 10, PARTITION 10 <= VALUES)",
    )
    named = "id bigint, _change_type string not null, _commit_timestamp decimal(20,0) not null"

    def late() -> DataFrame:
        reader = spark.readStream.format("pykudu").schema(named)
        return reader.options(table="t", readChangeFeed="true", startingTimestamp=low).load(path)

    run(path, "INSERT INTO t VALUES (1, 'a'), (11, 'b')")
    (first,) = batches(late())
    assert told(first) == [(1, "insert"), (11, "insert")]
    run(
        path,
        "UPDATE t SET v = 'c' WHERE id = 1",
        "ALTER TABLE t DROP RANGE PARTITION VALUES < 10, ADD RANGE PARTITION VALUES < 10",
        "INSERT INTO t VALUES (1, 'd')",
        "ALTER TABLE t ADD COLUMN w INT DEFAULT 7",
        "FLUSH TABLE t",
        "DROP TABLE t",
        "UNDROP TABLE t",
    )
    (second,) = batches(late())
    assert [row[1] for row in sorted(second, key=lambda row: (row[2], row[1]))] == [
        "update_postimage",
        "update_preimage",
        "delete",
        "insert",
    ]
    columns = ["id", "_change_type", "_commit_timestamp"]
    whole = changes(spark, startingTimestamp=low).load(path).select(columns)
    assert sorted(tuple(row) for row in whole.collect()) == sorted([*first, *second])
    with pykudu_sql.connect(path, read_only=True) as conn:
        answer = conn.execute(f"SELECT id, _change_type FROM CHANGES(t, {low}) ORDER BY ALL")
        assert [tuple(row) for row in answer.fetchall()] == sorted(told([*first, *second]))
