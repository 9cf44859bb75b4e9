"""The first scan after changes that are still in memory, beside a scan of the rows at rest.

Before each round the table is compacted whole, so that every round begins with the same rowsets.
Two kinds of changes: upserts of rows that are there, and upserts of which half are new rows.
"""

import itertools
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.operations import paused
from benchmarks.peers.peer import Peer
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import POINTS
from benchmarks.workbench import Workbench
from benchmarks.workloads.writes.batches import BATCH_ROWS, TURN_BATCHES, rows_of

SCAN = "SELECT sum(hits) AS hits FROM points"
_ROUNDS = 9
_RATIO = 1.5

Keys = Callable[[np.random.Generator, int], npt.NDArray[np.int64]]


def _present(generator: np.random.Generator, rows: int) -> npt.NDArray[np.int64]:
    """Keys that are there."""
    return 2 * generator.choice(rows, BATCH_ROWS, replace=False)


def _half_new(generator: np.random.Generator, rows: int) -> npt.NDArray[np.int64]:
    """Keys of which about half are there."""
    return generator.choice(2 * rows, BATCH_ROWS, replace=False)


_KINDS: dict[str, Keys] = {"present keys": _present, "half new": _half_new}


def first_scan(bench: Workbench) -> Survey:
    """A scan of one column right after ten batches of upserts."""
    return Survey(
        name="first_scan",
        title=(
            f"{SCAN} of {bench.point_rows:,} rows: compacted, right after {TURN_BATCHES} upserts "
            f"of {BATCH_ROWS:,} random rows, and once more"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[Bound(f"{kind}: first / compacted", most=_RATIO) for kind in _KINDS],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    rounds = bench.rounds or _ROUNDS
    for kind, keys in _KINDS.items():
        peer = bench.with_points("pykudu", durable=False)()
        paused(peer)
        batches = _batches(keys, bench.point_rows)
        times = np.array([_round(peer, batches) for _ in range(rounds)])
        compacted, first, second = np.quantile(times, 0.5, axis=0).tolist()
        yield Figure(f"{kind}: compacted", compacted, "s")
        yield Figure(f"{kind}: first", first, "s")
        yield Figure(f"{kind}: second", second, "s")
        yield Figure(f"{kind}: first / compacted", first / compacted)


def _batches(keys: Keys, rows: int) -> Iterator[pa.Table]:
    generator = np.random.default_rng(17)
    while True:
        yield rows_of(keys(generator, rows))


def _round(peer: Peer, batches: Iterator[pa.Table]) -> tuple[float, float, float]:
    """Seconds of a scan of compacted rows, of the first after the upserts, and of the second."""
    peer.execute(f"OPTIMIZE {POINTS.name} FULL", ())
    _seconds(peer)
    compacted = min(_seconds(peer) for _ in range(3))
    for batch in itertools.islice(batches, TURN_BATCHES):
        peer.upsert(POINTS, batch)
    return compacted, _seconds(peer), _seconds(peer)


def _seconds(peer: Peer) -> float:
    start = time.perf_counter()
    peer.query(SCAN)
    return time.perf_counter() - start
