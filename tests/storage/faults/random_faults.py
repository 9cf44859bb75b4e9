"""A store whose disk refuses calls at random, against a model.

Each round plays statements, openings of readers, closes, kills and losses of power on a disk that
falls ill and recovers. The model keeps the worlds that are possible: one, or two while a commit is
in doubt. Whoever looks must see one of them, and what was seen is so from then on.

`python -m tests.storage.faults.random_faults` plays many:

    --rounds N    how many (2000)
    --first N     the seed of the first (0); one seed plays the same round again
"""

import argparse
import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    DiskError,
    TransactionResolutionUnknownError,
)
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.addressing import addresses, write_rows
from tests.storage.faults.sick_disk import SickDisk
from tests.storage.model import Row, operations, read
from tests.storage.model_disk import Left
from tests.storage.small_bulks import bulk_inserts_from

ROOT = "/db"
KEYS = 12
STEPS = 30
BULK = 8
WRITING = StoreOptions(threads=1, maintenance=False, log_segment_bytes=2000)
READING = WRITING
NUMBER = DataType(Kind.INT32)


@dataclass(frozen=True)
class World:
    """What a database holds: rows of t by key, whether t has column m, and other tables."""

    rows: tuple[tuple[int, int], ...] = ()
    has_column: bool = False
    tables: frozenset[str] = frozenset()


def world_of(store: Store) -> World:
    """What a new transaction sees."""
    txn = store.begin()
    tables = store.catalog.tables
    if "t" not in tables:
        return World()
    rows = sorted((row[0], row[1]) for row in read(txn, tables["t"]).values())
    names = {column.name for column in tables["t"].schema.columns}
    return World(tuple(rows), "m" in names, frozenset(set(tables) - {"t"}))  # type: ignore[arg-type]


