"""Columns get wider types between writes, maintenance and crashes; every moment shows its own.

The model is a dictionary of rows. A snapshot from before a change shows the rows and the types of
its moment, "now" the newest, wherever rows and changes are stored and in which width.
"""

import random
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.offline import check

TYPES = {
    "a": ["TINYINT", "SMALLINT", "INT", "BIGINT"],
    "f": ["FLOAT", "DOUBLE"],
    "d": ["DECIMAL(4,2)", "DECIMAL(9,2)", "DECIMAL(18,2)", "DECIMAL(38,2)"],
    "s": ["VARCHAR(4)", "VARCHAR(9)", "STRING"],
    "r": ["TINYINT ENCODING RLE", "INT", "BIGINT"],
}
BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
Row = tuple[Any, ...]
STEPS = 40


class Model:
    """A table and what it holds."""

    def __init__(self, pick: random.Random, path: Path) -> None:
        self.pick = pick
        self.path = path
        self.level = dict.fromkeys(TYPES, 0)
        self.rows: dict[int, Row] = {}
        self.moments: list[tuple[str, dict[int, Row], list[str]]] = []
        self.connection = _connect(path)
        columns = ", ".join(f"{name} {kinds[0]}" for name, kinds in TYPES.items())
        self.run(f"CREATE TABLE t (id INT PRIMARY KEY, {columns}) PARTITION BY HASH PARTITIONS 2")
        self.run("CREATE INDEX i ON t (a, f, d, s)")

    def run(self, sql: str, values: Any = ()) -> list[Row]:
        cursor = self.connection.execute(sql, values)
        return cursor.fetchall() if cursor.description else []

    def type_of(self, name: str) -> str:
        return TYPES[name][self.level[name]].split(" ")[0]

    def value(self, name: str) -> Any:
        """A value of a column's present type, often its greatest or one that narrower ones lack."""
        kind = self.type_of(name)
        if self.pick.random() < 0.15:
            return None
        if kind in BITS:
            top = 1 << BITS[kind]
            return self.pick.choice([self.pick.randint(0, 3), top - 1, -top, top // 3])
        if kind.startswith("DECIMAL"):
            digits = int(kind[8:].split(",")[0])
            unscaled = self.pick.choice([self.pick.randint(0, 300), 10**digits - 1, 1 - 10**digits])
            return Decimal(f"{unscaled}E-2")
        if kind in ("FLOAT", "DOUBLE"):
            return self.pick.choice([0.5, -2.0, 0.1 if kind == "DOUBLE" else 0.25, 2.0**100])
        return "é" * self.pick.randint(0, {"VARCHAR(4)": 4, "VARCHAR(9)": 9}.get(kind, 30))

    def row(self) -> Row:
        return tuple(self.value(name) for name in TYPES)

    def upsert(self, connection: pykudu_sql.Connection) -> None:
        new = {self.pick.randint(0, 40): self.row() for _ in range(self.pick.choice([1, 1, 12]))}
        marks = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(new))
        flat = [cell for key, row in new.items() for cell in (key, *row)]
        connection.execute(f"UPSERT INTO t VALUES {marks}", flat)
        self.rows |= new

    def insert(self) -> None:
        self.upsert(self.connection)

    def overtaken(self) -> None:
        """A transaction that writes before a change of type and commits after it."""
        with _connect(self.path) as other:
            other.autocommit = False
            self.upsert(other)
            self.widen()
            other.commit()

    def update(self) -> None:
        name, low = self.pick.choice(list(TYPES)), self.pick.randint(0, 40)
        value, high = self.value(name), low + self.pick.choice([0, 10])
        self.run(f"UPDATE t SET {name} = ? WHERE id BETWEEN ? AND ?", (value, low, high))
        place = list(TYPES).index(name)
        for key in self.rows:
            if low <= key <= high:
                cells = list(self.rows[key])
                cells[place] = value
                self.rows[key] = tuple(cells)

    def delete(self) -> None:
        low = self.pick.randint(0, 40)
        self.run("DELETE FROM t WHERE id BETWEEN ? AND ?", (low, low + 5))
        self.rows = {key: row for key, row in self.rows.items() if not low <= key <= low + 5}

    def widen(self) -> None:
        name = self.pick.choice(list(TYPES))
        if self.level[name] + 1 < len(TYPES[name]):
            self.level[name] += 1
            self.run(f"ALTER TABLE t ALTER COLUMN {name} SET DATA TYPE {self.type_of(name)}")

    def remember(self) -> None:
        name = f"s{len(self.moments)}"
        self.run(f"CREATE SNAPSHOT {name}")
        self.moments.append((name, dict(self.rows), [self.type_of(each) for each in TYPES]))

    def maintain(self) -> None:
        self.run(self.pick.choice(["FLUSH TABLE t", "OPTIMIZE TABLE t", "OPTIMIZE TABLE t FULL"]))

    def crash(self) -> None:
        """Go on with a copy of the files, as a killed process leaves them."""
        copy = self.path.with_name(f"{self.path.name}x")
        shutil.copytree(self.path, copy)
        self.connection.close()
        self.path = copy
        self.connection = _connect(copy)

    def restore(self) -> None:
        if self.moments:
            name, rows, _ = self.pick.choice(self.moments)
            self.run(f"RESTORE TABLE t TO SNAPSHOT {name}")
            self.rows = dict(rows)

    def check(self) -> None:
        self._check_moment("", self.rows, [self.type_of(name) for name in TYPES])
        for name, rows, types in self.moments:
            self._check_moment(f" AS OF SNAPSHOT {name}", rows, types)
        for name, rows, _ in self.moments:
            self._check_changes(name, rows)

    def _check_moment(self, travel: str, rows: dict[int, Row], types: list[str]) -> None:
        found = self.connection.execute(f"SELECT * FROM t{travel} ORDER BY id")
        assert found.fetchall() == [(key, *rows[key]) for key in sorted(rows)], travel
        shown = ["STRING" if kind.startswith("VARCHAR") else kind for kind in types]
        assert [str(column[1]) for column in found.description[1:]] == shown
        for place, (name, kind) in enumerate(zip(TYPES, types, strict=True)):
            wanted = self.pick.choice([row[place] for row in rows.values()] or [None])
            for op in () if wanted is None else ("=", "<=", ">"):
                sql = f"SELECT id FROM t{travel} WHERE {name} {op} CAST(? AS {kind}) ORDER BY id"
                ids = [row[0] for row in self.run(sql, (wanted,))]
                assert ids == [k for k in sorted(rows) if _holds(rows[k][place], op, wanted)], sql

    def _check_changes(self, name: str, rows: dict[int, Row]) -> None:
        state = dict(rows)
        for key, *cells, kind in self.run(
            f"SELECT id, a, f, d, s, r, _change_type FROM CHANGES(t, snapshot('{name}')) "
            "ORDER BY _commit_timestamp, _change_type IN ('insert', 'update_postimage')"
        ):
            if kind in ("delete", "update_preimage"):
                assert state.pop(key) == tuple(cells)
            else:
                state[key] = tuple(cells)
        assert state == self.rows


def _connect(path: Path) -> pykudu_sql.Connection:
    # Maintenance of its own would delete files while `crash` copies them.
    return pykudu_sql.connect(path, autocommit=True, durability="off", maintenance=False)


def _holds(cell: Any, op: str, wanted: Any) -> bool:
    if cell is None:
        return False
    return bool({"=": cell == wanted, "<=": cell <= wanted, ">": cell > wanted}[op])


@pytest.mark.parametrize("seed", range(2))
def test_every_moment_shows_its_own_rows_in_its_own_types(seed: int, tmp_path: Path) -> None:
    pick = random.Random(seed)
    model = Model(pick, tmp_path / "m")
    steps = [model.insert] * 2 + [model.update] * 4 + [model.widen] * 3 + [model.maintain] * 3
    steps += [model.delete, model.overtaken, model.remember, model.restore, model.crash]
    for number in range(STEPS):
        model.insert() if number < 2 else pick.choice(steps)()
        if number % 8 == 7:
            model.check()
    model.crash()
    model.check()
    model.connection.close()
    assert [each for each in check(str(model.path), False).run() if not each.is_left_over] == []
