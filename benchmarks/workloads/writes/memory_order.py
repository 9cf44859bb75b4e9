"""Order in memory: the first rows by key, the rows of a prefix, and the changes of a few rows.

Batches of rows in random order, nothing flushed; the same queries at several sizes, so that what
grows with memory shows. The index is made by whoever asks first, so the first query has its own
figure. Storage time is that of the scan alone, without planning and engine. Times are of the
processor, all threads together: they are short beside what others on the machine take. Changes in
memory are those of rows on disk; a read right after a batch of them finds the batch in no order
yet.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.operations import paused, tablets_of
from benchmarks.peers.peer import Peer
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tables import SERIES
from benchmarks.workbench import Workbench
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.open_store import OpenStore

FIRST = "SELECT * FROM series ORDER BY host, at LIMIT 10"
_PREFIX_ROWS = 600
_BATCH_ROWS = 10_000
_SIZES = (100_000, 600_000, 1_000_000, 4_000_000)
_GOAL_ROWS = 600_000
_CHANGED_ROWS = 1_000_000
_SINGLE_ROWS = 200
_ROUNDS = 15


def memory_order(bench: Workbench) -> Survey:
    """Rows in memory by key."""
    return Survey(
        name="memory_order",
        title=(
            f"{FIRST}; the {_PREFIX_ROWS} rows of one host; of {_SIZES[0]:,} to {_SIZES[-1]:,} "
            f"rows in memory that came in no order, and of {_CHANGED_ROWS:,} rows on disk with "
            "up to as many changes in memory"
        ),
        measure=lambda: [
            *(figure for rows in _SIZES for figure in _measure(bench, rows)),
            *_measure_changes(bench),
            *_measure_writes(bench),
        ],
        bounds=[
            Bound(f"{_GOAL_ROWS:,} rows: first ten", most=0.003),
            *(Bound(f"{rows:,} rows: prefix, storage", most=0.001) for rows in _SIZES),
            Bound(f"{_CHANGED_ROWS:,} changes: prefix, storage", most=0.001),
        ],
    )


def _measure(bench: Workbench, rows: int) -> Iterator[Figure]:
    peer, _ = bench.open("pykudu", durable=False)
    try:
        store = paused(peer)
        peer.create(SERIES)
        for start in range(0, rows, _BATCH_ROWS):
            peer.append(SERIES, _batch(_order(rows)[start : start + _BATCH_ROWS], rows))
        name = f"{rows:,} rows"
        yield Figure(f"{name}: first ten, the first time", _seconds(lambda: peer.query(FIRST)), "s")
        yield Figure(f"{name}: first ten", _median(lambda: peer.query(FIRST)), "s")
        hosts = iter(range(1, rows // _PREFIX_ROWS))
        yield Figure(f"{name}: prefix", _median(lambda: _host(peer, next(hosts))), "s")
        yield Figure(
            f"{name}: prefix, storage", _median(lambda: _host_in_storage(store, next(hosts))), "s"
        )
        yield Figure(f"{name}: flush", _seconds(lambda: store.flush(SERIES.name)), "s")
    finally:
        peer.close()


def _measure_changes(bench: Workbench) -> Iterator[Figure]:
    """Reads of a prefix of rows on disk while more and more of all rows are changed in memory."""
    rows = _CHANGED_ROWS
    peer, _ = bench.open("pykudu", durable=False)
    try:
        store = paused(peer)
        peer.create(SERIES)
        peer.append(SERIES, _batch(np.arange(rows), rows))
        store.flush(SERIES.name)
        hosts = itertools.cycle(_order(rows // _PREFIX_ROWS).tolist())
        read = partial(_host_in_storage, store)
        yield Figure("no changes: prefix, storage", _median(lambda: read(next(hosts))), "s")
        behind = []
        for start in range(0, rows, _BATCH_ROWS):
            peer.upsert(SERIES, _batch(_order(rows)[start : start + _BATCH_ROWS], rows))
            behind.append(_seconds(lambda: read(next(hosts))))
        name = f"{rows:,} changes: prefix, storage"
        yield Figure(name, _median(lambda: read(next(hosts))), "s")
        yield Figure(f"{name}, right after a batch, p50", float(np.median(behind)), "s")
        yield Figure(f"{name}, right after a batch, worst", max(behind), "s")
    finally:
        peer.close()


def _measure_writes(bench: Workbench) -> Iterator[Figure]:
    """What order costs those who ask for none: a row by itself, a batch, and a row's memory."""
    rows = _GOAL_ROWS
    peer, _ = bench.open("pykudu", durable=False)
    try:
        store = paused(peer)
        peer.create(SERIES)
        insert = "INSERT INTO series (host, at, value) VALUES (?, ?, ?)"
        numbers = iter(range(_SINGLE_ROWS * _ROUNDS))
        inserts = [partial(peer.execute, insert, (number, -1, 0.5)) for number in numbers]
        parts = [inserts[start::_ROUNDS] for start in range(_ROUNDS)]
        yield Figure("insert of one row", _median_of(parts), "s")
        get = "SELECT value FROM series WHERE host = ? AND at = ?"
        gets = [partial(_fetch, peer, get, (number, -1)) for number in range(_SINGLE_ROWS)]
        yield Figure("get of one row", _median_of([gets] * _ROUNDS), "s")
        batches = [
            _batch(_order(rows)[start : start + _BATCH_ROWS], rows)
            for start in range(0, rows, _BATCH_ROWS)
        ]
        new = [_seconds(partial(peer.upsert, SERIES, batch)) for batch in batches]
        yield Figure(f"upsert of {_BATCH_ROWS:,} new rows", float(np.median(new)), "s")
        again = [_seconds(partial(peer.upsert, SERIES, batch)) for batch in batches]
        yield Figure(f"upsert of {_BATCH_ROWS:,} rows in memory", float(np.median(again)), "s")
        row_bytes = sum(
            tablet.components.memrowset.bytes for tablet in tablets_of(store, SERIES.name)
        )
        yield Figure("memory a row", row_bytes / (rows + _SINGLE_ROWS * _ROUNDS), "B")
    finally:
        peer.close()


def _fetch(peer: Peer, sql: str, parameters: tuple[int, int]) -> None:
    peer.execute(sql, parameters).fetchone()


def _median_of(parts: Sequence[Sequence[Callable[[], object]]]) -> float:
    """Seconds a call, the median of some parts."""

    def run(part: Sequence[Callable[[], object]]) -> None:
        for call in part:
            call()

    return float(np.median([_seconds(partial(run, part)) / len(part) for part in parts]))


def _order(rows: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(29).permutation(rows)


def _batch(numbers: npt.NDArray[np.int64], rows: int) -> pa.Table:
    hosts = rows // _PREFIX_ROWS
    columns = {"host": numbers % hosts, "at": numbers // hosts, "value": numbers / 4}
    return pa.table(columns)


def _host(peer: Peer, host: int) -> None:
    peer.query(f"SELECT at, value FROM series WHERE host = {host}")


def _host_in_storage(store: OpenStore, host: int) -> None:
    table = store.catalog.table(SERIES.name)
    ids = [column.id for column in table.schema.columns]
    spec = ScanSpec(tuple(ids[1:]), Comparison(ids[0], Op.EQ, host))
    transaction = store.begin()
    transaction.table_scan(table, spec)
    transaction.rollback()


def _median(work: Callable[[], object]) -> float:
    return float(np.median([_seconds(work) for _ in range(_ROUNDS)]))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
