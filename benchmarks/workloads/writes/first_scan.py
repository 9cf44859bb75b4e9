"""The first scan after changes that are still in memory, beside a scan of the rows at rest.

Each round begins with a new table of the same rows: to compact the old one would write the history
of all rounds before, a little more each time.

Two kinds of changes: upserts of rows that are there, and upserts of which half are new rows. After
the former, scans of several shapes: each touches other columns and other code.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.operations import paused
from benchmarks.peers.peer import Peer
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import BenchTable
from benchmarks.workbench import Workbench
from benchmarks.workloads.writes.batches import BATCH_ROWS, TURN_BATCHES

_ROUNDS = 9
_RATIO = 1.5

READINGS = BenchTable(
    name="readings",
    columns={
        "id": "BIGINT",
        "hits": "INT",
        "score": "DOUBLE",
        "label": "STRING",
        "word": "STRING",
        "note": "STRING",
        "at": "BIGINT",
    },
    key=("id",),
    buckets=4,
)
_WORDS = np.array([f"word {number:02d} of twenty" for number in range(20)])

Keys = Callable[[np.random.Generator, int], npt.NDArray[np.int64]]


def _present(generator: np.random.Generator, rows: int) -> npt.NDArray[np.int64]:
    """Keys that are there."""
    return 2 * generator.choice(rows, BATCH_ROWS, replace=False)


def _half_new(generator: np.random.Generator, rows: int) -> npt.NDArray[np.int64]:
    """Keys of which about half are there."""
    return generator.choice(2 * rows, BATCH_ROWS, replace=False)


_SUM = "SELECT sum(hits) AS n FROM readings"
_CASES: Mapping[str, tuple[Keys, str]] = {
    "sum, half new": (_half_new, _SUM),
    "sum": (_present, _SUM),
    "by word": (_present, "SELECT word, count(*) AS n, sum(hits) AS m FROM readings GROUP BY word"),
    "of a word": (_present, "SELECT count(*) AS n FROM readings WHERE word = 'word 03 of twenty'"),
    "texts, some NULL": (_present, "SELECT count(note) AS n FROM readings"),
    "all columns": (_present, "SELECT * FROM readings"),
    "a hundredth of the blocks": (
        _present,
        "SELECT sum(hits) AS n FROM readings WHERE at BETWEEN 10000 AND 20000",
    ),
}


def first_scan(bench: Workbench) -> Survey:
    """Scans of several shapes right after ten batches of upserts."""
    return Survey(
        name="first_scan",
        title=(
            f"Processor time of scans of {bench.point_rows:,} rows: at rest, right after "
            f"{TURN_BATCHES} upserts of {BATCH_ROWS:,} random rows, and once more"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[Bound(f"{name}: first / at rest", most=_RATIO) for name in _CASES],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    rounds = bench.rounds or _ROUNDS
    peer, _ = bench.open("pykudu", durable=False)
    bench.close_later(peer.close)
    rows = _rows_of(2 * np.arange(bench.point_rows, dtype=np.int64))
    paused(peer)
    for name, (keys, query) in _CASES.items():
        batches = _batches(keys, bench.point_rows)
        times = np.array([_round(peer, rows, batches, query) for _ in range(rounds)])
        at_rest, first, second = np.quantile(times, 0.5, axis=0).tolist()
        yield Figure(f"{name}: at rest", at_rest, "s")
        yield Figure(f"{name}: first", first, "s")
        yield Figure(f"{name}: second", second, "s")
        yield Figure(f"{name}: first / at rest", first / at_rest)


def _batches(keys: Keys, rows: int) -> Iterator[pa.Table]:
    generator = np.random.default_rng(17)
    while True:
        yield _rows_of(keys(generator, rows))


def _rows_of(keys: npt.NDArray[np.int64]) -> pa.Table:
    """A row for each key: some texts are words of a dictionary, a tenth of others NULL."""
    numbers = keys.tolist()
    return pa.table(
        {
            "id": keys,
            "hits": (keys % 1000).astype(np.int32),
            "score": keys / 2,
            "label": pa.array([f"label {number:08d}" for number in numbers]),
            "word": pa.array(_WORDS[keys // 2 % 20]),
            "note": pa.array([f"note {n:09d}" if n % 20 else None for n in numbers]),
            "at": keys // 2,
        }
    )


def _round(
    peer: Peer, rows: pa.Table, batches: Iterator[pa.Table], query: str
) -> tuple[float, float, float]:
    """Seconds of a scan of rows at rest, of the first after the upserts, and of the second."""
    peer.execute(f"DROP TABLE IF EXISTS {READINGS.name}", ())
    peer.create(READINGS)
    peer.append(READINGS, rows)
    _seconds(peer, query)
    at_rest = float(np.median([_seconds(peer, query) for _ in range(3)]))
    for batch in itertools.islice(batches, TURN_BATCHES):
        peer.upsert(READINGS, batch)
    return at_rest, _seconds(peer, query), _seconds(peer, query)


def _seconds(peer: Peer, query: str) -> float:
    start = time.process_time()
    peer.query(query)
    return time.process_time() - start
