"""Seconds of queries on Spark as ratios."""

import pytest

from benchmarks.survey import Figure
from benchmarks.tpch_queries import QUERIES
from benchmarks.workloads.queries.spark_scale import ratios


def test_a_ratio_is_ours_over_parquet_and_their_mean_is_geometric() -> None:
    measured = [Figure("load", 100.0, "s")]
    for number in QUERIES:
        ours = 8.0 if number % 2 else 2.0
        measured += [Figure(f"Q{number} pykudu", ours, "s"), Figure(f"Q{number} Parquet", 2.0, "s")]
    by_name = {figure.name: figure.value for figure in ratios(measured)}
    assert (by_name["Q1 / Parquet"], by_name["Q2 / Parquet"]) == (4.0, 1.0)
    assert by_name["pykudu / Parquet"] == pytest.approx(2.0)
