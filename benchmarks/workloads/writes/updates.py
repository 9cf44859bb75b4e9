"""UPDATE of a tenth of lineitem by one statement, and queries over what it leaves behind.

The predicate compares a column that has nothing to do with the key, so the rows lie everywhere. The
column set is one that both TPC-H queries read. A database is queried right after the UPDATE (its
deltas in memory), after the deltas were flushed, and after they were brought into the base image.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import Contestant, Goal, Race
from benchmarks.operations import compact_deltas, ours, paused, tablets_of
from benchmarks.peers.peer import Peer
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench
from benchmarks.workloads.queries.analytics import Q1, Q6, result_rows, same_rows

ASSIGNMENTS = {"l_discount": "l_discount + CAST(0.01 AS DECIMAL(15,2))"}
PART_KEYS = 200_000  # for each unit of scale, as many rows of lineitem to each


def update_tenth(bench: Workbench) -> Race:
    """One operation: the UPDATE, durable but for delta-rs, over a hot table."""
    return Race(
        name="update_tenth",
        title=(
            f"UPDATE of one column of 10% of lineitem SF{bench.scale:g} by a predicate, one "
            "statement, hot; durable, except deltalake"
        ),
        reference="duckdb",
        contestants=[_updating(bench, n) for n in bench.among("pykudu", "duckdb", "deltalake")],
        rounds=bench.rounds or 3,
        goals=[Goal("pykudu", "duckdb", 1 / 1.5), Goal("pykudu", "deltalake", 8.0)],
        same=same_rows,
    )


def _updating(bench: Workbench, name: str) -> Contestant:
    current: list[tuple[Peer, Path]] = []
    bench.close_current(current)

    def prepare() -> None:
        for peer, folder in current:
            peer.close()
            shutil.rmtree(folder)
        current[:] = [bench.lineitem_copy(name)]
        current[0][0].query(_touching(bench))

    def run(operations: int) -> None:
        _update(bench, current[0][0])

    return Contestant(name, run, prepare, lambda: result_rows(current[0][0].query(Q6)))


def _predicate(bench: Workbench) -> str:
    return f"l_partkey <= {round(PART_KEYS * bench.scale / 10)}"


def _touching(bench: Workbench) -> str:
    """A query that reads all that the UPDATE will."""
    return (
        "SELECT sum(l_discount), max(l_orderkey), max(l_linenumber) "
        f"FROM lineitem WHERE {_predicate(bench)}"
    )


def _update(bench: Workbench, peer: Peer) -> None:
    peer.update(LINEITEM, ASSIGNMENTS, _predicate(bench))


def _flushed(bench: Workbench, peer: Peer) -> None:
    _update(bench, peer)
    ours(peer).store.flush(LINEITEM.name)


def _compacted(bench: Workbench, peer: Peer) -> None:
    _flushed(bench, peer)
    compact_deltas(ours(peer).store, LINEITEM.name)


def _unchanged(bench: Workbench, peer: Peer) -> None:
    """The state before."""


State = Callable[[Workbench, Peer], None]
STATES: dict[str, State] = {
    "clean": _unchanged,
    "dirty": _update,
    "flushed": _flushed,
    "compacted": _compacted,
}


def q1_dirty(bench: Workbench) -> Race:
    """One operation: TPC-H Q1 over lineitem after the UPDATE."""
    return _dirty(bench, "q1_dirty", "TPC-H Q1", Q1)


def q6_dirty(bench: Workbench) -> Race:
    """One operation: TPC-H Q6 over lineitem after the UPDATE."""
    return _dirty(bench, "q6_dirty", "TPC-H Q6", Q6)


def _dirty(bench: Workbench, name: str, title: str, sql: str) -> Race:
    contestants = [
        _querying(bench, "pykudu", label, sql, compared=label != "clean") for label in STATES
    ]
    contestants += [
        _querying(bench, peer, "dirty", sql, compared=True) for peer in bench.among("duckdb")
    ]
    return Race(
        name=name,
        title=f"{title} at SF{bench.scale:g} before and after the UPDATE of 10%, hot",
        reference="pykudu clean",
        contestants=contestants,
        rounds=bench.rounds or 9,
        turn_seconds=0.2,
        goals=[
            Goal("pykudu dirty", "pykudu clean", 1 / 1.5),
            Goal("pykudu flushed", "pykudu clean", 1 / 1.5),
            Goal("pykudu compacted", "pykudu clean", 1 / 1.05),
        ],
        same=same_rows,
    )


def as_of(bench: Workbench) -> Race:
    """One operation: TPC-H Q6 AS OF a moment before the UPDATE."""
    contestants = [_querying(bench, "pykudu", "clean", Q6, compared=True)]
    goals = []
    for label in ("dirty", "flushed", "compacted"):
        latest = _querying(bench, "pykudu", label, Q6, compared=False)
        before = _querying_before(bench, label)
        contestants += [latest, before]
        goals.append(Goal(before.name, latest.name, 1 / 2))
    return Race(
        name="as_of",
        title=f"TPC-H Q6 at SF{bench.scale:g} AS OF before the UPDATE of 10%, and latest, hot",
        reference="pykudu clean",
        contestants=contestants,
        rounds=bench.rounds or 9,
        turn_seconds=0.2,
        goals=goals,
        same=same_rows,
    )


def _querying(bench: Workbench, name: str, label: str, sql: str, *, compared: bool) -> Contestant:
    """`compared`: whether the answer is to be that of the others."""
    return _contestant(
        f"{name} {label}", lambda: _state(bench, name, label), lambda: sql, compared=compared
    )


def _querying_before(bench: Workbench, label: str) -> Contestant:
    """The query AS OF when lineitem had been loaded: a moment that all copies share."""

    def sql() -> str:
        clean = ours(_state(bench, "pykudu", "clean")).store
        moment = max(tablet.newest for tablet in tablets_of(clean, LINEITEM.name))
        return Q6.replace("FROM lineitem", f"FROM lineitem AS OF {moment}")

    return _contestant(
        f"pykudu {label} AS OF", lambda: _state(bench, "pykudu", label), sql, compared=True
    )


def _state(bench: Workbench, name: str, label: str) -> Peer:
    def change(peer: Peer) -> None:
        if name == "pykudu":
            paused(peer)
        STATES[label](bench, peer)

    return bench.changed_lineitem(name, label, change)


def _contestant(
    name: str, database: Callable[[], Peer], sql: Callable[[], str], *, compared: bool
) -> Contestant:
    def run(operations: int) -> None:
        query, text = database().query, sql()
        for _ in range(operations):
            query(text)

    def prepare() -> None:
        database()

    def answer() -> object:
        return result_rows(database().query(sql()))

    return Contestant(name, run, prepare, answer if compared else None)
