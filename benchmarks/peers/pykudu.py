"""pykudu_sql through its public face."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

import pykudu_sql
from benchmarks.peers.peer import Fetchable, update_statement
from benchmarks.tables import BenchTable
from pykudu_sql.database import open_database
from pykudu_sql.settings import settings_of

if TYPE_CHECKING:
    from pykudu_sql.setting_types import Durability


class PykuduPeer:
    """A database directory, hash partitioned tables.

    Attributes:
        path: of the directory.
        store: the engine room of the open database, for operations that have no SQL.
    """

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self.path = str(folder / "bench.db")
        settings: dict[str, Any] = {"durability": "full" if durable else "off"}
        self._database = open_database(self.path, settings_of(settings)[0])
        self.store = self._database.store
        self._connection = pykudu_sql.connect(self.path, autocommit=True, **settings)

    def create(self, table: BenchTable) -> None:
        """See Peer."""
        self._connection.execute(table.ddl({}, table.partitions))

    def append(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        self._connection.append(table.name, rows)

    def upsert(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        self._connection.append(table.name, rows, "upsert")

    def update(self, table: BenchTable, assignments: Mapping[str, str], predicate: str) -> None:
        """See Peer."""
        self._connection.execute(update_statement(table, assignments, predicate))

    def query(self, sql: str) -> pa.Table:
        """See Peer."""
        return self._connection.execute(sql).fetch_arrow_table()

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """See Peer."""
        execute: Callable[[str, Sequence[Any]], Fetchable] = self._connection.execute
        return execute

    def connect(self) -> pykudu_sql.Connection:
        """One more connection, for another thread; the caller closes it."""
        durability = cast("Durability", self.store.options.durability)
        return pykudu_sql.connect(self.path, autocommit=True, durability=durability)

    def close(self) -> None:
        """See Peer."""
        self._connection.close()
        self._database.release()
