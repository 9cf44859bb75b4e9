"""Delta Lake through delta-rs, queried with the DataFusion engine it carries.

It has no primary key and never calls fsync, whatever `durable` asks: on bulk insert it does less
work than the others.
"""

from collections.abc import Callable, Mapping, Sequence
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
        self._versions: dict[str, deltalake.DeltaTable] = {}
        self._engine = deltalake.QueryBuilder()
        for path in folder.iterdir():
            self._register(path.name)

    def create(self, table: BenchTable) -> None:
        """See Peer. The first append makes the table, with the schema of its rows."""

    def append(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        deltalake.write_deltalake(str(self._folder / table.name), rows, mode="append")
        self._register(table.name)

    def upsert(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        raise TypeError("delta-rs has no keys")

    def update(self, table: BenchTable, assignments: Mapping[str, str], predicate: str) -> None:
        """See Peer."""
        deltalake.DeltaTable(str(self._folder / table.name)).update(
            dict(assignments), predicate=predicate
        )
        self._register(table.name)

    def _register(self, table: str) -> None:
        """Let queries see the newest version of a table."""
        self._versions[table] = deltalake.DeltaTable(str(self._folder / table))
        engine = deltalake.QueryBuilder()
        for name, version in self._versions.items():
            engine = engine.register(name, version)
        self._engine = engine

    def query(self, sql: str) -> pa.Table:
        """See Peer."""
        return pa.table(self._engine.execute(sql).read_all())

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """See Peer."""
        raise TypeError("delta-rs has no keyed single-row statements worth a race")

    def close(self) -> None:
        """See Peer."""
