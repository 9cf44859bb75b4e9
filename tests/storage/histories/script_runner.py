"""Runs a script of operations on a store and on the plain model, side by side.

A script is JSON: `{"keys": 5, "hash": 2, "background": true, "steps": [["write", ...], ...]}`. A
step whose condition does not hold (a commit where no transaction is open) does nothing, so any part
of a script is a script, which lets hypothesis shorten it. The steps:

    write KIND ROWS ONE         a statement of its own; ONE writes its first row alone
    begin S                     open transaction S
    work S KIND ROWS            a statement in it
    find S ROWS DELETE FLUSH N  a scan in it finds rows; they are deleted or updated where they are,
                                with FLUSH after a flush, in chunks of N or, if it is 0, together
    commit S | rollback S       end it
    hold S | look S             a reader opens a snapshot; it reads it (again)
    past N                      read the N-th of the commits that history still covers
    flush | minor | major COLUMNS | compact CHOICE | undo_gc | rowset_gc | vacuum | optimize
    age SECONDS | clock MICROS  the history age is set; the wall clock jumps
    add NAME TYPE DEFAULT | drop NAME
    restart | kill              close and open again; open what a SIGKILL would leave
    threads BATCHES             batches of UPSERTs on distinct keys, each on a thread of its own
"""

import gc
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import array_to_cells, cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import HistoryPurgedError, IntegrityError, SerializationError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.tablet.maintenance.history_gc import collect_deleted_rowsets, collect_undo
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.addressing import addresses, write_rows
from tests.storage.histories.script_model import Model, OpenTransaction, Refused, Row, Rows, effect
from tests.storage.histories.script_store import ScriptClock, open_store, set_history_age

TYPES = {"INT": DataType(Kind.INT32), "STRING": DataType(Kind.STRING)}


