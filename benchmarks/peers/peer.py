"""What a workload asks of an engine."""

from collections.abc import Callable, Mapping, Sequence
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

    def upsert(self, table: BenchTable, rows: pa.Table) -> None:
        """Insert rows, replacing those whose key is there, as one transaction.

        Raises:
            TypeError: the engine has no keys.
        """

    def update(self, table: BenchTable, assignments: Mapping[str, str], predicate: str) -> None:
        """Set columns to SQL expressions where a predicate holds, as one transaction."""

    def query(self, sql: str) -> pa.Table:
        """Run a query and fetch all of its result as Arrow."""

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """The engine's own method for one statement with `?` parameters, unwrapped."""

    def close(self) -> None:
        """Close the database."""


def update_statement(table: BenchTable, assignments: Mapping[str, str], predicate: str) -> str:
    """UPDATE as all engines with SQL for it take it."""
    changes = ", ".join(f"{column} = {value}" for column, value in assignments.items())
    return f"UPDATE {table.name} SET {changes} WHERE {predicate}"


class OpenPeer(Protocol):
    """How a workload opens an engine: a class of `benchmarks.peers`."""

    def __call__(self, folder: Path, *, durable: bool) -> Peer:
        """Open the database in `folder`, which exists; a new one when it is empty.

        With `durable`, a statement returns once its effect would survive a power cut.
        """