@dataclass
class Round:
    """One play.

    Attributes:
        chance: decides everything.
        disk: of the database.
        worlds: that are possible.
        acknowledged: worlds that were, oldest first, the one that is last.
        diary: what was done, to be shown when something is wrong.
    """

    chance: random.Random
    disk: SickDisk
    worlds: list[World]
    acknowledged: list[World]
    store: Store
    reader: Store | None = None
    reader_saw: int = 0
    diary: list[str] = field(default_factory=list)

    def play(self) -> None:
        """Do it all, and see at the end that a healthy disk shows one world to all."""
        for _ in range(STEPS):
            if self.chance.random() < 0.2:
                self.turn()
            step = self.chance.choices(
                (self.write, self.define, self.maintain, self.look, self.look_beside, self.restart),
                (40, 8, 15, 15, 15, 5),
            )[0]
            if self.settles():
                step()
        if self.disk.is_ill:
            self.turn()
        self.look()
        self.look_beside()
        self.restart()
        self.disk.heal()
        self.look()
        assert len(self.worlds) == 1
        if self.reader is not None:
            self.reader.close()
        self.store.close()

    def turn(self) -> None:
        """Let the disk fall ill, or recover, which maintenance is the next to notice."""
        if self.disk.is_ill:
            self.disk.heal()
            self.store.maintenance.wake()
        else:
            self.disk.fall_ill()
        self.diary.append(f"{'ill' if self.disk.is_ill else 'well'}: {self.disk.sort!r}")

    def settles(self) -> bool:
        """Look, in doubt; whether it is over, or will certainly last while the disk is as it is."""
        if len(self.worlds) > 1:
            self.look()
        return len(self.worlds) == 1 or self.disk.refuses_all

    def write(self) -> None:
        """One commit of rows: a single one, some of a transaction, a bulk, or in chunks."""
        rows = dict(self.worlds[0].rows)
        value = self.chance.randrange(1000)
        missing = [key for key in range(KEYS) if key not in rows]
        kind = self.chance.choice(("row", "delete", "upserts", "bulk", "load", "chunks", "chunks"))
        if kind == "bulk" and len(missing) >= BULK:
            changed = {key: value for key in missing[:BULK]}
            self._commit(kind, rows | changed, self._transaction(RowOpKind.INSERT, changed))
        elif kind == "load" and missing:
            self.chance.shuffle(missing)
            changed = {key: value for key in missing[: self.chance.randint(1, len(missing))]}
            upserts = {key: value for key in rows if self.chance.random() < 0.1}
            self._commit(kind, rows | changed | upserts, self._load(changed, upserts))
        elif kind == "chunks" and rows:
            self._change_in_chunks(rows, value)
        elif kind == "delete" and rows:
            key = self.chance.choice(sorted(rows))
            left = {other: rows[other] for other in rows if other != key}
            self._commit(kind, left, self._transaction(RowOpKind.DELETE, {key: None}))
        elif kind == "row":
            key = self.chance.randrange(KEYS)

            def write() -> None:
                table = self.store.catalog.table("t")
                self.store.begin()
                self.store.write_row(table, RowOpKind.UPSERT, {0: key, 1: value})

            self._commit(kind, rows | {key: value}, write)
        else:
            some = {key: value for key in self.chance.sample(range(KEYS), 3)}
            self._commit(kind, rows | some, self._transaction(RowOpKind.UPSERT, some))

    def _change_in_chunks(self, rows: dict[int, int], value: int) -> None:
        """Update or delete some rows by delta files that are written before the commit."""
        deletes = self.chance.random() < 0.3
        keys = self.chance.sample(sorted(rows), self.chance.randint(1, len(rows)))
        left = {key: rows[key] for key in rows if key not in keys}
        after = left if deletes else left | dict.fromkeys(keys, value)

        def run() -> None:
            txn, table = self.store.begin(), self.store.catalog.table("t")
            known = addresses(txn, table)
            changes = {key: None if deletes else {1: value} for key in keys}
            write_rows(txn, table, known, changes, chunk=2)
            txn.commit(durable=True)

        self._commit("chunks", after, run)

    def _transaction(self, kind: RowOpKind, rows: dict[int, int | None]) -> Callable[[], None]:
        def run() -> None:
            txn = self.store.begin()
            table = self.store.catalog.table("t")
            batch = [{0: k} if v is None else {0: k, 1: v} for k, v in rows.items()]
            txn.write(table, operations(table, kind, batch))
            txn.commit(durable=True)

        return run

    def _load(self, rows: dict[int, int], upserts: dict[int, int]) -> Callable[[], None]:
        """Insert rows in chunks, and perhaps change others in the same commit."""
        step = self.chance.randint(1, 4)
        is_repeated = self.chance.random() < 0.3

        def run() -> None:
            txn = self.store.begin()
            table = self.store.catalog.table("t")
            batch = [{0: key, 1: value} for key, value in rows.items()]
            if upserts:
                changes = [{0: key, 1: value} for key, value in upserts.items()]
                txn.write(table, operations(table, RowOpKind.UPSERT, changes))
            if is_repeated:
                self._load_in_vain(txn, batch)
            parts = [batch[start : start + step] for start in range(0, len(batch), step)]
            txn.insert(table, (operations(table, RowOpKind.INSERT, part) for part in parts))
            txn.commit(durable=True)

        return run

    def _load_in_vain(self, txn: Transaction, batch: list[Row]) -> None:
        """A load that ends with a key of an earlier chunk, and leaves its transaction as it was."""
        table = self.store.catalog.table("t")
        with contextlib.suppress(AlreadyPresentError):
            txn.insert(table, (operations(table, RowOpKind.INSERT, batch) for _ in range(2)))
            raise AssertionError("a key came twice")

    def _commit(self, what: str, rows: dict[int, int], action: Callable[[], None]) -> None:
        self._do(what, action, lambda world: replace(world, rows=tuple(sorted(rows.items()))))

    def define(self) -> None:
        """A change of the catalog."""
        world = self.worlds[0]
        name = self.chance.choice(("a", "b", "m"))
        if name == "m":
            step = DropColumn("m") if world.has_column else AddColumn(ColumnSchema(0, "m", NUMBER))
            self._do(
                "alter",
                lambda: self.store.alter_table("t", [step]),
                lambda world: replace(world, has_column=not world.has_column),
            )
        elif name in world.tables:
            self._do(
                "drop",
                lambda: self.store.drop_table(name),
                lambda world: replace(world, tables=world.tables - {name}),
            )
        else:
            self._do(
                "create",
                lambda: create(self.store, name),
                lambda world: replace(world, tables=world.tables | {name}),
            )

    def maintain(self) -> None:
        """What changes no answer."""
        name = self.chance.choice(("flush", "optimize", "full", "vacuum", "log", "files"))
        action: Callable[[], object] = {
            "flush": self.store.flush,
            "optimize": lambda: self.store.optimize("t"),
            "full": lambda: self.store.optimize("t", full=True),
            "vacuum": self.store.vacuum,
            "log": self.store.log_retention.collect,
            "files": self.store.collect_files,
        }[name]
        self._do(name, action, None)

    def _do(
        self, what: str, action: Callable[[], object], effect: Callable[[World], World] | None
    ) -> None:
        """Run a statement and draw the conclusions from how it ends."""
        refused = len(self.disk.refused)
        try:
            action()
        except TransactionResolutionUnknownError:
            self.diary.append(f"{what}: unknown {self.disk.refused[refused:]}")
            assert effect is not None, "maintenance changes no answer"
            assert self.disk.refused[refused:], "in doubt, though nothing was refused"
            assert len(self.worlds) == 1, "written while a commit was in doubt"
            self.worlds = [self.worlds[0], effect(self.worlds[0])]
        except DiskError as error:
            self.diary.append(f"{what}: {error.message[:60]} {self.disk.refused[refused:]}")
            assert self.disk.is_ill, "the disk is well"
        else:
            self.diary.append(f"{what}: done")
            assert len(self.worlds) == 1 or effect is None, "written while a commit was in doubt"
            if effect is not None:
                self._settle(effect(self.worlds[0]))

    def _settle(self, world: World) -> None:
        self.worlds = [world]
        if self.acknowledged[-1] != world:
            self.acknowledged.append(world)

    def look(self) -> None:
        """The writer sees one of the worlds, and refuses only while its disk does."""
        try:
            seen = world_of(self.store)
        except DiskError:
            assert len(self.worlds) > 1 and self.disk.is_ill, "not in doubt, or the disk is well"
            self.diary.append("look: in doubt")
            return
        self.diary.append("look")
        assert seen in self.worlds, (seen, self.worlds)
        self._settle(seen)

    def look_beside(self) -> None:
        """A reader sees what is acknowledged, or lags behind what the disk would not note."""
        if self.reader is None or self.chance.random() < 0.3:
            if self.reader is not None:
                self.reader.close()
            self.reader = ReaderStore(self.disk.cache, ROOT, READING)
        self.reader.refresh()
        seen = world_of(self.reader)
        self.diary.append("look beside")
        if seen in self.worlds:
            is_news = seen != self.acknowledged[-1]
            if is_news:
                self._settle(seen)
            self.reader_saw = len(self.acknowledged) - 1
            if is_news and self.chance.random() < 0.5:
                self.restart()  # what a reader has seen nothing takes back
            return
        may_lag = self.disk.is_ill and any(p.startswith("durable.") for p in self.disk.refused)
        assert may_lag, ("not acknowledged, or missed", seen, self.worlds)
        assert seen in self.acknowledged[self.reader_saw :], ("goes back", seen)

    def restart(self) -> None:
        """Close or kill the writer or take the power, and open what is left."""
        way = self.chance.choice(("close", "kill", *Left))
        self.diary.append(f"restart: {way}")
        if self.reader is not None:
            self.reader.close()
            self.reader = None
        if way == "close":
            with contextlib.suppress(DiskError):
                self.store.close()
            cache = self.disk.after_kill()
        elif way == "kill":
            cache = self.disk.after_kill()
        else:
            cache = self.disk.after_restart(Left(way))
        if way != "close":
            self.disk.heal()
            self.store.close()  # of what nobody sees any more
        self.reader_saw = 0
        self.disk = SickDisk(self.chance, cache)
        if self.chance.random() < 0.3:
            self.disk.fall_ill()
        try:
            self.store = Store(self.disk.env, ROOT, WRITING)
        except DiskError as error:
            self.diary.append(f"open: {error.message[:60]}")
            assert self.disk.is_ill
            self.disk.heal()
            self.store = Store(self.disk.env, ROOT, WRITING)
        self.look()


def create(store: Store, name: str) -> None:
    """A table of two columns in two tablets."""
    columns = [ColumnSchema(0, "id", NUMBER), ColumnSchema(0, "n", NUMBER)]
    store.create_table(
        name, create_schema(columns, ["id"]), PartitionSchema((HashDimension((0,), 2),))
    )


def play(seed: int) -> None:
    """One round.

    Raises:
        AssertionError: somebody saw what cannot be; with the seed and what was done.
    """
    chance = random.Random(seed)
    disk = SickDisk(chance)
    store = Store(disk.env, ROOT, WRITING)
    create(store, "t")
    round_ = Round(chance, disk, [World()], [World()], store)
    try:
        with bulk_inserts_from(BULK):
            round_.play()
    except Exception as error:
        story = "\n".join(round_.diary)
        raise AssertionError(f"seed {seed}: {error!r}\n{story}") from error


def main() -> None:
    """Play rounds and tell of the first that fails."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    for seed in range(options.first, options.first + options.rounds):
        play(seed)
    print(f"{options.rounds} rounds: all agree")


if __name__ == "__main__":
    main()
