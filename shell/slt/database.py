"""The database under test: named connections over one directory, through any DB-API driver."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.slt.outcomes import Completed, Failed, Outcome, Unexpected


class DbCursor(Protocol):
    """What the runner uses of a cursor of PEP 249."""

    @property
    def description(self) -> Any:
        """Columns of the result, or None."""

    @property
    def rowcount(self) -> int:
        """Rows changed, or -1."""

    def execute(self, sql: str, /) -> Any:
        """Run a statement."""

    def fetchall(self) -> list[Any]:
        """All rows."""

    def close(self) -> Any:
        """Give it up."""


class DbConnection(Protocol):
    """What the runner uses of a connection; each statement commits itself."""

    @property
    def in_transaction(self) -> bool:
        """Whether BEGIN is open."""

    def cursor(self) -> DbCursor:
        """A new cursor."""

    def rollback(self) -> None:
        """Give up what is uncommitted."""

    def interrupt(self) -> None:
        """Stop what runs; called from another thread."""

    def close(self) -> None:
        """Give it up."""


@dataclass(frozen=True, slots=True)
class Driver:
    """A DB-API module as the runner needs it.

    Attributes:
        name: what `onlyif` and `skipif` call it.
        connect: opens a connection, given a directory of its own and settings.
        error: root of the module's error classes.
        flush: writes what is in memory to files.
        snapshot: the present moment as a hybrid time.
    """

    name: str
    connect: Callable[[Path, Mapping[str, Any]], DbConnection]
    error: type[Exception]
    flush: Callable[[Any], None]
    snapshot: Callable[[Any], int]


# Statements whose effect ends with their session.
_OF_A_SESSION = re.compile(r"\s*(SET(?!\s+DATABASE\b)|RESET(?!\s+DATABASE\b)|USE)\b", re.IGNORECASE)


@dataclass(slots=True)
class ScriptDatabase:
    """A directory with its open connections.

    When a connection is opened again, the `SET` and `USE` statements of its session are run again,
    so that a script means the same however often a state closes the database. `driver`: opens them;
    `path`: the directory; `settings`: passed to `driver.connect`.
    """

    driver: Driver
    path: Path
    settings: dict[str, Any] = field(default_factory=dict)
    _connections: dict[str, DbConnection] = field(default_factory=dict)
    _session_statements: dict[str, list[str]] = field(default_factory=dict)

    def execute(self, sql: str, connection: str = "") -> Outcome:
        """Run one statement on a named connection, which is opened at its first use."""
        try:
            cursor = self._connection(connection).cursor()
            try:
                cursor.execute(sql)
                if _OF_A_SESSION.match(sql):
                    self._session_statements.setdefault(connection, []).append(sql)
                if cursor.description is None:
                    return Completed(cursor.rowcount)
                return Completed(cursor.rowcount, cursor.fetchall(), len(cursor.description))
            finally:
                cursor.close()
        except self.driver.error as error:
            return Failed(getattr(error, "sqlstate", ""), str(error))
        except Exception as error:
            return Unexpected(f"{type(error).__name__}: {error}")

    def _connection(self, name: str) -> DbConnection:
        if name not in self._connections:
            opened = self._connections[name] = self.driver.connect(self.path, self.settings)
            for sql in self._session_statements.get(name, ()):
                cursor = opened.cursor()
                with suppress(self.driver.error):  # The database it used may have gone.
                    cursor.execute(sql)
                cursor.close()
        return self._connections[name]

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open on any connection."""
        return any(connection.in_transaction for connection in self._connections.values())

    def flush(self) -> None:
        """Write what is in memory to files."""
        self.driver.flush(self._connection(""))

    def tables(self) -> list[str]:
        """The names of all tables."""
        outcome = self.execute("SHOW TABLES")
        return [str(row[0]) for row in outcome.rows or ()] if isinstance(outcome, Completed) else []

    def snapshot(self, connection: str = "") -> int:
        """The present moment as a hybrid time: behind every commit so far."""
        return self.driver.snapshot(self._connection(connection))

    def restart(self) -> None:
        """Close every connection; sessions that begin later run no earlier `SET` or `USE`."""
        self.close()
        self._session_statements.clear()

    def close(self) -> None:
        """Close every connection; the next statement opens the database again."""
        while self._connections:
            _, connection = self._connections.popitem()
            if connection.in_transaction:
                connection.rollback()
            connection.close()

    def interrupt(self) -> None:
        """Stop what runs. Called from another thread."""
        for connection in tuple(self._connections.values()):
            connection.interrupt()
