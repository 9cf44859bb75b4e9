"""Worlds: one database of ours and one of SQLite that live through the same changes.

Thresholds are so low that a batch of forty rows goes past the log and a change of some comes in
chunks. Between the changes the tables are flushed, merged, altered, restored and reopened. Behind
each step both sides hold the same rows, and earlier snapshots are read again: one that may be read
shows what it showed.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pykudu_sql
from tests.pykudu_sql.dml.statements import Statement, Statements
from tests.pykudu_sql.small_pieces import pieces_of_few_rows

STEPS = 100
_RECENT = 6
_PURGED = "72000"
_OURS = (
    "CREATE TABLE t (a INT, b INT, c SMALLINT, s STRING, PRIMARY KEY (a, b)) PARTITION BY"
    " HASH (a) PARTITIONS 3, RANGE (b) (PARTITION VALUES < 10, PARTITION 10 <= VALUES)",
    "CREATE TABLE u (k INT PRIMARY KEY, x INT, y STRING)",
)
_THEIRS = (
    "CREATE TABLE t (a INT, b INT, c INT, s TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
    "CREATE TABLE u (k INTEGER PRIMARY KEY, x INT, y TEXT)",
)
_UPKEEP = ("FLUSH t", "OPTIMIZE TABLE t", "OPTIMIZE TABLE t FULL", "VACUUM", "FLUSH u")

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Moment:
    """What a snapshot of table t shows."""

    time: int
    columns: tuple[str, ...]
    rows: Rows


@dataclass
class Report:
    """What worlds found.

    Attributes:
        statements: that changed rows or were refused by both sides.
        refused: those that both sides refused.
        snapshots: readings of earlier moments.
        purged: those refused, since the history is gone.
        differences: what to look at.
    """

    statements: int = 0
    refused: int = 0
    snapshots: int = 0
    purged: int = 0
    differences: list[str] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)


class World:
    """Both sides and the moments of the past."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = Random(seed)
        self._draw = Statements(self._random)
        self._path = str(folder / "world.db")
        self._ours = self._connect()
        self._theirs = sqlite3.connect(":memory:", isolation_level=None)
        self._columns = ("a", "b", "c", "s")
        self._added = 0
        self._moments: list[Moment] = []
        self._log: list[str] = []
        self.report = Report()
        for text in _OURS:
            self._ours.execute(text)
        for text in _THEIRS:
            self._theirs.execute(text)

    def close(self) -> None:
        """Give up both."""
        self._ours.close()
        self._theirs.close()

    def live(self, steps: int) -> None:
        """Take so many steps, or fewer if the sides differ."""
        upkeep = (self._maintain, self._maintain, self._maintain, self._reopen, self._alter)
        rare = (self._widen, self._empty_partition, self._restore, self._change_age)
        for _ in range(steps):
            chance = self._random.random()
            if chance < 0.65:
                self._apply(self._draw.statement())
            elif chance < 0.72:
                self._transact()
            else:
                step = self._random.choice(upkeep if chance < 0.94 else rare)
                self.report.steps[step.__name__.strip("_")] += 1
                step()
                self._see_the_past()
            self._compare()
            if self._random.random() < 0.15:
                self._remember()
            if self.report.differences:
                return
        self._see_the_past()

    def _connect(self) -> pykudu_sql.Connection:
        return pykudu_sql.connect(
            self._path, autocommit=True, threads=1, maintenance=self._random.random() < 0.5,
            durability="off", flush_bytes=20_000, rowset_bytes=5_000, log_segment_bytes=20_000,
        )  # fmt: skip

    def _run_ours(self, text: str) -> pykudu_sql.Cursor:
        self._log.append(text)
        return self._ours.execute(text)

    def _apply(self, statement: Statement) -> None:
        self.report.statements += 1
        found, expected = self._result_of_ours(statement), self._result_of_theirs(statement)
        if found is None and expected is None:
            self.report.refused += 1
        elif found is None or expected is None:
            self._differ(f"only one side refused {statement.ours}")
        elif statement.returns_rows and Counter(found[1]) != Counter(expected[1]):
            self._differ(f"{statement.ours} returned {found[1]} instead of {expected[1]}")
        elif statement.is_counted and found[0] != expected[0]:
            self._differ(f"{statement.ours} counted {found[0]} instead of {expected[0]}")

    def _result_of_ours(self, statement: Statement) -> tuple[int, Rows] | None:
        """Rows changed and rows returned; None if it was refused."""
        try:
            cursor = self._run_ours(statement.ours)
        except pykudu_sql.IntegrityError:
            return None
        return cursor.rowcount, cursor.fetchall() if statement.returns_rows else []

    def _result_of_theirs(self, statement: Statement) -> tuple[int, Rows] | None:
        self._theirs.execute("SAVEPOINT before")
        try:
            for text in statement.theirs:
                cursor = self._theirs.execute(text)
                rows = cursor.fetchall()
        except sqlite3.IntegrityError:
            self._theirs.execute("ROLLBACK TO before")
            return None
        finally:
            self._theirs.execute("RELEASE before")
        return cursor.rowcount, rows

    def _transact(self) -> None:
        for text in ("BEGIN", None, None, None, self._random.choice(("COMMIT", "ROLLBACK"))):
            if text is None:
                self._apply(self._draw.sure())
                self._compare()
            else:
                self._run_ours(text)
                self._theirs.execute(text)

    def _maintain(self) -> None:
        self._run_ours(self._random.choice(_UPKEEP))

    def _reopen(self) -> None:
        self._log.append("-- reopen")
        self._ours.close()
        self._ours = self._connect()

    def _alter(self) -> None:
        added = self._columns[4:]
        if added and self._random.random() < 0.5:
            gone = self._random.choice(added)
            self._both(f"ALTER TABLE t DROP COLUMN {gone}")
            self._columns = tuple(name for name in self._columns if name != gone)
        else:
            self._added += 1
            name = f"x{self._added}"
            self._both(f"ALTER TABLE t ADD COLUMN {name} INT DEFAULT {self._added}")
            self._columns = (*self._columns, name)

    def _both(self, text: str) -> None:
        self._run_ours(text)
        self._theirs.execute(text)

    def _widen(self) -> None:
        self._run_ours("ALTER TABLE t ALTER COLUMN c TYPE BIGINT")

    def _empty_partition(self) -> None:
        part = self._random.choice(("VALUES < 10", "10 <= VALUES"))
        self._run_ours(f"ALTER TABLE t DROP RANGE PARTITION {part}")
        self._run_ours(f"ALTER TABLE t ADD RANGE PARTITION {part}")
        self._theirs.execute(f"DELETE FROM t WHERE {part.replace('VALUES', 'b')}")

    def _restore(self) -> None:
        alike = [moment for moment in self._moments if moment.columns == self._columns]
        if not alike:
            return
        moment = self._random.choice(alike)
        with suppress_purged():
            self._run_ours(f"RESTORE TABLE t TO {moment.time}")
            self._theirs.execute("DELETE FROM t")
            places = ", ".join("?" * len(self._columns))
            self._theirs.executemany(f"INSERT INTO t VALUES ({places})", moment.rows)

    def _change_age(self) -> None:
        seconds = self._random.choice((0, 900))
        self._run_ours(f"SET DATABASE history_max_age = '{seconds} seconds'")
        self._run_ours("VACUUM")

    def _compare(self) -> None:
        for table, key in (("t", "a, b"), ("u", "k")):
            query = f"SELECT * FROM {table} ORDER BY {key}"
            found, expected = self._ours.execute(query).fetchall(), self._plain_rows(query)
            if found != expected:
                self._differ(f"table {table}: {_difference(found, expected)}")

    def _plain_rows(self, query: str) -> Rows:
        return self._theirs.execute(query).fetchall()

    def _remember(self) -> None:
        time = self._ours.snapshot_timestamp()
        self._log.append(f"-- moment {time}")
        rows = self._plain_rows("SELECT * FROM t ORDER BY a, b")
        self._moments.append(Moment(time, self._columns, rows))

    def _see_the_past(self) -> None:
        older = self._moments[:-_RECENT]
        chosen = self._random.sample(older, min(2, len(older)))
        for moment in (*chosen, *self._moments[-_RECENT:]):
            self.report.purged += 1
            with suppress_purged():
                query = f"SELECT * FROM t AS OF {moment.time} ORDER BY a, b"
                found = self._ours.execute(query).fetchall()
                self.report.purged -= 1
                self.report.snapshots += 1
                if found != moment.rows:
                    self._differ(f"AS OF {moment.time}: {_difference(found, moment.rows)}")

    def _differ(self, what: str) -> None:
        steps = "\n".join(f"  {text}" for text in self._log)
        self.report.differences.append(f"{what}\nbehind\n{steps}")


def _difference(found: Rows, expected: Rows) -> str:
    more = [row for row in found if row not in expected]
    less = [row for row in expected if row not in found]
    return f"{more} instead of {less}"


@contextmanager
def suppress_purged() -> Iterator[None]:
    """A block that ends where the history asked for is gone."""
    try:
        yield
    except pykudu_sql.OperationalError as error:
        if error.sqlstate != _PURGED:
            raise


def explore(seed: int, steps: int = STEPS) -> Report:
    """Live through one world."""
    with (
        TemporaryDirectory() as folder,
        pieces_of_few_rows(),
        closing(World(Path(folder), seed)) as world,
    ):
        world.live(steps)
        return world.report
