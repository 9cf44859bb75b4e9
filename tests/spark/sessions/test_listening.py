"""A session of ours is reached from this host alone."""

import os
import socket

from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.spark.tables import read_table, write_table
from tests.spark.listening import Listeners, watched


def test_nothing_listens_outside_loopback_while_jobs_run(spark: SparkSession, path: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2")
    with watched(os.getpid()) as seen:
        write_table(spark.range(0, 1000, numPartitions=2), path, "t")
        assert read_table(spark, path, "t").count() == 1000
    assert seen.within
    assert seen.outside == set()


def test_who_listens_everywhere_is_seen() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        seen = Listeners()
        seen.look(os.getpid())
        assert [one.rpartition(":")[2] for one in seen.outside] == [
            f"{server.getsockname()[1]:04X}"
        ]
