"""Worlds: the same random tables, changes and queries in pykudu_sql and in a plain database.

A world has three tables. It goes through versions: rows come, change and go, columns are added,
renamed and dropped, tablets are flushed, the database is reopened. At each version queries run on
both sides, over the tables as they are and AS OF earlier versions, of which the other side keeps
plain copies. Answers must be equal as bags of rows.

For long runs by hand: python -m tests.pykudu_sql.differential FIRST_SEED WORLDS QUERIES
"""

import math
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import pykudu_sql
from tests.pykudu_sql.query_generator import Column, Generator, Table, literal

VERSIONS = 5
_ORACLE_SETTINGS = (
    "SET default_null_order = 'nulls_last_on_asc_first_on_desc'",
    "SET error_on_division_by_zero = false",
    "SET TimeZone = 'UTC'",
)
Run = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


@dataclass
class Report:
    """What a world found.

    Attributes:
        compared: queries that both sides answered.
        refused: queries that both sides refused.
        differences: what to look at.
    """

    compared: int = 0
    refused: int = 0
    differences: list[str] = field(default_factory=list)


class World:
    """One database of each kind, kept equal."""

    def __init__(self, folder: Path, seed: int, portable: bool) -> None:
        self._random = Random(seed)
        self._draw = Generator(self._random, portable)
        self._portable = portable
        self._path = str(folder / f"world{seed}.db")
        self._ours = pykudu_sql.connect(self._path, autocommit=True, durability="off")
        self._other, self._close_other = _sqlite() if portable else _duckdb()
        self._moments: list[int] = []
        self._tables = [self._draw.table(f"t{i}") for i in range(3)]
        self.report = Report()
        for table in self._tables:
            self._create(table)

    def close(self) -> None:
        self._ours.close()
        self._close_other()

    def live(self, queries: int) -> Report:
        """Go through all versions with so many queries at each."""
        for version in range(VERSIONS):
            self._change()
            self._remember(version)
            for _ in range(queries):
                text, values = self._draw.finished(self._draw.query(self._tables, version))
                self._compare(text, values)
        return self.report

    def _create(self, table: Table) -> None:
        def columns(names: dict[str, str]) -> str:
            return ", ".join(f"{c.name} {names.get(c.type, c.type)}" for c in table.columns)

        keys = ", ".join(column.name for column in table.keys)
        partitions = self._draw.partitions(table)
        self._ours.execute(
            f"CREATE TABLE {table.name} ({columns({})}, PRIMARY KEY ({keys})){partitions}"
        )
        plain = {"STRING": "TEXT" if self._portable else "VARCHAR", "BINARY": "BLOB"}
        self._other(f"CREATE TABLE {table.name} ({columns(plain)})", ())

    def _change(self) -> None:
        for _ in range(self._random.randint(2, 5)):
            table = self._random.choice(self._tables)
            steps = (self._insert, self._insert, self._upsert, self._update, self._delete)
            self._random.choice(steps)(table)
            chance = self._random.random()
            if chance < 0.3:
                self._ours.execute(f"FLUSH TABLE {table.name}")
            elif chance < 0.4:
                self._ours.close()
                self._ours = pykudu_sql.connect(self._path, autocommit=True, durability="off")
        if self._random.random() < 0.3:
            self._alter(self._random.choice(self._tables))

    def _insert(self, table: Table) -> None:
        rows = list({_key(table, row): row for row in self._draw.rows(table, 12)}.values())
        places = ", ".join("?" * len(table.columns))
        taken = {_key(table, row) for row in self._other(f"SELECT * FROM {table.name}", ())}
        fresh = [row for row in rows if _key(table, row) not in taken]
        if len(fresh) < len(rows):
            try:
                self._ours.executemany(f"INSERT INTO {table.name} VALUES ({places})", rows)
                self.report.differences.append(f"a key was inserted twice into {table}")
            except pykudu_sql.IntegrityError:
                pass
        if fresh and self._random.random() < 0.5:
            self._ours.executemany(f"INSERT INTO {table.name} VALUES ({places})", fresh)
        elif fresh:
            values = ", ".join(f"({', '.join(map(literal, row))})" for row in fresh)
            self._ours.execute(f"INSERT INTO {table.name} VALUES {values}")
        for row in fresh:
            self._other(f"INSERT INTO {table.name} VALUES ({places})", row)

    def _upsert(self, table: Table) -> None:
        rows = list({_key(table, row): row for row in self._draw.rows(table, 6)}.values())
        places = ", ".join("?" * len(table.columns))
        self._ours.executemany(f"UPSERT INTO {table.name} VALUES ({places})", rows)
        match = " AND ".join(f"{column.name} = ?" for column in table.keys)
        for row in rows:
            self._other(f"DELETE FROM {table.name} WHERE {match}", _key(table, row))
            self._other(f"INSERT INTO {table.name} VALUES ({places})", row)

    def _update(self, table: Table) -> None:
        values = [column for column in table.columns if not column.key]
        if not values:
            return
        column = self._random.choice(values)
        new = literal(self._random.choice([*column.pool, None]))
        condition = self._draw.condition(table.columns, (), 0, 2)
        self._both(f"UPDATE {table.name} SET {column.name} = {new} WHERE {condition}")

    def _delete(self, table: Table) -> None:
        condition = self._draw.condition(table.columns, (), 0, 1)
        if self._random.random() < 0.4:
            inner = self._draw.condition(table.columns, (), 0, 1)
            key = table.keys[0].name
            condition = f"{key} IN (SELECT {key} FROM {table.name} WHERE {inner}) AND {condition}"
        self._both(f"DELETE FROM {table.name} WHERE {condition}")

    def _both(self, text: str) -> None:
        statement, values = self._draw.finished(text)
        try:
            self._ours.execute(statement, tuple(values))
        except pykudu_sql.DatabaseError:
            return  # a comparison that the engine refuses, and so would the other side
        self._other(statement, values)

    def _alter(self, table: Table) -> None:
        values = [column for column in table.columns if not column.key]
        chance = self._random.random()
        if values and chance < 0.35 and len(values) > 1:
            gone = self._random.choice(values)
            self._alter_both(f"ALTER TABLE {table.name} DROP COLUMN {gone.name}")
            table.columns.remove(gone)
        elif values and chance < 0.65:
            index = table.columns.index(self._random.choice(values))
            old = table.columns[index]
            new = f"n{self._random.randint(0, 10**6)}"
            self._alter_both(f"ALTER TABLE {table.name} RENAME COLUMN {old.name} TO {new}")
            table.columns[index] = Column(new, old.type)
        else:
            name = self._random.choice([f"c{i}" for i in range(9)])
            if all(column.name != name for column in table.columns):
                self._alter_both(f"ALTER TABLE {table.name} ADD COLUMN {name} INT DEFAULT 7")
                table.columns.append(Column(name, "INT"))

    def _alter_both(self, statement: str) -> None:
        self._ours.execute(statement)
        self._other(statement, ())

    def _remember(self, version: int) -> None:
        self._moments.append(self._ours.snapshot_timestamp())
        for table in self._tables:
            table.versions[version] = list(table.columns)
            self._other(f"CREATE TABLE {table.name}_{version} AS SELECT * FROM {table.name}", ())

    def _compare(self, text: str, values: Sequence[Any]) -> None:
        ours, theirs = text, text
        newest = len(self._moments) - 1
        for table in self._tables:
            for version, moment in enumerate(self._moments):
                mention = f"{{{table.name}@{version}}}"
                travel = f" FOR SYSTEM_TIME AS OF {moment}" if version < newest else ""
                ours = ours.replace(mention, table.name + travel)
                theirs = theirs.replace(mention, f"{table.name}_{version}")
        expected = _answer(self._other, theirs, values)
        found = _answer(lambda sql, given: self._ours.execute(sql, given).fetchall(), ours, values)
        if isinstance(expected, str) and isinstance(found, str):
            self.report.refused += 1
            return
        self.report.compared += 1
        if found != expected:
            self.report.differences.append(
                f"{ours}\n  with {values}\n  found    {found}\n  expected {expected}"
            )


