"""The 22 queries of TPC-H over all eight tables, hot: as loaded, after an UPDATE, and AS OF before.

Each query is a race of its own, so that answers are compared and turns alternate. What is told is
the geometric mean over the queries of the ratios, because no query weighs more than another in it.
"""

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from benchmarks.harness import Contestant, Race, Result, run_race
from benchmarks.operations import ours
from benchmarks.peers.duckdb import THREADS
from benchmarks.peers.peer import Peer
from benchmarks.peers.sqlite import SqlitePeer
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, tpch_file, tpch_rows
from benchmarks.workbench import Workbench
from benchmarks.workloads.queries.analytics import result_rows, same_rows

# A twentieth of the orders with all their lines.
CHANGES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "lineitem": ({"l_tax": "l_tax + 0.01"}, "l_orderkey % 20 = 3"),
    "orders": ({"o_totalprice": "o_totalprice + 1"}, "o_orderkey % 20 = 3"),
}
# SQLite takes minutes for some of the queries; it is stopped, and has taken so long at least.
SQLITE_SECONDS = 10.0

Query = Callable[[str], pa.Table]
Rows = Sequence[tuple[object, ...]]
SameRows = Callable[[Rows, Rows], bool]


def tpch(bench: Workbench) -> Survey:
    """Seconds of each query, and how many times as long as its peers we take over all of them."""
    return Survey(
        name="tpch",
        title=(
            f"TPC-H SF{bench.scale:g}, 22 queries, hot, over flushed tables, then after an UPDATE "
            "of 5% of orders and lineitem, then AS OF before it; geometric means of time ratios"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[
            Bound("pykudu / duckdb", most=1.25),
            Bound("pykudu / duckdb over parquet", most=1.0),
            Bound("pykudu / deltalake", most=1.0),
            Bound("pykudu / sqlite", most=1.0),
            Bound("updated: pykudu / duckdb", most=1.5),
            Bound("AS OF: pykudu / duckdb", most=2.0),
        ],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    peers = {name: _loaded(bench, name) for name in bench.among("pykudu", "duckdb", "deltalake")}
    mine, rounds = peers["pykudu"], bench.rounds or 3
    queries: dict[str, Query] = {name: peer.query for name, peer in peers.items()}
    if "duckdb" in peers:
        queries["duckdb over parquet"] = _parquet_query(bench)
    clean = _Comparison.of(queries, rounds)
    yield from clean.each_query()
    yield from clean.means("")
    if bench.among("sqlite"):
        yield Figure("pykudu / sqlite", _against_sqlite(bench, clean))
    if "duckdb" not in peers:
        return
    before = {number: result_rows(mine.query(sql)) for number, sql in QUERIES.items()}
    moment = _moment(mine)
    native = {name: queries[name] for name in ("pykudu", "duckdb")}
    for peer in (mine, peers["duckdb"]):
        for name, (assignments, predicate) in CHANGES.items():
            peer.update(TPCH[name], assignments, predicate)
    yield from _Comparison.of(native, rounds).means("updated: ")
    mine.execute(f"SET as_of = {moment}", ())
    for number, sql in QUERIES.items():
        if not same_rows(result_rows(mine.query(sql)), before[number]):
            raise ValueError(f"Q{number} AS OF before the UPDATE has another answer than before it")
    # The latest state is what DuckDB has, so that answers differ; they were compared above.
    yield from _Comparison.of(native, rounds, _any_rows).means("AS OF: ")
    mine.execute("SET as_of = DEFAULT", ())


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What came out of the race of each query."""

    races: Mapping[int, Result]

    @classmethod
    def of(
        cls, queries: Mapping[str, Query], rounds: int, same: SameRows = same_rows
    ) -> "_Comparison":
        """Run all queries; `same`: whether two answers are as they should be."""
        return cls({n: _race(n, sql, queries, rounds, same) for n, sql in QUERIES.items()})

    def each_query(self) -> Iterator[Figure]:
        """Our time of each query, and the ratios."""
        for number, race in self.races.items():
            yield Figure(f"Q{number}", race.seconds("pykudu"), "s")
            for other in race.samples:
                if other != "pykudu":
                    yield Figure(f"Q{number} / {other}", race.ratio("pykudu", other))

    def means(self, label: str) -> Iterator[Figure]:
        """The geometric mean of our time / theirs, for each of the others that answered all."""
        for other in next(iter(self.races.values())).samples:
            if other != "pykudu" and all(other in race.samples for race in self.races.values()):
                ratios = [race.ratio("pykudu", other) for race in self.races.values()]
                yield Figure(f"{label}pykudu / {other}", statistics.geometric_mean(ratios))


def _any_rows(some: Rows, others: Rows) -> bool:
    """For contestants that look at different states."""
    return True


def _race(
    number: int, sql: str, queries: Mapping[str, Query], rounds: int, same: SameRows
) -> Result:
    def contestant(name: str, query: Query) -> Contestant:
        def run(operations: int) -> None:
            for _ in range(operations):
                query(sql)

        return Contestant(name, run, answer=lambda: result_rows(query(sql)))

    contestants = [contestant(name, query) for name, query in queries.items()]
    race = Race(f"q{number}", f"TPC-H Q{number}", "pykudu", contestants, rounds, same=same)
    result = run_race(race)
    if "pykudu" in result.failures:
        raise ValueError(f"Q{number}: {result.failures['pykudu']}")
    return result


def _loaded(bench: Workbench, name: str) -> Peer:
    peer, _ = bench.open(name, durable=True)
    bench.close_later(peer.close)
    for table in TPCH.values():
        peer.create(table)
        peer.append(table, tpch_rows(bench.scale, table.name))
    if name == "pykudu":
        for each in TPCH:
            peer.execute(f"FLUSH TABLE {each}", ())
    return peer


def _parquet_query(bench: Workbench) -> Query:
    """DuckDB over the files that the rows came from."""
    connection = duckdb.connect(config={"threads": THREADS})
    bench.close_later(connection.close)
    for table in TPCH:
        path: Path = tpch_file(bench.scale, table)
        connection.execute(f"CREATE VIEW {table} AS FROM read_parquet('{path}')")
    return lambda sql: connection.sql(sql).to_arrow_table()


def _against_sqlite(bench: Workbench, clean: _Comparison) -> float:
    """The geometric mean with one run of each query, so many seconds at most."""
    folder = bench.scratch / "sqlite-tpch"
    folder.mkdir()
    peer = SqlitePeer(folder, durable=True)
    bench.close_later(peer.close)
    for table in TPCH.values():
        peer.create(table)
        peer.append(table, tpch_rows(bench.scale, table.name))
    ratios = [
        race.seconds("pykudu") / _seconds_on_sqlite(peer, QUERIES[number])
        for number, race in clean.races.items()
    ]
    return statistics.geometric_mean(ratios)


def _seconds_on_sqlite(peer: SqlitePeer, sql: str) -> float:
    stopper = threading.Timer(SQLITE_SECONDS, peer.interrupt)
    stopper.start()
    start = time.perf_counter()
    try:
        peer.run(sql)
    finally:
        stopper.cancel()
    return time.perf_counter() - start


def _moment(peer: Peer) -> int:
    connection = ours(peer).connect()
    try:
        return connection.snapshot_timestamp()
    finally:
        connection.close()
