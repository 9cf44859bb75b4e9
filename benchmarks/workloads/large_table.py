"""Ten million rows in sixteen tablets: opening, memory of an idle process, a count over a range."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

from benchmarks import data
from benchmarks.operations import ours
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import POINTS
from benchmarks.workbench import Workbench

ROWS = 10_000_000
TABLETS = 16
RANGE_KEYS = 20_000
OPENINGS = 3
# A process of its own opens the database, so that its memory is only what an idle one takes. What
# importing takes (most of it DuckDB and pyarrow) is a figure of its own; the first statement loads
# sqlglot on top.
PROGRAM = """
import sys, time
start = time.perf_counter()
import pykudu_sql.session
imported = time.perf_counter()
connection = pykudu_sql.connect(sys.argv[1])
opened = time.perf_counter()
connection.execute("SELECT hits FROM points WHERE id = 10").fetchone()
read = time.perf_counter()
memory = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
print(imported - start, opened - imported, read - opened, memory.split()[1])
"""


def ten_million(bench: Workbench) -> Survey:
    """Opening time and memory in a fresh process, and what a count over a key range touches."""
    return Survey(
        name="ten_million",
        title=f"{ROWS:,} rows in {TABLETS} tablets, opened by a fresh process",
        measure=lambda: list(_measure(bench)),
        bounds=[Bound("opening", most=1.0), Bound("idle memory", most=300.0)],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    peer, _ = bench.open("pykudu", durable=True)
    table = replace(POINTS, buckets=TABLETS)
    peer.create(table)
    peer.append(table, data.points(ROWS))
    path = ours(peer).path
    peer.close()
    measured = sorted(_opened(path) for _ in range(OPENINGS))[OPENINGS // 2]
    yield Figure("importing and opening", measured[0] + measured[1], "s")
    names = ("importing", "opening", "first row by key")
    for name, seconds in zip(names, measured, strict=False):
        yield Figure(name, seconds, "s")
    yield Figure("idle memory", measured[-1] / 1024, "MiB")


def _opened(path: str) -> tuple[float, ...]:
    """Seconds to import, to open and to read a row, and the resident KiB afterwards."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, path], check=True, capture_output=True, text=True
    )
    return tuple(map(float, done.stdout.split()))
