"""The contents of the page as values, read once from the database's system tables."""

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.offline import inspect

if TYPE_CHECKING:
    from pykudu_sql import Connection

_MANIFEST_LINES = 40


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of a table and its files.

    Attributes:
        key: its place in the key, from 1; None if it is not in it.
        encodings: of its files; none where nothing is on disk.
        compression: as it is declared.
        plain_bytes: that its cells would take as they are.
        disk_bytes: that they take.
    """

    name: str
    type: str
    key: int | None
    encodings: tuple[str, ...]
    compression: str
    plain_bytes: int
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class RowsetFacts:
    """A rowset of a tablet.

    Attributes:
        number: its id; 0 for memory.
        in_memory: whether it is a MemRowSet.
        rows, live_rows: stored, and of these not deleted.
        disk_bytes: of its files.
        undo_records, redo_records, memory_deltas: changes beside the base: back, forward, and those
            not on disk yet.
        low, high: where its keys lie among all keys of the tablet, from 0 to 1.
    """

    number: int
    in_memory: bool
    rows: int
    live_rows: int
    disk_bytes: int
    undo_records: int
    redo_records: int
    memory_deltas: int
    low: float
    high: float

    @property
    def changes(self) -> int:
        """Records that a scan of the latest rows has to apply."""
        return self.redo_records + self.memory_deltas


@dataclass(frozen=True, slots=True)
class TabletFacts:
    """A tablet of a table. `height`: rowsets that a look-up of a random key asks."""

    number: int
    partition: str
    live_rows: int
    disk_bytes: int
    undo_bytes: int
    memory_bytes: int
    height: float
    rowsets: tuple[RowsetFacts, ...]


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table. `definition`: the statement that makes it."""

    name: str
    comment: str
    live_rows: int
    disk_bytes: int
    memory_bytes: int
    definition: str
    columns: tuple[ColumnFacts, ...]
    tablets: tuple[TabletFacts, ...]


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """A database.

    Attributes:
        path: its directory.
        version: of the program that wrote the page.
        moment: of the page, UTC.
        tables: by name.
        views: names and definitions.
        history_max_age: seconds that history is kept unless a table says otherwise; -1 for ever.
        snapshots: name, moment and comment of each.
        dropped: name, moment and until when of each dropped table that can be brought back.
        waiting: operation, table and score of maintenance that is due.
        edits: the last lines of the manifest.
    """

    path: str
    version: str
    moment: datetime.datetime
    tables: tuple[TableFacts, ...]
    views: tuple[tuple[str, str], ...]
    history_max_age: int
    snapshots: tuple[tuple[str, ...], ...]
    dropped: tuple[tuple[str, ...], ...]
    waiting: tuple[tuple[str, ...], ...]
    edits: tuple[str, ...]


def read_facts(connection: "Connection", version: str) -> DatabaseFacts:
    """Read the facts. Raises pykudu_sql.Error: the database is damaged, or cannot be read."""
    _, *edits = inspect(connection.path, ["manifest"])
    ages = _rows(connection, "SHOW SETTINGS LIKE 'history_max_age'")
    return DatabaseFacts(
        connection.path,
        version,
        _rows(connection, "SELECT now()")[0][0].replace(microsecond=0),
        tuple(_tables(connection)),
        tuple(_views(connection)),
        int(ages[0][1]),
        tuple(
            _texts(row)
            for row in _rows(connection, "SELECT name, moment, comment FROM sys.snapshots")
        ),
        tuple(_texts(row[:3]) for row in _rows(connection, "SHOW DROPPED TABLES")),
        tuple(
            _texts(row)
            for row in _rows(
                connection,
                "SELECT operation, table_name, round(score, 2) FROM sys.maintenance "
                "WHERE state = 'waiting' ORDER BY score DESC, table_name",
            )
        ),
        tuple(edits[-_MANIFEST_LINES:]),
    )


