"""The 22 queries of TPC-H in memory that the data exceed: ours, DuckDB's tables, its Parquet.

Each run is a fresh process (`bounded_queries`). Engines take turns within a round, and each round
begins with another one. Of the rounds the least processor time counts: others on the machine, and
memory that it has to fetch first, only add to it. What a user waits for is told beside it.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from benchmarks.bounded_queries import ENGINES, Budget
from benchmarks.scale_operations import LOAD, Cost
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, tpch_file
from benchmarks.workbench import Workbench
from benchmarks.workloads.queries.analytics import result_rows, same_rows

OURS, NATIVE, PARQUET = ENGINES
MOST_MIB = 3072.0
_ROUNDS = 3

Costs = Mapping[str, Sequence[Cost]]


def bounded(bench: Workbench) -> Survey:
    """Processor and wall seconds and peak memory of each query, and the ratios."""
    budget = Budget.of_scale(bench.scale)
    parts = " + ".join(f"{part >> 20}" for part in (budget.cache, budget.scans, budget.engine))
    return Survey(
        name="bounded",
        title=(
            f"TPC-H SF{bench.scale:g}, 22 queries, each in a fresh process; ours with {parts} MiB "
            "of block cache, scans and engine, DuckDB with the sum; ratios of processor time"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[
            Bound(f"pykudu / {NATIVE}", most=2.0),
            Bound(f"pykudu / {PARQUET}", most=0.9),
            Bound("highest peak", most=MOST_MIB),
            *(
                Bound(f"Q{number} / {NATIVE}", most={1: 2.5, 6: 3.0}.get(number, 6.0))
                for number in QUERIES
            ),
        ],
    )


@dataclass(frozen=True, slots=True)
class _Runner:
    """Runs queries over databases in a folder."""

    folder: Path
    scale: float

    @property
    def paths(self) -> Mapping[str, str]:
        """The database of each engine; that over Parquet only spills there."""
        return {name: str(self.folder / name.replace(" ", "-")) for name in ENGINES}

    def load(self) -> None:
        """Fill the databases, each in the memory that its engine likes."""
        _run("benchmarks.scale_operations", self.paths[OURS], LOAD, f"{self.scale:g}")
        with duckdb.connect(self.paths[NATIVE]) as connection:
            for table in TPCH:
                file = tpch_file(self.scale, table)
                connection.execute(f"CREATE TABLE {table} AS FROM read_parquet('{file}')")

    def costs(self, number: int, rounds: int) -> Costs:
        """What a query takes by engine, a cost each round.

        Raises ValueError: answers differ.
        """
        names = list(ENGINES)
        costs: dict[str, list[Cost]] = {name: [] for name in names}
        for turn in range(rounds):
            shift = turn % len(names)
            for name in names[shift:] + names[:shift]:
                costs[name].append(self._cost(name, number))
        expected = self._answer(NATIVE)
        for name in names:
            if not same_rows(self._answer(name), expected):
                raise ValueError(f"Q{number}: {name} has another answer than {NATIVE}")
        return costs

    def _cost(self, name: str, number: int) -> Cost:
        place = self.paths[name], str(number), f"{self.scale:g}", str(self._answer_file(name))
        return Cost(**json.loads(_run("benchmarks.bounded_queries", name, *place)))

    def _answer(self, name: str) -> Sequence[tuple[object, ...]]:
        return result_rows(pa.ipc.open_file(self._answer_file(name)).read_all())

    def _answer_file(self, name: str) -> Path:
        return self.folder / f"{name.replace(' ', '-')}.arrow"


def _run(module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _measure(bench: Workbench) -> Iterator[Figure]:
    folder = bench.scratch / "bounded"
    folder.mkdir()
    runner = _Runner(folder, bench.scale)
    runner.load()
    queries = {number: runner.costs(number, bench.rounds or _ROUNDS) for number in QUERIES}
    yield from figures(queries)


def figures(queries: Mapping[int, Costs]) -> Iterator[Figure]:
    """What is told of the costs of each query by engine."""
    for number, costs in queries.items():
        for name, rounds in costs.items():
            label = f"Q{number} {name}"
            yield Figure(f"{label}: processor", _processor(rounds), "s")
            yield Figure(f"{label}: wall", _wall(rounds), "s")
            yield Figure(f"{label}: peak", max(cost.peak for cost in rounds), "MiB")
        for name in (NATIVE, PARQUET):
            yield Figure(f"Q{number} / {name}", _ratio(costs, name))
    for name in (NATIVE, PARQUET):
        for label, ratio in (("", _ratio), (": wall", _wall_ratio)):
            mean = statistics.geometric_mean(ratio(costs, name) for costs in queries.values())
            yield Figure(f"pykudu / {name}{label}", mean)
    peak = max(cost.peak for costs in queries.values() for cost in costs[OURS])
    yield Figure("highest peak", peak, "MiB")


def _processor(rounds: Sequence[Cost]) -> float:
    return min(cost.processor for cost in rounds)


def _wall(rounds: Sequence[Cost]) -> float:
    return min(cost.wall for cost in rounds)


def _wall_ratio(costs: Costs, name: str) -> float:
    return _wall(costs[OURS]) / _wall(costs[name])


def _ratio(costs: Costs, name: str) -> float:
    return _processor(costs[OURS]) / _processor(costs[name])
