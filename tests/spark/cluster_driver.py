"""A program for a cluster: loads a table, reads it back, says where tasks found the package.

    python cluster_driver.py MASTER DB ZIP             rows of its own
    python cluster_driver.py MASTER DB ZIP FILES       lineitem from Parquet files

It is run by itself, outside the checkout, with nothing but the wheel on its path.
"""

import json
import sys
from typing import Any

from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import read_table, write_table
from tests.spark.spark_jobs import load

ROWS = 50_000


def found_in(number: int) -> str:
    """Where a task finds the package."""
    import pykudu_sql

    return str(pykudu_sql.__file__)


def main(master: str, path: str, wheel: str, files: str | None = None) -> None:
    """Print what came of it as one line of JSON."""
    conf = {
        "spark.submit.pyFiles": wheel,
        "spark.executor.memory": "512m",
        "spark.cores.max": "2",
        "spark.sql.shuffle.partitions": "2",
    }
    spark = start_session(master, conf)
    said = own_rows(spark, path) if files is None else lineitem(path, files)
    places = spark.sparkContext.parallelize(range(8), 8).map(found_in).distinct().collect()
    print(json.dumps({**said, "places": places}))
    spark.stop()


def own_rows(spark: SparkSession, path: str) -> dict[str, Any]:
    """Make, load and read a table; what was written and found."""
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING) PARTITION BY HASH (id) PARTITIONS 4"
        )
    rows = spark.range(0, ROWS, numPartitions=4).selectExpr("id", "concat('v', id) AS v")
    written = write_table(rows, path, "t")
    chosen = read_table(spark, path, "t", where="id >= 10", columns=["id"], split_bytes=1)
    total = chosen.selectExpr("count(*) AS n", "sum(id) AS s").collect()[0]
    return {"written": written.rows, "n": total.n, "s": total.s}


def lineitem(path: str, files: str) -> dict[str, Any]:
    """Load files into a table that is there; what was written."""
    report = load(path, "lineitem", [files], LoadOptions("parquet"))
    return {"written": report.rows, "seconds": round(report.seconds, 1)}


if __name__ == "__main__":
    main(*sys.argv[1:])
