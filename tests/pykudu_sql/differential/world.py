"""Worlds: the same random tables, changes and queries in pykudu_sql and in a plain database.

A world has three tables. It goes through versions: rows come, change and go, columns are added,
renamed and dropped, tablets are flushed and compacted, the database is reopened. At each version
queries run over the tables as they are and AS OF earlier versions, of which the other side keeps
plain copies. Answers must be equal as bags of rows. They are asked for

- of the plain database,
- of a database of ours, as anyone would,
- of the same with pruning, zone maps, indexes and push-down switched off,
- of a second one of ours, partitioned otherwise and flushed at other times,
- in three parts, as ternary logic parts them: where a condition is true, false and unknown.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pykudu_sql
from tests.pykudu_sql.differential.oracles import (
    Answer,
    answer,
    duckdb_oracle,
    is_mistaken,
    sqlite_oracle,
)
from tests.pykudu_sql.differential.ours import Ours
from tests.pykudu_sql.differential.queries import Queries
from tests.pykudu_sql.differential.spellings import Spelled
from tests.pykudu_sql.differential.tables import (
    WIDE,
    Column,
    Table,
    draw_rows,
    draw_table,
    literal,
)

VERSIONS = 5


@dataclass
class Report:
    """What worlds found.

    Attributes:
        compared: queries that both sides answered.
        refused: queries that both sides refused.
        differences: what to look at.
    """

    compared: int = 0
    refused: int = 0
    differences: list[str] = field(default_factory=list)


class World:
    """A plain database and two of ours, kept equal."""

    def __init__(self, folder: Path, seed: int, portable: bool) -> None:
        self._random = Random(seed)
        self._past = -1
        self._draw = Queries(self._random, portable)
        self._ours = [Ours(folder / f"world{seed}{side}.db") for side in "ab"]
        self._oracle = sqlite_oracle() if portable else duckdb_oracle()
        self._tables = [draw_table(self._random, f"t{i}", portable) for i in range(3)]
        self.report = Report()
        for table in self._tables:
            for ours in self._ours:
                ours.create(table, self._random)
            types = self._oracle.types
            columns = (f"{c.name} {types.get(c.type, c.type)}" for c in table.columns)
            self._oracle.run(f"CREATE TABLE {table.name} ({', '.join(columns)})", ())

    def close(self) -> None:
        """Give up all databases."""
        for ours in self._ours:
            ours.close()
        self._oracle.close()

    def live(self, queries: int) -> Report:
        """Go through all versions with so many queries at each."""
        for version in range(VERSIONS):
            self._change(version)
            self._remember(version)
            for _ in range(queries):
                if self._random.random() < 0.1:
                    self._compare_parts(version)
                else:
                    self._compare(self._finished(self._draw.query(self._tables, version)))
        return self.report

    def _finished(self, text: str) -> Spelled:
        spelled = self._draw.conditions.spellings.spelled(text)
        self._draw.conditions.spellings.clear()
        return spelled

    def _change(self, version: int) -> None:
        self._past = version - 1
        for _ in range(self._random.randint(2, 5)):
            table = self._random.choice(self._tables)
            steps = (self._insert, self._insert, self._upsert, self._update, self._delete)
            self._random.choice(steps)(table)
            for ours in self._ours:
                ours.stir(table, self._random)
        if self._random.random() < 0.3:
            self._alter(self._random.choice(self._tables))

    def _insert(self, table: Table) -> None:
        rows = list({table.key_of(row): row for row in draw_rows(self._random, table, 12)}.values())
        places = ", ".join("?" * len(table.columns))
        taken = {table.key_of(row) for row in self._oracle.run(f"SELECT * FROM {table.name}", ())}
        fresh = [row for row in rows if table.key_of(row) not in taken]
        if len(fresh) < len(rows):
            for ours in self._ours:
                with suppress(pykudu_sql.IntegrityError):
                    ours.run_many(f"INSERT INTO {table.name} VALUES ({places})", rows)
                    self.report.differences.append(f"a key was inserted twice into {table}")
        values = ", ".join(f"({', '.join(map(literal, row))})" for row in fresh)
        for ours in self._ours if fresh else ():
            if self._random.random() < 0.5:
                ours.run_many(f"INSERT INTO {table.name} VALUES ({places})", fresh)
            else:
                ours.run(f"INSERT INTO {table.name} VALUES {values}")
        for row in fresh:
            self._oracle.run(f"INSERT INTO {table.name} VALUES ({places})", row)

    def _upsert(self, table: Table) -> None:
        rows = list({table.key_of(row): row for row in draw_rows(self._random, table, 6)}.values())
        places = ", ".join("?" * len(table.columns))
        for ours in self._ours:
            ours.run_many(f"UPSERT INTO {table.name} VALUES ({places})", rows)
        match = " AND ".join(f"{column.name} = ?" for column in table.keys)
        for row in rows:
            self._oracle.run(f"DELETE FROM {table.name} WHERE {match}", table.key_of(row))
            self._oracle.run(f"INSERT INTO {table.name} VALUES ({places})", row)

    def _update(self, table: Table) -> None:
        values = [column for column in table.columns if not column.key]
        if not values:
            return
        column = self._random.choice(values)
        new = literal(self._random.choice([*column.pool, None]))
        if column.family in WIDE:
            typed = f"CAST({'NULL' if new == 'NULL' else repr(new)} AS {column.type})"
            new = self._draw.conditions.spellings.either(new, typed)
        condition = self._condition(table, 2)
        self._both(f"UPDATE {table.name} SET {column.name} = {new} WHERE {condition}")

    def _delete(self, table: Table) -> None:
        condition = self._condition(table, 1)
        if self._random.random() < 0.4:
            inner = self._draw.conditions.condition(table.columns, (), 0, 1)
            key = table.keys[0].name
            condition = f"{key} IN (SELECT {key} FROM {table.name} WHERE {inner}) AND {condition}"
        self._both(f"DELETE FROM {table.name} WHERE {condition}")

    def _condition(self, table: Table, depth: int) -> str:
        """A condition for a statement that writes, with subqueries over the past."""
        tables = self._tables if self._past >= 0 else ()
        # Qualified, or what is written out in a subquery would name the subquery's own columns.
        columns = [Column(f"{table.name}.{c.name}", c.type, c.key) for c in table.columns]
        return self._draw.conditions.condition(columns, tables, self._past, depth)

    def _both(self, text: str) -> None:
        spelled = self._finished(text)
        statement, values = spelled.ours, spelled.our_values
        done = []
        for ours in self._ours:
            with suppress(pykudu_sql.DatabaseError):  # the other side would refuse it as well
                ours.run(ours.spelled_while_changing(statement, self._tables), values)
                done.append(ours)
        if done:
            self._oracle.run(self._theirs(spelled.theirs), spelled.their_values)
        self._hold_alike(spelled)
        if len(done) == 1:
            self.report.differences.append(f"only one database did {statement} with {values}")

    def _hold_alike(self, changed: Spelled) -> None:
        """See that a statement that writes left the same rows everywhere."""
        for table in self._tables:
            text = f"SELECT * FROM {table.name}"
            expected = answer(self._oracle.run, text, ())
            for ours in self._ours:
                found = answer(ours.rows, text, ())
                self._hold("left by", changed.ours, changed.our_values, found, expected)

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
        for ours in self._ours:
            ours.run(statement)
        self._oracle.run(statement, ())

    def _remember(self, version: int) -> None:
        for ours in self._ours:
            ours.remember()
        for table in self._tables:
            table.versions[version] = list(table.columns)
            self._oracle.run(
                f"CREATE TABLE {table.name}_{version} AS SELECT * FROM {table.name}", ()
            )

    def _theirs(self, text: str) -> str:
        """A text with the plain copies of earlier versions."""
        for table in self._tables:
            for version in range(VERSIONS):
                text = text.replace(f"{{{table.name}@{version}}}", f"{table.name}_{version}")
        return text

    def _compare(self, asked: Spelled) -> None:
        text, values = asked.ours, asked.our_values
        theirs = self._theirs(asked.theirs)
        expected = answer(self._oracle.run, theirs, asked.their_values)
        first, second = self._ours
        spelled = first.spelled(text, self._tables)
        found = answer(first.rows, spelled, values)
        if isinstance(expected, str) and isinstance(found, str):
            self.report.refused += 1
            return
        if _depends_on_order(expected) or _depends_on_order(found) or is_mistaken(theirs, expected):
            self.report.refused += 1
            return
        self.report.compared += 1
        self._hold("as asked", spelled, values, found, expected)
        unaided = answer(first.rows_unaided, spelled, values)
        if not _depends_on_order(unaided):
            self._hold("unaided", spelled, values, unaided, expected)
        spelled = second.spelled(text, self._tables)
        again = answer(second.rows, spelled, values)
        if not _depends_on_order(again):
            self._hold("otherwise partitioned", spelled, values, again, expected)

    def _compare_parts(self, version: int) -> None:
        split = self._draw.split(self._tables, version)
        texts = "\x00".join((split.whole, *split.parts))
        first = self._ours[0]
        spelled = first.spelled(texts, self._tables).split("\x00")
        marked = [self._draw.conditions.spellings.spelled(text) for text in spelled]
        marked = [replace(m, ours=first.spelled(m.ours, self._tables)) for m in marked]
        self._draw.conditions.spellings.clear()
        whole, *parts = (answer(first.rows, each.ours, each.our_values) for each in marked)
        # a part computes what the whole query does not, so only the part can overflow
        overflows = any(_depends_on_order(part) for part in parts)
        if isinstance(whole, str) or overflows:
            self.report.refused += 1
            return
        self.report.compared += 1
        together: Answer = Counter()
        for part in parts:
            together = part if isinstance(part, str) else Counter(together) + part
        self._hold(
            "in three parts",
            "\n  ".join(each.ours for each in marked),
            marked[0].our_values,
            together,
            whole,
        )

    def _hold(
        self, way: str, sql: str, values: Sequence[Any], found: Answer, expected: Answer
    ) -> None:
        """Note a difference."""
        if found != expected:
            self.report.differences.append(
                f"{way}: {sql}\n  with {values}\n  found    {found}\n  expected {expected}"
            )


def _depends_on_order(answer: Answer) -> bool:
    """Whether it is an overflow: which conditions spare a row the others, SQL leaves open."""
    return isinstance(answer, str) and answer.startswith(("ValueOutOfRange", "OutOfRange"))


def explore(seed: int, queries: int, portable: bool) -> Report:
    """Live one world."""
    with TemporaryDirectory() as folder, closing(World(Path(folder), seed, portable)) as world:
        return world.live(queries)
