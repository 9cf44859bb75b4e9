"""Bulk insert of lineitem with its primary key, durable when the call returns."""

import shutil
from pathlib import Path

from benchmarks.harness import Contestant, Goal, Race
from benchmarks.peers.peer import Peer
from benchmarks.tables import LINEITEM
from benchmarks.workbench import Workbench

SQLITE_SCALE_LIMIT = 0.1


def bulk(bench: Workbench) -> Race:
    """One operation: all of lineitem from an Arrow table into an empty table.

    SQLite takes half a minute for scale 1, so it takes part up to a tenth of it.
    """
    names = bench.among("pykudu", "duckdb", "deltalake")
    if bench.scale <= SQLITE_SCALE_LIMIT:
        names += bench.among("sqlite")
    return Race(
        name="bulk",
        title=(
            f"insert lineitem SF{bench.scale:g} from Arrow, primary key "
            "(l_orderkey, l_linenumber), 4 hash tablets; durable, except deltalake (no key either)"
        ),
        reference="duckdb",
        contestants=[_contestant(bench, name) for name in names],
        rounds=bench.rounds or 3,
        goals=[Goal("pykudu", "duckdb", 2.0)],
    )


def _contestant(bench: Workbench, name: str) -> Contestant:
    rows = bench.lineitem()
    current: list[tuple[Peer, Path]] = []
    bench.close_current(current)

    def prepare() -> None:
        for peer, folder in current:
            peer.close()
            shutil.rmtree(folder)
        current[:] = [bench.open(name, durable=True)]
        current[0][0].create(LINEITEM)

    def run(operations: int) -> None:
        current[0][0].append(LINEITEM, rows)

    def answer() -> object:
        counted = current[0][0].query("SELECT count(*) AS n FROM lineitem")
        return counted.column("n").to_pylist()

    return Contestant(name, run, prepare, answer)