def _answer(run: Run, sql: str, values: Sequence[Any]) -> Counter[tuple[Any, ...]] | str:
    try:
        return Counter(tuple(map(_plain, row)) for row in run(sql, tuple(values)))
    except (duckdb.Error, sqlite3.Error, pykudu_sql.DatabaseError) as error:
        return f"{type(error).__name__}: {error}"


def _plain(value: Any) -> Any:
    """A value that compares equal to the same value of the other side."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return value.normalize() if isinstance(value, Decimal) else value


def _key(table: Table, row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(v for column, v in zip(table.columns, row, strict=True) if column.key)


def _duckdb() -> tuple[Run, Callable[[], None]]:
    connection = duckdb.connect()
    for setting in _ORACLE_SETTINGS:
        connection.execute(setting)
    return lambda sql, values: connection.execute(sql, list(values)).fetchall(), connection.close


def _sqlite() -> tuple[Run, Callable[[], None]]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA case_sensitive_like = ON")
    return lambda sql, values: connection.execute(sql, tuple(values)).fetchall(), connection.close


def explore(seed: int, queries: int, portable: bool) -> Report:
    """Live one world."""
    with TemporaryDirectory() as folder, closing(World(Path(folder), seed, portable)) as world:
        return world.live(queries)


def main(first: int, worlds: int, queries: int) -> int:
    """Live many worlds and print what differs."""
    total = Report()
    for seed in range(first, first + worlds):
        report = explore(seed, queries, portable=seed % 3 == 0)
        total.compared += report.compared
        total.refused += report.refused
        for difference in report.differences:
            print(f"seed {seed}: {difference}\n", flush=True)
        total.differences += report.differences
    print(f"{total.compared} compared, {total.refused} refused, {len(total.differences)} differ")
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
