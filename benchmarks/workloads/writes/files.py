"""COPY of a table to files and back, beside DuckDB's COPY of the same rows, in one process.

The two take turns within each round; a ratio is the median of the rounds' ratios of processor
seconds, which a machine that others use too disturbs least.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

import pykudu_sql
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.workbench import Workbench

COLUMNS = (
    "k BIGINT PRIMARY KEY, name VARCHAR(40), price DOUBLE, amount INT, made DATE, seen TIMESTAMP, "
    "total DECIMAL(18,2), note VARCHAR(40)"
)
FORMATS = ("csv", "json", "parquet")
_ROUNDS = 5

Execute = Callable[[str], Any]


def files(bench: Workbench) -> Survey:
    """The table of eight columns to a file of each format, and each file into an empty table."""
    return Survey(
        name="files",
        title=(
            f"COPY of {bench.point_rows:,} rows of 8 columns to CSV, JSON lines and Parquet and "
            "back, pykudu beside DuckDB; processor seconds"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[
            Bound("to csv: pykudu / duckdb", most=2.0),
            Bound("to json: pykudu / duckdb", most=3.0),
        ],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    import duckdb

    rows = rows_of(bench.point_rows)
    folder = bench.scratch
    ours = pykudu_sql.connect(autocommit=True, files=str(folder), maintenance=False)
    theirs = duckdb.connect(config={"threads": 2})
    bench.close_later(ours.close)
    bench.close_later(theirs.close)
    engines: dict[str, Execute] = {"pykudu": ours.execute, "duckdb": theirs.execute}
    for execute in engines.values():
        execute(f"CREATE TABLE t ({COLUMNS})")
    ours.append("t", rows)
    ours.execute("FLUSH")
    theirs.register("incoming", rows)
    theirs.execute("INSERT INTO t SELECT * FROM incoming")
    for file_format in FORMATS:
        yield from _of_format(engines, folder, file_format, bench.rounds or _ROUNDS)


def _of_format(
    engines: dict[str, Execute], folder: Path, file_format: str, rounds: int
) -> Iterator[Figure]:
    seconds: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, execute in engines.items():
            path = folder / f"{name}.{file_format}"
            execute("DROP TABLE IF EXISTS back")
            execute(f"CREATE TABLE back ({COLUMNS})")
            copies = {"to": f"COPY t TO '{path}'", "from": f"COPY back FROM '{path}'"}
            for way, copy in copies.items():
                seconds.setdefault(f"{way} {name}", []).append(_seconds(execute, copy))
            _check(execute, name)
    for way in ("to", "from"):
        for name in engines:
            yield Figure(f"{way} {file_format}: {name}", median(seconds[f"{way} {name}"]), "s")
        pairs = zip(seconds[f"{way} pykudu"], seconds[f"{way} duckdb"], strict=True)
        ratio = median(ours / theirs for ours, theirs in pairs)
        yield Figure(f"{way} {file_format}: pykudu / duckdb", ratio)


def _seconds(execute: Execute, statement: str) -> float:
    started = time.process_time()
    execute(statement)
    return time.process_time() - started


def _check(execute: Execute, name: str) -> None:
    """See that all rows came back as they were."""
    (missing,) = execute(
        "SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM back)"
    ).fetchone()
    if missing:
        raise AssertionError(f"{missing} rows of {name} did not come back")


def rows_of(count: int) -> pa.Table:
    """The rows: keys, repeated and different texts, one in ten with quotes, numbers, times."""
    generator = np.random.default_rng(16)
    numbers = np.arange(count)
    notes = [f'"{i}", as said' if i % 10 == 0 else f"plain text {i}" for i in range(count)]
    return pa.table(
        {
            "k": numbers,
            "name": [f"customer {i % 5000}" for i in range(count)],
            "price": np.round(generator.random(count) * 1000, 2),
            "amount": generator.integers(0, 100, count).astype(np.int32),
            "made": pa.array(generator.integers(0, 20_000, count).astype(np.int32), pa.date32()),
            "seen": pa.array(generator.integers(0, 10**15, count), pa.timestamp("us")),
            "total": pa.array(generator.integers(0, 10**9, count)).cast(pa.decimal128(20, 0)),
            "note": notes,
        }
    )
