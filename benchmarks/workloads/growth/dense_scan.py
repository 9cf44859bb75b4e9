"""Decoding of whole rowsets of lineitem by one thread and by two, no decoded block kept.

Two processes decode them too, half of them each: they share no interpreter lock, so what they gain
is all that the second processor of the machine has to give to this work.
"""

import os
import resource
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NoReturn

from benchmarks.harness import cpu_seconds
from benchmarks.operations import ours, tablets_of
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

_Q1_COLUMNS = frozenset(
    {
        "l_quantity",
        "l_extendedprice",
        "l_discount",
        "l_tax",
        "l_returnflag",
        "l_linestatus",
        "l_shipdate",
    }
)
_ROUNDS = 15


def dense_scan(bench: Workbench) -> Survey:
    """Rows a processor second of all columns and of those of Q1; threads take a rowset each."""
    return Survey(
        name="dense_scan",
        title=(
            f"decode whole rowsets of lineitem SF{bench.scale:g} to Arrow, page cache warm, "
            "nothing decoded is kept; the best of the rounds"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[
            Bound(f"{label}: wall, one thread / two threads", least=1.6) for label in ("Q1", "all")
        ],
    )


@dataclass(frozen=True, slots=True)
class _Pass:
    """What it takes to decode all rows once.

    Attributes:
        wall, processor: seconds.
        switches: how often a thread gave the processor away to wait.
    """

    wall: float
    processor: float
    switches: int


def _measure(bench: Workbench) -> Iterator[Figure]:
    peer, folder = bench.lineitem_copy("pykudu")
    store = ours(peer).store
    columns = store.catalog.table(LINEITEM.name).schema.columns
    rowsets = [r for t in tablets_of(store, LINEITEM.name) for r in t.components.tree.rowsets]
    rows = sum(rowset.meta.rows for rowset in rowsets)
    for label, names in (("Q1", _Q1_COLUMNS), ("all", frozenset(LINEITEM.columns))):
        subset = [column for column in columns if column.name in names]
        passes: dict[int, list[_Pass]] = {1: [], 2: []}
        forked = list[float]()
        for _ in range(bench.rounds or _ROUNDS):
            for threads, done in passes.items():
                done.append(_decode(rowsets, subset, threads))
            forked.append(_decode_forked(rowsets, subset))
        walls = {threads: min(one.wall for one in done) for threads, done in passes.items()}
        for threads, done in passes.items():
            processor = min(one.processor for one in done)
            name = f"{label}, {threads} thread{'s'[: threads - 1]}"
            yield Figure(f"{name}: wall", walls[threads], "s")
            yield Figure(f"{name}: processor", processor, "s")
            yield Figure(f"{name}: rows a processor second", rows / processor, "rows/s")
            yield Figure(f"{name}: switches", min(one.switches for one in done))
        yield Figure(f"{label}, 2 processes: wall", min(forked), "s")
        yield Figure(f"{label}: wall, one thread / two threads", walls[1] / walls[2])
        yield Figure(f"{label}: wall, one thread / two processes", walls[1] / min(forked))
    peer.close()
    shutil.rmtree(folder)


def _decode_one(rowset: DiskRowSet, columns: Sequence[ColumnSchema]) -> None:
    for column in columns:
        rowset.base.column_once(column, 0, rowset.meta.rows)


def _decode(rowsets: Sequence[DiskRowSet], columns: Sequence[ColumnSchema], threads: int) -> _Pass:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(time.sleep, [0.01] * threads))
        switches, processor, start = _switches(), cpu_seconds(), time.perf_counter()
        list(pool.map(lambda rowset: _decode_one(rowset, columns), rowsets))
        wall = time.perf_counter() - start
        return _Pass(wall, cpu_seconds() - processor, _switches() - switches)


def _decode_forked(rowsets: Sequence[DiskRowSet], columns: Sequence[ColumnSchema]) -> float:
    """Seconds that two processes take, whose memory is warm, from a signal that both wait for."""
    begins, go = os.pipe()
    ready, tells = os.pipe()
    children = [os.fork() or _decode_half(half, rowsets, columns, begins, tells) for half in (0, 1)]
    for _ in children:
        os.read(ready, 1)
    start = time.perf_counter()
    os.write(go, b"..")
    for child in children:
        os.waitpid(child, 0)
    wall = time.perf_counter() - start
    for pipe in (begins, go, ready, tells):
        os.close(pipe)
    return wall


def _decode_half(
    half: int,
    rowsets: Sequence[DiskRowSet],
    columns: Sequence[ColumnSchema],
    begins: int,
    tells: int,
) -> NoReturn:
    """Decode every other rowset, once for practice and once after the signal; ends the process."""
    own = rowsets[half::2]
    for rowset in own:
        _decode_one(rowset, columns)
    os.write(tells, b".")
    os.read(begins, 1)
    for rowset in own:
        _decode_one(rowset, columns)
    os._exit(0)


def _switches() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
