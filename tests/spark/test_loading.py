"""A load beside a reader, small; `python -m tests.spark.loading` loads more."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks.tpch_tables import has_generator
from tests.spark.loading import run


def test_a_reader_sees_no_row_of_a_load_or_all(spark: SparkSession, tmp_path: Path) -> None:
    if not has_generator():
        pytest.skip("tpchgen-cli is not installed")
    assert run(tmp_path, 0.01).rows == 60_175
