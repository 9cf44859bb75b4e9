"""DuckDB: a file when durable, else in memory, as it has no switch for fsync.

In memory is its fastest: no log, no checkpoint. A query runs on two threads.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks.peers.peer import Fetchable, update_statement
from benchmarks.tables import BenchTable

THREADS = 2


class DuckdbPeer:
    """DuckDB's own tables with a primary key."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._connection = duckdb.connect(
            str(folder / "bench.duckdb") if durable else ":memory:", config={"threads": THREADS}
        )

    def create(self, table: BenchTable) -> None:
        """See Peer."""
        self._connection.execute(table.ddl({}, ""))

    def append(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        self._insert("INSERT", table, rows)

    def upsert(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        self._insert("INSERT OR REPLACE", table, rows)

    def _insert(self, verb: str, table: BenchTable, rows: pa.Table) -> None:
        self._connection.register("incoming", rows)
        self._connection.execute(f"{verb} INTO {table.name} SELECT * FROM incoming")
        self._connection.unregister("incoming")

    def update(self, table: BenchTable, assignments: Mapping[str, str], predicate: str) -> None:
        """See Peer."""
        self._connection.execute(update_statement(table, assignments, predicate))

    def query(self, sql: str) -> pa.Table:
        """See Peer."""
        return self._connection.sql(sql).to_arrow_table()

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """See Peer."""
        return self._connection.execute

    def close(self) -> None:
        """See Peer."""
        self._connection.close()
