"""TPC-H on both engines: all 22 queries, Spark's answers against those of the embedded engine.

    python -m tests.spark.tpch [SCALE]

prints a line for each query, with both times, and fails if an answer differs or a query did not run
on Spark. A few of the queries are in the suite; see test_spark_engine_tpch.
"""

import math
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import pykudu_sql
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, tpch_rows
from pykudu_sql import Connection


def load(connection: Connection, scale: float) -> None:
    """Make and fill the eight tables."""
    for table in TPCH.values():
        suffix = f"PARTITION BY HASH ({', '.join(table.key)}) PARTITIONS {table.buckets}"
        connection.execute(table.ddl({}, suffix))
        connection.append(table.name, tpch_rows(scale, table.name))
        connection.execute(f"FLUSH TABLE {table.name}")


def differences(theirs: pa.Table, ours: pa.Table) -> Iterator[str]:
    """What is not the same; DOUBLEs may differ in their last digits."""
    if theirs.schema != ours.schema or theirs.num_rows != ours.num_rows:
        yield f"{theirs.num_rows} rows of {theirs.schema}, not {ours.num_rows} of {ours.schema}"
        return
    for name, left, right in zip(ours.column_names, theirs.columns, ours.columns, strict=True):
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        for row, (got, wanted) in enumerate(pairs):
            close = isinstance(got, float) and isinstance(wanted, float)
            if not (math.isclose(got, wanted, rel_tol=1e-12) if close else got == wanted):
                yield f"row {row}, {name}: {got!r}, not {wanted!r}"


def compare(connection: Connection, number: int) -> tuple[float, float, list[str]]:
    """Run a query on Spark and here; seconds of each, and what differs."""
    sql = QUERIES[number]
    connection.execute("SET engine = 'spark'")
    plan = [row[0] for row in connection.execute(f"EXPLAIN {sql}").fetchall()]
    started = time.perf_counter()
    theirs = connection.execute(sql).fetch_arrow_table()
    on_spark = time.perf_counter() - started
    connection.execute("SET engine = 'duckdb'")
    started = time.perf_counter()
    ours = connection.execute(sql).fetch_arrow_table()
    embedded = time.perf_counter() - started
    stayed = [] if plan[0] == "ENGINE spark" else plan[:2]
    return on_spark, embedded, [*stayed, *differences(theirs, ours)]


def main(scale: float) -> int:
    """Run all queries; the number of those that differ."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tpch.db"
        with pykudu_sql.connect(str(path), autocommit=True, durability="off") as connection:
            load(connection, scale)
            for number in QUERIES:
                on_spark, embedded, differing = compare(connection, number)
                bad += bool(differing)
                found = "; ".join(differing[:3]) or "equal"
                print(f"q{number}: spark {on_spark:.2f} s, here {embedded:.2f} s, {found}")
    print(f"{len(QUERIES) - bad} of {len(QUERIES)} queries equal at scale {scale}")
    return bad


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.1))
