"""Streams into tables: each batch once, also when it is written again."""

from pathlib import Path

from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.spark.options import TableLocation, WriteOptions
from pykudu_sql.spark.writing.writer import stream_name
from pykudu_sql.storage.common.rows.row_operation import RowOpKind


def count(path: str) -> int:
    with pykudu_sql.connect(path, read_only=True) as conn:
        (rows,) = conn.execute("SELECT count(*) FROM t").fetchone() or (-1,)
        return int(rows)


def test_a_stream_goes_on_where_its_checkpoint_ends_and_repeats_nothing(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    with pykudu_sql.connect(path) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    source, checkpoint = str(tmp_path / "in"), str(tmp_path / "checkpoint")

    def run() -> None:
        stream = spark.readStream.schema("id bigint").parquet(source).writeStream
        options = {"table": "t", "checkpointLocation": checkpoint}
        query = stream.format("pykudu").options(**options).trigger(availableNow=True).start(path)
        query.awaitTermination()

    spark.range(0, 10).write.mode("append").parquet(source)
    run()
    assert count(path) == 10
    # Spark forgets that the batch was done, as when it is killed before it could note that.
    (Path(checkpoint) / "commits" / "0").unlink()
    (Path(checkpoint) / "commits" / ".0.crc").unlink(missing_ok=True)
    spark.range(10, 15).write.mode("append").parquet(source)
    run()
    assert count(path) == 15


def test_a_checkpoint_begun_anew_is_another_stream(tmp_path: Path) -> None:
    names = []
    for number in range(2):
        (tmp_path / "metadata").write_text(f'{{"id": "stream-{number}"}}')
        options = WriteOptions(
            TableLocation("my.db", "t"), RowOpKind.INSERT, checkpoint=str(tmp_path)
        )
        names.append(stream_name(options))
    assert names == ["stream-0", "stream-1"]
