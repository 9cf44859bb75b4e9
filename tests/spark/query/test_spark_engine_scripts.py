"""Scripts of SQL and queries of TPC-H on Spark: the answers that the embedded engine gives.

The whole of both: `pykudu-sql slt sql_tests --engine spark` and `python -m tests.spark.tpch`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from benchmarks.tpch_tables import has_generator
from pykudu_sql import Connection
from pykudu_sql.shell.slt import command
from tests.spark.tpch import compare, load

SCRIPTS = Path(__file__).parents[3] / "sql_tests"


@pytest.mark.parametrize("name", ["time_travel", "update_from"])
def test_a_script_gives_the_same_on_spark(spark: SparkSession, name: str) -> None:
    assert command.main([str(SCRIPTS / f"{name}.test"), "--engine", "spark"]) == 0


@pytest.fixture(scope="module")
def tpch(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    if not has_generator():
        pytest.skip("tpchgen-cli is not installed")
    path = tmp_path_factory.mktemp("tpch") / "tpch.db"
    with pykudu_sql.connect(str(path), autocommit=True, durability="off") as connection:
        load(connection, 0.01)
        yield connection


@pytest.mark.parametrize("number", [1, 4, 15, 22])
def test_a_query_of_tpch_gives_the_same_on_spark(tpch: Connection, number: int) -> None:
    _, _, differing = compare(tpch, number)
    assert differing == []
