"""Worlds: a table of ours and its rows in plain Python live through the same statements.

The table is partitioned in some way, its rows lie in memory, in delta files and in rowsets, and are
changed within transactions and outside. Thresholds are so low that a change of some rows comes in
chunks. Behind each statement both sides have the same rows; what it counts and returns, and why it
is refused, is compared as well.
"""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pykudu_sql
from tests.pykudu_sql.merges.model import COLUMNS, Table
from tests.pykudu_sql.merges.sources import SOURCE_COLUMNS, State
from tests.pykudu_sql.merges.statements import Statement, Statements
from tests.pykudu_sql.merges.terms import DECIMALS, WORDS, Row
from tests.pykudu_sql.small_pieces import pieces_of_few_rows

STEPS = 60
_PARTITIONS = (
    "",
    " PARTITION BY HASH (a) PARTITIONS 3",
    " PARTITION BY RANGE (a) (PARTITION VALUES < 3, PARTITION 3 <= VALUES)",
)
_TYPES = {"int": "INT", "str": "STRING", "dec": "DECIMAL(38, 38)"}
_UPKEEP = ("FLUSH {0}", "FLUSH {0}", "OPTIMIZE TABLE {0}", "OPTIMIZE TABLE {0} FULL", "VACUUM")


@dataclass
class Report:
    """What worlds found.

    Attributes:
        statements: that were compared, by their first word.
        refused: of them those that both sides refused.
        differences: what to look at.
    """

    statements: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    differences: list[str] = field(default_factory=list)


