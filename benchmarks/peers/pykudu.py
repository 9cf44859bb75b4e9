"""pykudu_sql through its public face."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import pykudu_sql
from benchmarks.peers.peer import Fetchable
from benchmarks.tables import BenchTable


class PykuduPeer:
    """A database directory, hash partitioned tables."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._connection = pykudu_sql.connect(
            str(folder / "bench.db"), autocommit=True, durability="full" if durable else "off"
        )

    def create(self, table: BenchTable) -> None:
        """See Peer."""
        suffix = f"PARTITION BY HASH ({', '.join(table.key)}) PARTITIONS {table.buckets}"
        self._connection.execute(table.ddl({}, suffix))

    def append(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        self._connection.append(table.name, rows)

    def query(self, sql: str) -> pa.Table:
        """See Peer."""
        return self._connection.execute(sql).fetch_arrow_table()

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """See Peer."""
        execute: Callable[[str, Sequence[Any]], Fetchable] = self._connection.execute
        return execute

    def close(self) -> None:
        """See Peer."""
        self._connection.close()
