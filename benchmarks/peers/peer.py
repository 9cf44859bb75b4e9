"""What a workload asks of an engine."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from benchmarks.tables import BenchTable


class Fetchable(Protocol):
    """What `execute` gives back: a DB-API cursor, as far as a workload needs it."""

    def fetchone(self) -> Any:
        """The next row, or None."""


class Peer(Protocol):
    """An open database of one engine, with one writing connection in autocommit mode.

    An engine without keyed statements (delta-rs) raises TypeError from `execute`.
    """

    def create(self, table: BenchTable) -> None:
        """Create an empty table with its primary key."""

    def append(self, table: BenchTable, rows: pa.Table) -> None:
        """Insert many rows as one transaction; as durable as the database is set to be."""

    def query(self, sql: str) -> pa.Table:
        """Run a query and fetch all of its result as Arrow."""

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """The engine's own method for one statement with `?` parameters, unwrapped."""

    def close(self) -> None:
        """Close the database."""


class OpenPeer(Protocol):
    """How a workload opens an engine: a class of `benchmarks.peers`."""

    def __call__(self, folder: Path, *, durable: bool) -> Peer:
        """Open a new database in `folder`, which exists and is empty.

        With `durable`, a statement returns once its effect would survive a power cut.
        """
