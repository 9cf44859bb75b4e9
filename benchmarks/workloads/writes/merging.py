"""Merging compaction of lineitem out of overlapping rowsets.

How fast a core is changes by the minute on a shared machine. So the rate stands beside that of one
kernel before and after, LZ4 over the column that takes it longest.
"""

import shutil
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.harness import cpu_seconds
from benchmarks.operations import height_of, optimize, paused
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench
from pykudu_sql.storage.cfile.encoding import bitshuffle

BATCHES = 5
ROWS_PER_CORE = 1_500_000
_KERNEL_BYTES = 16 * 1024 * 1024
_BLOCK_BYTES = 256 * 1024


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
    text = np.frombuffer(rows.column("l_comment").chunk(0).buffers()[2], np.uint8)[:_KERNEL_BYTES]
    yield Figure("LZ4 of l_comment before", _lz4_rate(text), "MB/s")
    wall, cpu = time.perf_counter(), cpu_seconds()
    optimize(peer, LINEITEM.name)
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    yield Figure("average height after", height_of(store, LINEITEM.name))
    yield Figure("LZ4 of l_comment after", _lz4_rate(text), "MB/s")
    yield Figure("wall", wall, "s")
    yield Figure("processor", cpu, "s")
    yield Figure("rows / second", len(rows) / wall)
    yield Figure("rows / processor second", len(rows) / cpu)
    counted = peer.query("SELECT count(*) AS n FROM lineitem").column("n").to_pylist()
    if counted != [len(rows)]:
        raise ValueError(f"{counted} rows are left of {len(rows)}")
    peer.close()
    shutil.rmtree(folder)


def _lz4_rate(text: npt.NDArray[np.uint8]) -> float:
    """Million bytes a processor second that one thread compresses."""
    before = cpu_seconds()
    for start in range(0, len(text), _BLOCK_BYTES):
        bitshuffle.compress_bytes(text[start : start + _BLOCK_BYTES])
    return len(text) / (cpu_seconds() - before) / 1e6


def _takeable(rows: pa.Table) -> pa.Table:
    """String views as strings: Arrow cannot choose among the rows of views."""
    types = [pa.string() if field.type == pa.string_view() else field.type for field in rows.schema]
    return rows.cast(pa.schema(zip(rows.column_names, types, strict=True)))
