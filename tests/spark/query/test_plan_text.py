"""What the plan of a query says of the tables that it reads."""

import re

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.spark.tables import read_table


def test_a_plan_names_table_moment_condition_and_files(
    spark: SparkSession, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
        conn.execute("INSERT INTO t VALUES (1, 'a')")
        conn.execute("FLUSH TABLE t")
    read_table(spark, path, "t", where="id >= 0 AND v <> 'b'").explain()
    told = capsys.readouterr().out
    assert "pykudu t as of 20" in told
    assert "where id >= 0 AND v <> 'b'" in told
    assert re.search(r"from 1 files \[[0-9a-f-]{36}/\d+\.base\]", told)
