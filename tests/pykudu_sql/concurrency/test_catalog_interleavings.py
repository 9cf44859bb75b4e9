"""Transactions beside changes of the catalog, in random order, against a model of both."""

import copy
import random
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

import pykudu_sql

NAMES, COLUMNS, KEYS = "abc", "xyzw", range(1, 6)
STEPS = 150


@dataclass
class Table:
    """A table: rows by key, their cells by the numbers of columns, which are never used again."""

    number: int
    columns: dict[str, int]
    rows: dict[int, dict[int, int]] = field(default_factory=dict)

    def shown(self) -> list[tuple[int | None, ...]]:
        """The rows as SELECT * gives them."""
        ids = self.columns.values()
        return [(key, *(row.get(i) for i in ids)) for key, row in sorted(self.rows.items())]


@dataclass
class Player:
    """A session; in a transaction, the tables that it sees and how many changes were before."""

    connection: pykudu_sql.Connection
    seen: dict[str, Table] | None = None
    begun: int = 0
    written: set[tuple[int, int]] = field(default_factory=set)


class World:
    """The committed tables by name, and the rows that commits changed, in their order."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now: dict[str, Table] = {}
        self.changes: list[tuple[int, int]] = []
        self.numbers = count()

    def define(self, player: Player) -> None:
        """Change the catalog."""
        rng, run = self.rng, player.connection.execute
        name = rng.choice(NAMES)
        table, free = self.now.get(name), [other for other in NAMES if other not in self.now]
        if table is None or rng.random() < 0.2:
            run(f"CREATE OR REPLACE TABLE {name} (k INT PRIMARY KEY, x INT)")
            self.now[name] = Table(next(self.numbers), {"x": next(self.numbers)})
            return
        column = rng.choice(list(table.columns))
        unused = [other for other in COLUMNS if other not in table.columns]
        match rng.choice(["DROP", "RENAME TO", "ADD", "DROP COLUMN", "RENAME", "TRUNCATE"]):
            case "DROP":
                run(f"DROP TABLE {name}")
                del self.now[name]
            case "RENAME TO" if free:
                run(f"ALTER TABLE {name} RENAME TO {free[0]}")
                self.now[free[0]] = self.now.pop(name)
            case "ADD" if unused:
                run(f"ALTER TABLE {name} ADD COLUMN {unused[0]} INT")
                table.columns[unused[0]] = next(self.numbers)
            case "DROP COLUMN" if len(table.columns) > 1:
                run(f"ALTER TABLE {name} DROP COLUMN {column}")
                del table.columns[column]
            case "RENAME" if unused:
                run(f"ALTER TABLE {name} RENAME COLUMN {column} TO {unused[0]}")
                table.columns = {
                    (unused[0] if old == column else old): i for old, i in table.columns.items()
                }
            case "TRUNCATE":
                run(f"TRUNCATE TABLE {name}")
                self.changes += [(table.number, key) for key in table.rows]
                table.rows.clear()

    def write(self, player: Player) -> None:
        """Write a row, in the open transaction or alone."""
        rng, catalog = self.rng, self.now if player.seen is None else player.seen
        if not catalog:
            return
        name, key, value = rng.choice(sorted(catalog)), rng.choice(KEYS), rng.randint(0, 99)
        table = catalog[name]
        was_there = key in table.rows
        if deletes := rng.random() < 0.3:
            player.connection.execute(f"DELETE FROM {name} WHERE k = {key}")
            table.rows.pop(key, None)
        else:
            columns, values = ", ".join(table.columns), ", ".join([str(value)] * len(table.columns))
            player.connection.execute(f"UPSERT INTO {name} (k, {columns}) VALUES ({key}, {values})")
            cells = dict.fromkeys(table.columns.values(), value)
            table.rows[key] = {**table.rows.get(key, {}), **cells}
        if player.seen is not None:
            player.written.add((table.number, key))
        elif was_there or not deletes:
            self.changes.append((table.number, key))

    def read(self, player: Player) -> None:
        """Read all tables, and a name that is none."""
        catalog = self.now if player.seen is None else player.seen
        for name, table in catalog.items():
            rows = player.connection.execute(f"SELECT * FROM {name} ORDER BY k").fetchall()
            assert rows == table.shown()
        for name in NAMES:
            if name not in catalog:
                with pytest.raises(pykudu_sql.ProgrammingError, match="does not exist"):
                    player.connection.execute(f"SELECT * FROM {name}")

    def begin_or_commit(self, player: Player) -> None:
        """A commit fails if and only if one of its rows was changed since, or its table is gone."""
        if player.seen is None:
            player.connection.execute("BEGIN")
            player.seen, player.begun = copy.deepcopy(self.now), len(self.changes)
            return
        there = {table.number: table for table in self.now.values()}
        own = {table.number: table for table in player.seen.values()}
        since = set(self.changes[player.begun :])
        is_lost = any(row in since or row[0] not in there for row in player.written)
        try:
            player.connection.execute("COMMIT")
        except pykudu_sql.OperationalError as error:
            assert (error.sqlstate, is_lost) == ("40001", True)
        else:
            assert not is_lost
            for number, key in player.written:
                rows, cells = there[number].rows, own[number].rows.get(key)
                if key in rows or cells is not None:
                    self.changes.append((number, key))
                kept = rows.pop(key, {})
                if cells is not None:
                    rows[key] = {**kept, **cells}
        player.seen, player.written = None, set()


@pytest.mark.parametrize("seed", range(2))
def test_transactions_see_and_change_the_tables_of_their_beginning(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    world = World(rng)
    path = str(tmp_path / "my.db")
    players = [
        Player(pykudu_sql.connect(path, autocommit=True, durability="off")) for _ in range(4)
    ]
    definer = players[0]
    for _ in range(STEPS):
        player = rng.choice(players[1:])
        match rng.choice(["define", "write", "write", "read", "transaction", "flush"]):
            case "define":
                world.define(definer)
            case "write":
                world.write(player)
            case "read":
                world.read(player)
            case "transaction":
                world.begin_or_commit(player)
            case "flush" if rng.random() < 0.2:
                definer.connection.execute(rng.choice(["FLUSH", "VACUUM"]))
    for player in players:
        world.read(player)
        player.connection.rollback()
        player.connection.close()
