"""A Spark driver of its own that does one thing over and over, to be killed at any moment.

    python -m tests.spark.victim load DB FIRST          insert batch after batch into table t
    python -m tests.spark.victim stream DB OUT SINCE    write changes of table t to Parquet

Says on its output when a batch begins and when it is committed. A batch has `BATCH` rows.
"""

import sys

from pyspark.sql import SparkSession

from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import write_table

BATCH = 20_000
_CONF = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def load(spark: SparkSession, path: str, first: int) -> None:
    """Insert batches, from a number on."""
    number = first
    while True:
        print(f"begin {number}", flush=True)
        rows = spark.range(number * BATCH, (number + 1) * BATCH, numPartitions=4)
        write_table(rows.selectExpr("id", f"{number}L AS batch"), path, "t")
        print(f"done {number}", flush=True)
        number += 1


def stream(spark: SparkSession, path: str, out: str, since: str) -> None:
    """Follow table t from a moment on."""
    source = spark.readStream.format("pykudu").options(table="t", readChangeFeed="true")
    source = source.options(maxRowsPerTrigger="200", startingTimestamp=since)
    writer = source.load(path).writeStream.format("parquet")
    places = {"path": f"{out}/feed", "checkpointLocation": f"{out}/checkpoint"}
    query = writer.options(**places).trigger(processingTime="100 milliseconds").start()
    print("begin 0", flush=True)
    query.awaitTermination()


def main(argv: list[str]) -> None:
    """Do what the command line says, until killed."""
    spark = start_session("local[2,4]", _CONF, "a victim")
    if argv[0] == "load":
        load(spark, argv[1], int(argv[2]))
    stream(spark, *argv[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
