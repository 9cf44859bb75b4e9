"""Merging compaction of lineitem out of overlapping rowsets."""

import shutil
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.harness import cpu_seconds
from benchmarks.operations import height_of, optimize, paused
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench

BATCHES = 5
ROWS_PER_CORE = 1_500_000


def compaction(bench: Workbench) -> Survey:
    """Lineitem inserted in random order, in batches, so that all rowsets overlap; then merged."""
    return Survey(
        name="compaction",
        title=(
            f"merging compaction of lineitem SF{bench.scale:g}, inserted in {BATCHES} batches "
            "whose keys all overlap"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[Bound("rows / processor second", least=ROWS_PER_CORE)],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    peer, folder = bench.open("pykudu", durable=True)
    store = paused(peer)
    peer.create(LINEITEM)
    rows = _takeable(bench.lineitem())
    order = np.random.default_rng(31).permutation(len(rows))
    for places in np.array_split(order, BATCHES):
        peer.append(LINEITEM, rows.take(pa.array(places)))
    store.flush(LINEITEM.name)
    yield Figure("average height before", height_of(store, LINEITEM.name))
    wall, cpu = time.perf_counter(), cpu_seconds()
    optimize(peer, LINEITEM.name)
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    yield Figure("average height after", height_of(store, LINEITEM.name))
    yield Figure("wall", wall, "s")
    yield Figure("processor", cpu, "s")
    yield Figure("rows / second", len(rows) / wall)
    yield Figure("rows / processor second", len(rows) / cpu)
    counted = peer.query("SELECT count(*) AS n FROM lineitem").column("n").to_pylist()
    if counted != [len(rows)]:
        raise ValueError(f"{counted} rows are left of {len(rows)}")
    peer.close()
    shutil.rmtree(folder)


def _takeable(rows: pa.Table) -> pa.Table:
    """String views as strings: Arrow cannot choose among the rows of views."""
    types = [pa.string() if field.type == pa.string_view() else field.type for field in rows.schema]
    return rows.cast(pa.schema(zip(rows.column_names, types, strict=True)))