class World:
    """Both sides."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = pick = Random(seed)
        self._path = str(folder / "world.db")
        self._connection = self._connect()
        self._log: list[str] = []
        self.report = Report()
        self._key = pick.choice((["a"], ["a", "b"]))
        self._table = pick.choice(("default.t", "default.t", "side.t"))
        self._others = (
            "side.t" if self._table == "default.t" and pick.random() < 0.3 else "default.u"
        )
        lookup: list[Row] = [
            {"rk": k, "rv": pick.choice((None, 0, 1, 3, 5)), "rw": pick.choice((None, *WORDS))}
            for k in range(5)
        ]
        self._draw = Statements(pick, self._key, self._table, self._others, lookup)
        self._rows: Table = {}
        self._other_rows: Table = {}
        self._past: dict[int, Table] = {}
        self._define(lookup)

    def close(self) -> None:
        """Give it up."""
        self._connection.close()

    def live(self, steps: int) -> Report:
        """Take so many steps, or fewer if the sides differ."""
        for _ in range(steps):
            chance = self._random.random()
            if chance < 0.1:
                self._transact()
            elif chance < 0.3:
                self._maintain()
            elif chance < 0.4:
                self._fill()
            elif chance < 0.55:
                for statement in self._draw.queries(self._state()):
                    self._take(statement)
            else:
                self._take(self._draw.statement(self._state()))
            if self.report.differences:
                break
        return self.report

    def _connect(self) -> pykudu_sql.Connection:
        return pykudu_sql.connect(
            self._path, autocommit=True, threads=1, maintenance=False, durability="off",
            flush_bytes=20_000, rowset_bytes=5_000, log_segment_bytes=20_000,
        )  # fmt: skip

    def _define(self, lookup: list[Row]) -> None:
        columns = ", ".join(
            f"{name} {_TYPES[family]}"
            + {"c": " DEFAULT 7", "n": " NOT NULL DEFAULT 5", "d": " DEFAULT 0.5"}.get(name, "")
            for name, family in COLUMNS.items()
        )
        others = ", ".join(
            f"{name} {_TYPES[family]}" for name, family in SOURCE_COLUMNS.items() if name != "k"
        )
        key = ", ".join(self._key)
        parts = self._random.choice(_PARTITIONS)
        self._run("CREATE DATABASE side")
        self._run(f"CREATE TABLE {self._table} ({columns}, PRIMARY KEY ({key})){parts}")
        self._run(f"CREATE TABLE {self._others} (k INT PRIMARY KEY, {others})")
        self._run(f"CREATE VIEW v AS SELECT * FROM {self._others}")
        self._run("CREATE TABLE r (rk INT PRIMARY KEY, rv INT, rw STRING)")
        self._connection.executemany(
            "INSERT INTO r VALUES (?, ?, ?)", [tuple(row.values()) for row in lookup]
        )

    def _run(self, text: str, values: Any = ()) -> pykudu_sql.Cursor:
        self._log.append(f"{text}; -- {values!r}" if values else f"{text};")
        return self._connection.execute(text, tuple(values))

    def _state(self) -> State:
        return State(self._rows, self._other_rows, self._past)

    def _row(self) -> Row:
        pick = self._random
        row: dict[str, Any] = {name: pick.randint(0, 6) for name in ("a", "b", "c", "n")}
        row |= {"s": pick.choice(WORDS), "d": pick.choice(DECIMALS)}
        return row

    def _fill(self) -> None:
        """New rows for table u, and upserts of the table."""
        pick = self._random
        for _ in range(pick.randint(1, 6)):
            row = {n: None if pick.random() < 0.15 else v for n, v in self._row().items()}
            other = {"k": pick.randint(0, 9), **row}
            self._other_rows[(other["k"],)] = other
            self._run(f"UPSERT INTO {self._others} VALUES (?, ?, ?, ?, ?, ?, ?)", other.values())
        for _ in range(pick.randint(1, 6)):
            mine = self._row()
            mine = {n: None if n in "csd" and pick.random() < 0.2 else v for n, v in mine.items()}
            self._rows = {**self._rows, tuple(mine[name] for name in self._key): mine}
            self._run(f"UPSERT INTO {self._table} VALUES (?, ?, ?, ?, ?, ?)", mine.values())
        self._compare()

    def _transact(self) -> None:
        before = self._rows
        self._run("BEGIN")
        for _ in range(self._random.randint(2, 4)):
            self._take(self._draw.statement(self._state()))
        if self._random.random() < 0.5:
            self._run("COMMIT")
        else:
            self._run("ROLLBACK")
            self._rows = before
        self._compare()

    def _maintain(self) -> None:
        chance = self._random.random()
        if chance < 0.15:
            self._log.append("-- opened again")
            self._connection.close()
            self._connection = self._connect()
        elif chance < 0.3:
            self._past[self._connection.snapshot_timestamp()] = self._rows
        else:
            table = self._random.choice((self._table, self._table, self._others))
            self._run(self._random.choice(_UPKEEP).format(table))
        self._compare()

    def _take(self, statement: Statement) -> None:
        """Run a statement and hold it to the model."""
        self.report.statements[statement.text.split(maxsplit=1)[0]] += 1
        errors = statement.outcome.errors if statement.outcome else set()
        try:
            cursor = self._run(statement.text, statement.values)
            found = None if statement.returned is None else cursor.fetchall()
        except pykudu_sql.Error as error:
            if error.sqlstate not in errors:
                self._differ(f"refused ({error.sqlstate}): {error}")
            self.report.refused += 1
            self._compare()
            return
        if errors:
            self._differ(f"not refused by {errors}")
            return
        if statement.returned is not None and Counter(found or ()) != Counter(statement.returned):
            self._differ(f"returned {_difference(found or [], statement.returned)}")
        if statement.outcome is not None:
            self._rows = statement.outcome.rows
            if statement.returned is None and cursor.rowcount != len(statement.outcome.changes):
                self._differ(f"{cursor.rowcount} counted, not {len(statement.outcome.changes)}")
        self._compare()

    def _compare(self) -> None:
        found = self._connection.execute(f"SELECT * FROM {self._table}").fetchall()
        expected = [tuple(row.values()) for row in self._rows.values()]
        if Counter(found) != Counter(expected):
            self._differ(f"rows {_difference(found, expected)}")

    def _differ(self, what: str) -> None:
        steps = "\n".join(f"  {text}" for text in self._log)
        self.report.differences.append(f"{what}\nbehind\n{steps}")


def _difference(found: list[Any], expected: list[Any]) -> str:
    more, less = Counter(found) - Counter(expected), Counter(expected) - Counter(found)
    return f"{list(more.elements())} instead of {list(less.elements())}"


def explore(seed: int, steps: int = STEPS) -> Report:
    """Live through one world."""
    with (
        TemporaryDirectory() as folder,
        pieces_of_few_rows(),
        closing(World(Path(folder), seed)) as world,
    ):
        return world.live(steps)
