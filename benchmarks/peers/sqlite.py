"""SQLite in WAL mode: synchronous=FULL when durable, else OFF."""

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.peers.peer import Fetchable, update_statement
from benchmarks.tables import BenchTable

TYPES = {"BIGINT": "INTEGER", "STRING": "TEXT"}
BATCH_ROWS = 50_000
# Dates are text here, and their parts have no function of their own.
_DATE = re.compile(r"\bDATE (?=')")
_YEAR = re.compile(r"extract\(year FROM (\w+)\)")


class SqlitePeer:
    """SQLite with each table in its fastest form: rowid for an integer key, else clustered."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._connection = sqlite3.connect(folder / "bench.sqlite", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")

    def create(self, table: BenchTable) -> None:
        """See Peer."""
        suffix = "WITHOUT ROWID" if len(table.key) > 1 else ""
        self._connection.execute(table.ddl(TYPES, suffix))

    def append(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer. Decimals become their text: SQLite has none, and floats would lose cents."""
        self._insert("INSERT", table, rows)

    def upsert(self, table: BenchTable, rows: pa.Table) -> None:
        """See Peer."""
        self._insert("REPLACE", table, rows)

    def _insert(self, verb: str, table: BenchTable, rows: pa.Table) -> None:
        marks = ", ".join("?" * rows.num_columns)
        self._connection.execute("BEGIN")
        for batch in _plain(rows).to_batches(max_chunksize=BATCH_ROWS):
            columns = [column.to_pylist() for column in batch.columns]
            self._connection.executemany(
                f"{verb} INTO {table.name} VALUES ({marks})", zip(*columns, strict=True)
            )
        self._connection.execute("COMMIT")

    def update(self, table: BenchTable, assignments: Mapping[str, str], predicate: str) -> None:
        """See Peer."""
        self._connection.execute(update_statement(table, assignments, predicate))

    def query(self, sql: str) -> pa.Table:
        """See Peer."""
        cursor = self._connection.execute(sql)
        names = [column[0] for column in cursor.description]
        columns = zip(*cursor.fetchall(), strict=True)
        return pa.table(dict(zip(names, map(list, columns), strict=True)))

    def run(self, sql: str) -> None:
        """Run a query of standard SQL over dates to its end, or until `interrupt`."""
        spelled = _YEAR.sub(r"CAST(substr(\1, 1, 4) AS INTEGER)", _DATE.sub("", sql))
        try:
            self._connection.execute(spelled).fetchall()
        except sqlite3.OperationalError as error:
            if str(error) != "interrupted":
                raise

    def interrupt(self) -> None:
        """Let another thread's `run` end now."""
        self._connection.interrupt()

    @property
    def execute(self) -> Callable[[str, Sequence[Any]], Fetchable]:
        """See Peer."""
        return self._connection.execute

    def close(self) -> None:
        """See Peer."""
        self._connection.close()


def _plain(rows: pa.Table) -> pa.Table:
    """Decimals and dates as text, the types SQLite has for them."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_decimal(field.type) or pa.types.is_date(field.type):
            rows = rows.set_column(index, field.name, rows.column(index).cast(pa.string()))
    return rows
