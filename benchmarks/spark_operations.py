"""TPC-H on Spark in a given memory, in a process of its own: load, the 22 queries, a backup.

Spark runs in this process's JVM with two task threads and a heap of 2 GiB, which stands for driver
and executors together. A query is asked twice: by our SQL with `engine = 'spark'`, and by Spark's
own SQL over the Parquet files of the same rows; the first one alternates, and answers must be the
same. What is measured is printed as it comes, a figure in JSON a line.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import sqlglot

import pykudu_sql
from benchmarks.survey import Figure
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, tpch_file
from benchmarks.workloads.queries.analytics import result_rows, same_rows
from pykudu_sql.jobs.backup import BackupOptions, backup
from pykudu_sql.jobs.load import LoadOptions, load
from pykudu_sql.spark.sessions.session import start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTER = "local[2]"
_CONF: Mapping[str, str] = {"spark.driver.memory": "2g"}
_ON_SPARK = "ENGINE spark"

Ask = Callable[[], pa.Table]


def main(arguments: Sequence[str]) -> None:
    """`arguments`: a folder that is there, the scale factor, and the rounds of each query."""
    folder, scale, rounds = Path(arguments[0]), float(arguments[1]), int(arguments[2])
    for figure in _figures(folder, scale, rounds):
        print(json.dumps(asdict(figure)), flush=True)


def _figures(folder: Path, scale: float, rounds: int) -> Iterator[Figure]:
    path = str(folder / "tpch.db")
    spark = start_session(_MASTER, _CONF, "benchmarks")
    for table in TPCH:
        spark.read.parquet(str(tpch_file(scale, table))).createOrReplaceTempView(table)
    yield Figure("load", _seconds(lambda: _load(path, scale)), "s")
    yield from _peaks("load")
    connection = pykudu_sql.connect(path, autocommit=True, read_only=True)
    connection.execute("SET engine = 'spark'")
    for number, sql in QUERIES.items():
        if connection.execute(f"EXPLAIN {sql}").fetchall()[0][0] != _ON_SPARK:
            raise ValueError(f"Q{number} does not run on Spark")
        theirs = sqlglot.transpile(sql, read="duckdb", write="spark")[0]
        asks = {
            "pykudu": partial(_ask_ours, connection, sql),
            "Parquet": partial(_ask_files, spark, theirs),
        }
        yield from _times(number, asks, rounds)
    yield from _peaks("queries")
    connection.close()
    options = BackupOptions(engine="spark", master=_MASTER)
    target = str(folder / "backup")
    yield Figure("backup", _seconds(lambda: backup(path, target, options)), "s")
    yield from _peaks("backup")


def _ask_ours(connection: pykudu_sql.Connection, sql: str) -> pa.Table:
    return connection.execute(sql).fetch_arrow_table()


def _ask_files(spark: "SparkSession", sql: str) -> pa.Table:
    return spark.sql(sql).toArrow()


def _load(path: str, scale: float) -> None:
    """Every table from its Parquet file, by Spark."""
    options = LoadOptions(engine="spark", master=_MASTER)
    with pykudu_sql.connect(path, autocommit=True) as connection:
        for table in TPCH.values():
            connection.execute(table.ddl({}, table.partitions))
    for name in TPCH:
        load(path, name, [str(tpch_file(scale, name))], options)


def _times(number: int, asks: Mapping[str, Ask], rounds: int) -> Iterator[Figure]:
    """Seconds of a query by engine, the least of the rounds.

    Raises ValueError: answers differ.
    """
    names = list(asks)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    answers: dict[str, pa.Table] = {}
    for turn in range(number, number + rounds):
        for name in names if turn % 2 else reversed(names):
            start = time.perf_counter()
            answers[name] = asks[name]()
            seconds[name].append(time.perf_counter() - start)
    if not same_rows(*(result_rows(answers[name]) for name in names)):
        raise ValueError(f"Q{number}: the answers differ")
    for name in names:
        yield Figure(f"Q{number} {name}", min(seconds[name]), "s")


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _peaks(label: str) -> Iterator[Figure]:
    """The most memory that the JVM, and a Python worker that is still there, had until now."""
    peaks: dict[str, float] = {"JVM": 0.0, "Python worker": 0.0}
    for name, peak in _descendants():
        kind = "JVM" if name == "java" else "Python worker"
        peaks[kind] = max(peaks[kind], peak)
    for kind, peak in peaks.items():
        yield Figure(f"{label}: peak of the {kind}", peak, "MiB")


def _descendants() -> Iterator[tuple[str, float]]:
    """Program name and peak in MiB of every process below this one."""
    processes: dict[int, tuple[int, str, float]] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
        except (OSError, ValueError):  # it has ended
            continue
        peak = int(lines.get("VmHWM", "0 kB").split()[0]) / 1024
        processes[int(lines["Pid"])] = int(lines["PPid"]), lines["Name"], peak
    own = {os.getpid()}
    while True:
        below = {number for number, (parent, _, _) in processes.items() if parent in own} - own
        if not below:
            return
        yield from (processes[number][1:] for number in below)
        own |= below


if __name__ == "__main__":
    main(sys.argv[1:])