class ScriptRunner:
    """One store with its model.

    Attributes:
        model: what the table must be.
        store: what it is.
    """

    def __init__(self, folder: Path, script: dict[str, Any]) -> None:
        """Create the database and its table.

        Args:
            folder: an empty one.
            script: see the module's text.
        """
        self.model = Model(columns={"a": None, "s": None})
        self._folder = folder
        self._generation = 0
        self._script = script
        self._clock = ScriptClock()
        self._age: float | None = None
        self._open_transactions: dict[int, tuple[Transaction, OpenTransaction]] = {}
        self._readers: dict[int, tuple[Transaction, TableInfo, Rows]] = {}
        self.store = self._open()
        columns = [
            ColumnSchema(0, "k", TYPES["INT"]),
            ColumnSchema(0, "a", TYPES["INT"], True),
            ColumnSchema(0, "s", TYPES["STRING"], True),
        ]
        hashes = (HashDimension((0,), script["hash"]),) if script["hash"] > 1 else ()
        self.store.create_table("t", create_schema(columns, ["k"]), PartitionSchema(hashes))
        self._note(set())

    def _open(self) -> Store:
        path = str(self._folder / f"db{self._generation}")
        return open_store(LocalEnv(), path, self._clock, background=self._script["background"])

    @property
    def _table(self) -> TableInfo:
        return self.store.catalog.table("t")

    @property
    def _tablets(self) -> list[Tablet]:
        return [self.store.tablets[info.id] for info in self._table.tablets]

    def run(self) -> None:
        """Do every step, comparing after each, and read all of the past at the end."""
        for step in self._script["steps"]:
            name, *arguments = step
            getattr(self, f"_do_{name}")(*arguments)
            self._compare_now()
        self._compare_past()
        self._end_all()
        self.store.close()

    def close(self) -> None:
        """Give the store back, whatever state it is in."""
        with suppress(Exception):
            self.store.close()

    def _compare_now(self) -> None:
        transaction = self.store.begin()
        found = self._read(transaction, self._table, None)
        transaction.rollback()
        assert found == self.model.rows, f"now: {found} instead of {self.model.rows}"

    def _compare_past(self) -> None:
        for commit in self.model.commits:
            self._read_past(commit.bound, commit.rows)

    def _read_past(self, bound: int, rows: Rows) -> None:
        self.store.wait_until_readable(bound)
        transaction = self.store.begin()
        try:
            table = self.store.catalog_at(bound).table("t")
            found = self._read(transaction, table, bound)
            assert found == rows, f"AS OF {bound}: {found} instead of {rows}"
        except HistoryPurgedError:
            # After a restart tables' marks may be lower than what the catalog has let go of.
            known_since = self.store.catalog_at(bound).complete_since
            mark = max(known_since, *(tablet_mark(self.store, tablet) for tablet in self._tablets))
            assert bound < mark, f"history of {bound} is gone, though it goes back to {mark}"
        finally:
            transaction.rollback()

    def _read(self, transaction: Transaction, table: TableInfo, bound: int | None) -> Rows:
        schema = table.schema
        spec = ScanSpec(tuple(c.id for c in schema.columns))
        found = transaction.table_scan(table, spec, bound)
        cells = [
            array_to_cells(found.column(i).combine_chunks(), c.type)
            for i, c in enumerate(schema.columns)
        ]
        rows: Rows = {}
        for values in zip(*cells, strict=True):
            row = dict(zip((c.name for c in schema.columns), values, strict=True))
            key = row.pop("k")
            assert key not in rows, f"key {key} is alive twice"
            rows[key] = row
        return rows

    def _note(self, touched: set[int]) -> None:
        transaction = self.store.begin()
        self.model.note(transaction.bound, self.model.rows, touched)
        transaction.rollback()

    def _known(self, rows: list[Row]) -> list[Row]:
        """Rows without the columns that the table does not have, each key once."""
        known = {"k", *self.model.columns}
        return list({r["k"]: {n: c for n, c in r.items() if n in known} for r in rows}.values())

    def _do_write(self, kind: str, rows: list[Row], one: bool) -> None:
        transaction = self.store.begin()
        seen = OpenTransaction(self.model.rows, len(self.model.commits))
        self._statement(transaction, seen, RowOpKind(kind), rows[:1] if one else rows, one)
        self._commit(transaction, seen)

    def _statement(
        self,
        transaction: Transaction,
        seen: OpenTransaction,
        kind: RowOpKind,
        rows: list[Row],
        one: bool,
    ) -> None:
        """One statement; rows that set different columns go column set by column set."""
        if kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE):
            rows = [{"k": row["k"]} for row in rows]
        groups: dict[tuple[str, ...], list[Row]] = {}
        for row in self._known(rows):
            groups.setdefault(tuple(sorted(row)), []).append(row)
        for names, group in groups.items():
            if names == ("k",) and kind in (RowOpKind.UPDATE, RowOpKind.UPDATE_IGNORE):
                continue  # one that sets nothing is refused as a whole
            self._batch(transaction, seen, kind, group, one)

    def _batch(
        self,
        transaction: Transaction,
        seen: OpenTransaction,
        kind: RowOpKind,
        group: list[Row],
        one: bool,
    ) -> None:
        table = self._table
        ids = {name: table.schema.by_name[name].id for name in group[0]}
        try:
            done = effect(seen.rows, self.model.columns, kind, group)
        except Refused:
            done = None
        try:
            if one:
                cells = {ids[name]: cell for name, cell in group[0].items()}
                transaction.write_row(table, kind, cells)
            else:
                columns = {
                    i: cells_to_array([row[name] for row in group], table.schema.by_id[i].type)
                    for name, i in ids.items()
                }
                transaction.write(table, RowOperations(kind, columns, len(group)))
        except IntegrityError:
            assert done is None, f"{kind} of {group} was refused"
            return
        assert done is not None, f"{kind} of {group} was not refused"
        seen.given |= {row["k"] for row in group}
        seen.rows = done.rows

    def _commit(self, transaction: Transaction, seen: OpenTransaction) -> None:
        others = self.model.touched_since(seen.begun_at)
        before = self.model.commits[seen.begun_at - 1].rows if seen.begun_at else {}
        changed = {k for k in seen.given if before.get(k) != seen.rows.get(k)}
        try:
            transaction.commit(durable=False)
        except SerializationError:
            assert others & seen.given or seen.altered, "a commit without conflict was refused"
            return
        assert not others & changed or seen.altered, "a commit with a conflict went through"
        rows = {key: dict(row) for key, row in self.model.rows.items()}
        for key in seen.given:
            if key in seen.rows:
                known = {n: c for n, c in seen.rows[key].items() if n in self.model.columns}
                rows[key] = {**self.model.columns, **known}
            else:
                rows.pop(key, None)
        self.model.rows = rows
        self._note(set(seen.given))

    def _do_begin(self, slot: int) -> None:
        if slot not in self._open_transactions:
            seen = OpenTransaction(self.model.rows, len(self.model.commits))
            self._open_transactions[slot] = self.store.begin(), seen

    def _do_work(self, slot: int, kind: str, rows: list[Row]) -> None:
        if slot in self._open_transactions:
            transaction, seen = self._open_transactions[slot]
            if not seen.altered:
                self._statement(transaction, seen, RowOpKind(kind), rows, False)
                found = self._read(transaction, self._table, None)
                assert found == seen.rows, f"in transaction: {found} instead of {seen.rows}"

    def _do_find(self, slot: int, rows: list[Row], deletes: bool, flush: bool, chunk: int) -> None:
        if slot not in self._open_transactions:
            return
        transaction, seen = self._open_transactions[slot]
        named = [{"k": row["k"]} if deletes else row for row in self._known(rows)]
        group = [row for row in named if row.keys() == named[0].keys() and row["k"] in seen.rows]
        if seen.altered or not group or not (deletes or len(named[0]) > 1):
            return
        table, kind = self._table, RowOpKind.DELETE if deletes else RowOpKind.UPDATE_IGNORE
        ids = {name: table.schema.by_name[name].id for name in self.model.columns}
        cells = {
            row["k"]: None if deletes else {ids[n]: c for n, c in row.items() if n != "k"}
            for row in group
        }
        known = addresses(transaction, table)
        if flush:
            self.store.flush()
        assert write_rows(transaction, table, known, cells, chunk) == len(group)
        seen.rows = effect(seen.rows, self.model.columns, kind, group).rows
        seen.given |= cells.keys()
        found = self._read(transaction, table, None)
        assert found == seen.rows, f"in transaction: {found} instead of {seen.rows}"

    def _do_commit(self, slot: int) -> None:
        if slot in self._open_transactions:
            self._commit(*self._open_transactions.pop(slot))

    def _do_rollback(self, slot: int) -> None:
        if slot in self._open_transactions:
            self._open_transactions.pop(slot)[0].rollback()

    def _do_hold(self, slot: int) -> None:
        if slot not in self._readers:
            self._readers[slot] = self.store.begin(), self._table, self.model.rows

    def _do_look(self, slot: int) -> None:
        if slot in self._readers:
            transaction, table, rows = self._readers[slot]
            found = self._read(transaction, table, None)
            assert found == rows, f"reader {slot}: {found} instead of {rows}"

    def _do_past(self, number: int) -> None:
        commit = self.model.commits[number % len(self.model.commits)]
        self._read_past(commit.bound, commit.rows)

    def _do_flush(self) -> None:
        self.store.flush()

    def _do_minor(self) -> None:
        for tablet in self._tablets:
            with tablet.maintenance_lock:
                for rowset in tablet.components.tree.rowsets:
                    compact_redo(tablet, rowset, self.store.committer.tablet_services)

    def _do_major(self, names: Sequence[str]) -> None:
        schema = self._table.schema
        ids = [schema.by_name[name].id for name in names if name in schema.by_name]
        for tablet in self._tablets:
            with tablet.maintenance_lock:
                for rowset in tablet.components.tree.rowsets:
                    compact_major(tablet, rowset, ids, self.store.committer.tablet_services)

    def _do_compact(self, choice: int) -> None:
        for tablet in self._tablets:
            with tablet.maintenance_lock:
                rowsets = tablet.components.tree.rowsets
                chosen = [r for i, r in enumerate(rowsets) if choice >> i % 8 & 1]
                if chosen:
                    compact_rowsets(tablet, chosen, self.store.committer.tablet_services)

    def _do_undo_gc(self) -> None:
        for tablet in self._tablets:
            with tablet.maintenance_lock:
                collect_undo(tablet, self.store.committer.tablet_services)

    def _do_rowset_gc(self) -> None:
        for tablet in self._tablets:
            with tablet.maintenance_lock:
                collect_deleted_rowsets(tablet, self.store.committer.tablet_services)

    def _do_vacuum(self) -> None:
        self.store.vacuum()

    def _do_optimize(self, full: bool) -> None:
        self.store.optimize("t", full)

    def _do_age(self, seconds: float) -> None:
        self._age = seconds
        set_history_age(self.store, seconds)

    def _do_clock(self, micros: int) -> None:
        self._clock.jump(micros)

    def _do_add(self, name: str, kind: str, default: Any) -> None:
        if name in self.model.columns:
            return
        column = ColumnSchema(0, name, TYPES[kind], True, write_default=default)
        self.store.alter_table("t", [AddColumn(column)])
        self.model.columns[name] = default
        self.model.rows = {k: {**row, name: default} for k, row in self.model.rows.items()}
        self._altered()

    def _do_drop(self, name: str) -> None:
        if name not in self.model.columns:
            return
        self.store.alter_table("t", [DropColumn(name)])
        del self.model.columns[name]
        self.model.rows = {
            k: {n: c for n, c in row.items() if n != name} for k, row in self.model.rows.items()
        }
        self._altered()

    def _altered(self) -> None:
        for _, seen in self._open_transactions.values():
            seen.altered = True
        self._note(set())

    def _end_all(self) -> None:
        for transaction, _ in self._open_transactions.values():
            transaction.rollback()
        for transaction, _, _ in self._readers.values():
            transaction.rollback()
        self._open_transactions = {}
        self._readers = {}

    def _do_restart(self) -> None:
        self._end_all()
        self.store.close()
        self.store = self._open()
        if self._age is not None:
            set_history_age(self.store, self._age)

    def _do_kill(self) -> None:
        """What a SIGKILL leaves is what the files hold: a copy of them is opened instead."""
        self._open_transactions = {}
        self._readers = {}
        self.store.maintenance.pause()
        gc.collect()  # files nobody reads any more go now, not while they are copied
        before = self._folder / f"db{self._generation}"
        self._generation += 1
        _copy_at_rest(before, self._folder / f"db{self._generation}")
        self.store.close()
        self.store = self._open()

    def _do_threads(self, batches: list[list[Row]]) -> None:
        failures: list[BaseException] = []
        table, count = self._table, len(batches)

        def work(place: int, rows: list[Row]) -> None:
            try:
                for row in rows:
                    transaction = self.store.begin()
                    ids = {table.schema.by_name[name].id: cell for name, cell in row.items()}
                    transaction.write_row(table, RowOpKind.UPSERT, ids)
                    transaction.commit(durable=False)
            except BaseException as error:
                failures.append(error)

        shares = [
            [{**row, "k": row["k"] * count + place} for row in self._known(rows)]
            for place, rows in enumerate(batches)
        ]
        workers = [threading.Thread(target=work, args=pair) for pair in enumerate(shares)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not failures, failures
        rows, touched = self.model.rows, set[int]()
        for share in shares:
            done = effect(rows, self.model.columns, RowOpKind.UPSERT, share)
            rows, touched = done.rows, touched | {row["k"] for row in share}
        self.model.rows = rows
        self._note(touched)


def tablet_mark(store: Store, tablet: Tablet) -> int:
    """The ancient history mark of a tablet."""
    return store.committer.tablet_services.history_mark(tablet.id)


def _copy_at_rest(source: Path, target: Path) -> None:
    """Copy a database that nothing is committed to.

    A thread that has just done maintenance may let the last reader of a file go meanwhile. What
    the manifest names stays, so a copy during which nothing went is what a kill would leave.
    """
    while True:
        try:
            shutil.copytree(source, target)
        except shutil.Error as error:
            if not all("No such file" in str(reason) for _, _, reason in error.args[0]):
                raise
            shutil.rmtree(target)
        else:
            return
