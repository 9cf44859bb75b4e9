"""A worker and a driver killed while they load; `python -m tests.spark.kills` kills more."""

from pathlib import Path

from pyspark.sql import SparkSession

from tests.spark.kills import campaign


def test_kills_leave_whole_batches_and_nothing_else(spark: SparkSession, tmp_path: Path) -> None:
    done = campaign(tmp_path, rounds=2, seed=7)
    assert (done.workers, done.before + done.between + done.after) == (1, 1)
    assert done.batches >= 1
