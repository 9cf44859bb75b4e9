"""Ten million rows in sixteen tablets: opening, memory of an idle process, a count over a range."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks import data
from benchmarks.operations import ours
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import POINTS
from benchmarks.workbench import Workbench

ROWS = 10_000_000
TABLETS = 16
RANGE_KEYS = 20_000
OPENINGS = 3
# What a count over the range may read at most: the key's blocks that its ends lie in, and those
# between them, in every tablet.
MOST_BLOCKS = 3 * TABLETS
# A process of its own opens the database, so that its memory is only what an idle one takes. What
# importing takes (most of it DuckDB and pyarrow) is a figure of its own; the first statement loads
# sqlglot on top.
PROGRAM = """
import json, sys, time
start = time.perf_counter()
import pykudu_sql.session.session
imported = time.perf_counter()
connection = pykudu_sql.connect(sys.argv[1])
opened = time.perf_counter()
connection.execute("SELECT hits FROM points WHERE id = 10").fetchone()
read = time.perf_counter()
memory = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
begun = time.perf_counter()
rows = connection.execute(sys.argv[2]).fetchone()[0]
counted = time.perf_counter()
connection.close()
connection = pykudu_sql.connect(sys.argv[1])
plan = [row[0] for row in connection.execute("EXPLAIN ANALYZE " + sys.argv[2]).fetchall()]
print(json.dumps({
    "importing": imported - start, "opening": opened - imported, "reading": read - opened,
    "memory": int(memory.split()[1]), "counting": counted - begun, "rows": rows, "plan": plan,
}))
"""
# Every other number is a key.
COUNT = f"SELECT count(*) FROM points WHERE id BETWEEN {ROWS} AND {ROWS + 2 * RANGE_KEYS - 1}"
_BLOCKS = re.compile(r"blocks read: ([0-9]+) of ([0-9]+)")


@dataclass(frozen=True, slots=True)
class _Opening:
    """What a fresh process measured: seconds, KiB, and what the count found and read."""

    importing: float
    opening: float
    reading: float
    memory: int
    counting: float
    rows: int
    plan: list[str]

    def blocks(self) -> tuple[int, int]:
        """Blocks that the count read, and that there are of the columns it reads."""
        match = _BLOCKS.search("\n".join(self.plan))
        if match is None:
            raise ValueError(f"EXPLAIN ANALYZE does not tell of blocks: {self.plan}")
        return int(match[1]), int(match[2])


def ten_million(bench: Workbench) -> Survey:
    """Opening time and memory in a fresh process, and what a count over a key range touches."""
    return Survey(
        name="ten_million",
        title=f"{ROWS:,} rows in {TABLETS} tablets, opened by a fresh process; {COUNT}",
        measure=lambda: list(_measure(bench)),
        bounds=[
            Bound("opening", most=1.0),
            Bound("idle memory", most=300.0),
            Bound("blocks read by the count", most=MOST_BLOCKS),
        ],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    peer, _ = bench.open("pykudu", durable=True)
    table = replace(POINTS, buckets=TABLETS)
    peer.create(table)
    peer.append(table, data.points(ROWS))
    path = ours(peer).path
    peer.close()
    openings = [_opened(path) for _ in range(OPENINGS)]
    measured = sorted(openings, key=lambda one: one.importing + one.opening)[OPENINGS // 2]
    if measured.rows != RANGE_KEYS:
        raise ValueError(f"{measured.rows} rows were counted instead of {RANGE_KEYS}")
    read, blocks = measured.blocks()
    yield Figure("importing and opening", measured.importing + measured.opening, "s")
    yield Figure("importing", measured.importing, "s")
    yield Figure("opening", measured.opening, "s")
    yield Figure("first row by key", measured.reading, "s")
    yield Figure("idle memory", measured.memory / 1024, "MiB")
    yield Figure("count over a key range", measured.counting, "s")
    yield Figure("blocks read by the count", read)
    yield Figure("blocks of the key", blocks)


def _opened(path: str) -> _Opening:
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, path, COUNT], check=True, capture_output=True, text=True
    )
    return _Opening(**json.loads(process.stdout))
