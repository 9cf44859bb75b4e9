"""One TPC-H query on one engine, in a process of its own and in a given memory; prints its cost.

A process of its own, so that its peak memory is that of the query and nothing is decoded yet. What
ours may use has three parts, and DuckDB gets their sum as its limit. What is loaded once in a
process, as parser, engine and libraries, is loaded by a query over 25 rows, which is not timed. The
answer goes to a file, for whoever compares it.
"""

import gc
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

import duckdb
import pyarrow as pa

import pykudu_sql
from benchmarks.peers.duckdb import THREADS
from benchmarks.scale_operations import Cost, measured
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, tpch_file

_LEAST_ENGINE_BYTES = 256 << 20
_WARM_UP = "SELECT count(*) FROM nation WHERE n_name > 'CHINA'"

Query = Callable[[str], pa.Table]


@dataclass(frozen=True, slots=True)
class Budget:
    """Bytes that a query may use: of the block cache, of scans and of the engine."""

    cache: int
    scans: int
    engine: int

    @classmethod
    def of_scale(cls, scale: float) -> "Budget":
        """1.75 GiB at SF10, in proportion elsewhere, but for what the engine needs at least."""
        unit = int(scale * (256 << 20) / 10)
        return cls(unit, 2 * unit, max(4 * unit, _LEAST_ENGINE_BYTES))

    @property
    def total(self) -> int:
        """All of it."""
        return self.cache + self.scans + self.engine


def _ours(path: str, scale: float) -> Query:
    budget = Budget.of_scale(scale)
    connection = pykudu_sql.connect(
        path,
        autocommit=True,
        read_only=True,
        block_cache_bytes=budget.cache,
        engine_memory_bytes=budget.engine,
        scan_memory_bytes=budget.scans,
    )
    return lambda sql: connection.execute(sql).fetch_arrow_table()


def _native(path: str, scale: float) -> Query:
    return _queries_of(duckdb.connect(path, read_only=True, config=_config(path, scale)))


def _parquet(path: str, scale: float) -> Query:
    connection = duckdb.connect(config=_config(path, scale))
    for table in TPCH:
        connection.execute(f"CREATE VIEW {table} AS FROM read_parquet('{tpch_file(scale, table)}')")
    return _queries_of(connection)


def _config(path: str, scale: float) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "threads": THREADS,
        "memory_limit": f"{Budget.of_scale(scale).total}B",
        "temp_directory": f"{path}.spill",
    }


def _queries_of(connection: duckdb.DuckDBPyConnection) -> Query:
    return lambda sql: connection.sql(sql).to_arrow_table()


ENGINES: Mapping[str, Callable[[str, float], Query]] = MappingProxyType(
    {"pykudu": _ours, "duckdb": _native, "duckdb over parquet": _parquet}
)


def run(engine: str, path: str, number: int, scale: float, answer: Path) -> Cost:
    """Answer a query.

    `path`: of the engine's database, beside which it spills; `answer`: the file of its rows.
    """
    query = ENGINES[engine](path, scale)
    query(_WARM_UP)
    gc.collect()  # of what loading left, lest the query pays for it
    tables: list[pa.Table] = []

    def ask() -> int:
        tables.append(query(QUERIES[number]))
        return int(tables[0].num_rows)

    cost = measured(ask)
    with pa.ipc.new_file(answer, tables[0].schema) as file:
        file.write_table(tables[0])
    return cost


def main(arguments: Sequence[str]) -> None:
    """`arguments`: engine, path of its database, the query's number, scale factor, answer file."""
    engine, path, number, scale, answer = arguments
    print(json.dumps(asdict(run(engine, path, int(number), float(scale), Path(answer)))))


if __name__ == "__main__":
    main(sys.argv[1:])