def _tables(connection: "Connection") -> list[TableFacts]:
    columns = _by_table(_columns(connection))
    tablets = _by_table(_tablets(connection))
    return [
        TableFacts(
            name,
            comment or "",
            live_rows or 0,
            disk_bytes or 0,
            memory_bytes or 0,
            _definition(connection, "TABLE", database, name),
            tuple(columns.get(name, ())),
            tuple(tablets.get(name, ())),
        )
        for name, database, comment, live_rows, disk_bytes, memory_bytes in _rows(
            connection,
            "SELECT name, database_name, comment, live_rows, disk_bytes, memory_bytes "
            "FROM sys.tables WHERE kind <> 'VIEW' ORDER BY name",
        )
    ]


def _views(connection: "Connection") -> list[tuple[str, str]]:
    rows = _rows(
        connection, "SELECT name, database_name FROM sys.tables WHERE kind = 'VIEW' ORDER BY name"
    )
    return [(name, _definition(connection, "VIEW", database, name)) for name, database in rows]


def _definition(connection: "Connection", kind: str, database: str, listed: str) -> str:
    name_in_database = listed.removeprefix(f"{database}.")
    quoted = ".".join('"' + name.replace('"', '""') + '"' for name in (database, name_in_database))
    return str(_rows(connection, f"SHOW CREATE {kind} {quoted}")[0][0])


def _columns(connection: "Connection") -> list[tuple[str, ColumnFacts]]:
    rows = _rows(
        connection,
        """
        WITH files AS (
          SELECT table_name, column_name, string_agg(DISTINCT encoding, ',') AS encodings,
            CAST(sum(raw_bytes) AS BIGINT) AS plain, CAST(sum(bytes) AS BIGINT) AS disk
          FROM sys.column_files GROUP BY table_name, column_name
        )
        SELECT c.table_name, c.name, c.type, c.key_position, f.encodings, c.compression,
          f.plain, f.disk
        FROM sys.columns c LEFT JOIN files f
          ON f.table_name = c.table_name AND f.column_name = c.name
        ORDER BY c.table_name, c.position
        """,
    )
    return [
        (
            table,
            ColumnFacts(
                name,
                sql_type,
                key,
                tuple(sorted(_word(each) for each in (encodings or "").split(",") if each)),
                _word(compression or ""),
                plain or 0,
                disk or 0,
            ),
        )
        for table, name, sql_type, key, encodings, compression, plain, disk in rows
    ]


def _word(name: str) -> str:
    """`BIT_SHUFFLE` of `BIT_SHUFFLE`, `LZ4` of `LZ4_COMPRESSION`."""
    return name.removesuffix("_ENCODING").removesuffix("_COMPRESSION").lower().replace("_", " ")


def _tablets(connection: "Connection") -> list[tuple[str, TabletFacts]]:
    rowsets: dict[tuple[str, int], list[RowsetFacts]] = {}
    for table, tablet, number, kind, rows, live, size, undo, redo, memory, low, high in _rows(
        connection,
        "SELECT table_name, tablet, rowset_id, kind, rows, live_rows, bytes, undo_records, "
        "redo_records, memory_deltas, low, high FROM sys.rowsets ORDER BY rowset_id",
    ):
        if rows:
            rowsets.setdefault((table, tablet), []).append(
                RowsetFacts(
                    number or 0,
                    "Mem" in kind,
                    rows,
                    live or 0,
                    size or 0,
                    undo or 0,
                    redo or 0,
                    memory or 0,
                    0.0 if low is None else low,
                    1.0 if high is None else high,
                )
            )
    return [
        (
            table,
            TabletFacts(
                number,
                partition or "",
                live or 0,
                disk or 0,
                undo or 0,
                memory or 0,
                height or 0.0,
                tuple(rowsets.get((table, number), ())),
            ),
        )
        for table, number, partition, live, disk, undo, memory, height in _rows(
            connection,
            "SELECT t.table_name, t.tablet, p.partition, t.live_rows, t.disk_bytes, t.undo_bytes, "
            "t.memory_bytes, t.average_rowset_height FROM sys.tablets t "
            "LEFT JOIN sys.partitions p USING (table_name, tablet) "
            "ORDER BY t.table_name, t.tablet",
        )
    ]


def _by_table(pairs: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    for table, facts in pairs:
        grouped.setdefault(table, []).append(facts)
    return grouped


def _rows(connection: "Connection", sql: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql).fetchall()


def _texts(row: Sequence[Any]) -> tuple[str, ...]:
    return tuple("" if value is None else str(value) for value in row)
