"""Delta Lake through delta-rs, queried with the DataFusion engine it carries.

It has no primary key and never calls fsync, whatever `durable` asks: on bulk insert it does less
work than the others.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa

from benchmarks.peers.peer import Fetchable
from benchmarks.tables import BenchTable


class DeltalakePeer:
    """A folder of Delta tables."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._folder = folder
        self._engine = deltalake.QueryBuilder()

    def create(self, table: BenchTable) -> None:
        """See Peer. The first append makes the table, with the schema of its rows."""

    def append(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        path = str(self._folder / table.name)
        deltalake.write_deltalake(path, rows, mode="append")
        self._engine = deltalake.QueryBuilder().register(table.name, deltalake.DeltaTable(path))

    def query(self, sql: str) -> pa.Table:
        """See Peer."""
        return pa.table(self._engine.execute(sql).read_all())

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """See Peer."""
        raise TypeError("delta-rs has no keyed single-row statements worth a race")

    def close(self) -> None:
        """See Peer."""
