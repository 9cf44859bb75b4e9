"""The engine against a plain dictionary with the full history, over random interleavings.

Writes of every kind, transactions that commit or roll back, flushes, restarts and schema changes;
after each step the newest rows, and at the end of a run every earlier moment, must be the model's.
"""

import operator
import tempfile
from pathlib import Path

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn, RenameColumn
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind, decimal_type
from pykudu_sql.storage.errors import IntegrityError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.properties.examples import examples
from tests.storage.model import ModelTable, Refused, Row, apply, operations, read, visible

KEY_TYPES = (Kind.INT8, Kind.INT32, Kind.INT64, Kind.STRING, Kind.DATE, Kind.BINARY)
VALUE_TYPES = (
    DataType(Kind.INT32), DataType(Kind.DOUBLE), DataType(Kind.STRING), DataType(Kind.BOOL),
    DataType(Kind.UNIXTIME_MICROS), decimal_type(7, 2), decimal_type(15, 2), decimal_type(30, 5),
    DataType(Kind.BINARY), DataType(Kind.INT16), DataType(Kind.FLOAT), DataType(Kind.DATE),
)  # fmt: skip
KINDS = tuple(kind for kind in RowOpKind if kind is not RowOpKind.UPSERT_IGNORE)


def cells(kind: DataType) -> st.SearchStrategy[Cell]:
    """Cells of a type, from few values so that keys meet."""
    if kind.is_variable:
        words = st.sampled_from(["", "a", "a\0", "b", "\0", "zz", "ä"])
        return words if kind.is_text else words.map(str.encode)
    if kind.kind is Kind.BOOL:
        return st.booleans()
    if kind.is_floating:
        return st.sampled_from([0.0, -1.5, 2.25, 1e10])
    return st.integers(-3, 3)


def value_columns(schema: Schema) -> list[ColumnSchema]:
    """The columns outside the key."""
    return [column for column in schema.columns if column.id not in schema.key_ids]


class StoreMachine(RuleBasedStateMachine):
    """Drives one table of a store on disk."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.model = ModelTable()
        self.added = 0
        self.open()

    def open(self) -> None:
        path = str(Path(self.folder.name) / "db")
        self.store = Store(LocalEnv(), path, StoreOptions(durability="off", threads=2))

    @initialize(data=st.data())
    def create(self, data: st.DataObject) -> None:
        key_kinds = data.draw(st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=3))
        value_types = data.draw(st.lists(st.sampled_from(VALUE_TYPES), max_size=3))
        columns = [
            *(ColumnSchema(0, f"k{i}", DataType(k)) for i, k in enumerate(key_kinds)),
            *(ColumnSchema(0, f"v{i}", t) for i, t in enumerate(value_types)),
        ]
        schema = create_schema(columns, [f"k{i}" for i in range(len(key_kinds))])
        self.store.create_table("t", schema, data.draw(partition_schemas(schema)))
        self.remember()

    @property
    def table(self):  # type: ignore[no-untyped-def]
        return self.store.catalog.table("t")

    def remember(self) -> None:
        self.model.remember(self.store.begin().bound, self.table)

    def draw_batch(self, data: st.DataObject, kind: RowOpKind) -> list[Row]:
        schema: Schema = self.table.schema
        chosen = [c for c in value_columns(schema) if data.draw(st.booleans())]
        if kind.name.startswith("DELETE"):
            chosen = []
        assume(chosen or not kind.name.startswith("UPDATE"))  # one that sets nothing is refused
        row = st.fixed_dictionaries(
            {c.id: cells(c.type) for c in schema.key_columns}
            | {c.id: cells(c.type) | st.none() if c.nullable else cells(c.type) for c in chosen}
        )
        keys = lambda r: tuple(r[i] for i in schema.key_ids)  # noqa: E731
        return data.draw(st.lists(row, min_size=1, max_size=6, unique_by=keys))

    @rule(data=st.data(), kind=st.sampled_from(KINDS), one_by_one=st.booleans())
    def write(self, data: st.DataObject, kind: RowOpKind, one_by_one: bool) -> None:
        self.statement(data, kind, one_by_one, self.store.begin(), commit=True)

    def statement(self, data, kind, one_by_one, txn, *, commit):  # type: ignore[no-untyped-def]
        table, batch = self.table, self.draw_batch(data, kind)
        batch = batch[:1] if one_by_one else batch
        try:
            expected = apply(self.model.rows, table, kind, batch)
        except Refused:
            expected = None
        try:
            if one_by_one:
                txn.write_row(table, kind, batch[0])
            else:
                txn.write(table, operations(table, kind, batch))
        except IntegrityError:
            assert expected is None
        else:
            assert expected is not None
            self.model.rows = expected
        if commit:
            txn.commit(durable=False)
            self.remember()

    @rule(
        data=st.data(),
        kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=5),
        keep=st.booleans(),
        flush_at=st.none() | st.integers(0, 4),
    )
    def transaction(self, data, kinds, keep, flush_at):  # type: ignore[no-untyped-def]
        before = self.model.rows
        txn = self.store.begin()
        for place, kind in enumerate(kinds):
            self.statement(data, kind, data.draw(st.booleans()), txn, commit=False)
            expected = visible(self.model.rows, self.table)
            assert read(txn, self.table) == expected
            ids = [column.id for column in self.table.schema.columns]
            for key, row in expected.items():
                assert txn.lookup(self.table, key, ids) == tuple(row[i] for i in ids)
            if place == flush_at:
                self.store.flush()
        assert read(self.store.begin(), self.table) == visible(before, self.table)
        if keep:
            txn.commit(durable=False)
        else:
            txn.rollback()
            self.model.rows = before
        self.remember()

    @rule()
    def flush(self) -> None:
        self.store.flush()

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.open()

    @precondition(lambda self: self.added < 4)
    @rule(kind=st.sampled_from(VALUE_TYPES), data=st.data())
    def add_column(self, kind: DataType, data: st.DataObject) -> None:
        default = data.draw(cells(kind) | st.none())
        column = ColumnSchema(0, f"added{self.added}", kind, True, write_default=default)
        self.store.alter_table("t", [AddColumn(column)])
        self.added += 1
        new_id = self.table.schema.by_name[column.name].id
        for row in self.model.rows.values():
            row[new_id] = default
        self.remember()

    @precondition(lambda self: value_columns(self.table.schema))
    @rule(data=st.data())
    def drop_column(self, data: st.DataObject) -> None:
        column = data.draw(st.sampled_from(value_columns(self.table.schema)))
        self.store.alter_table("t", [DropColumn(column.name)])
        self.remember()

    @rule(data=st.data())
    def rename_column(self, data: st.DataObject) -> None:
        column = data.draw(st.sampled_from(self.table.schema.columns))
        self.store.alter_table("t", [RenameColumn(column.name, f"renamed{self.added}_{column.id}")])

    @rule(data=st.data())
    def look_up(self, data: st.DataObject) -> None:
        schema = self.table.schema
        key = tuple(data.draw(cells(c.type)) for c in schema.key_columns)
        ids = [c.id for c in schema.columns]
        found = self.store.begin().lookup(self.table, key, ids)
        row = visible(self.model.rows, self.table).get(key)
        assert found == (None if row is None else tuple(row[i] for i in ids))

    @rule(data=st.data(), limit=st.none() | st.integers(1, 4))
    def scan_some_keys_in_order(self, data: st.DataObject, limit: int | None) -> None:
        schema = self.table.schema
        first = schema.key_columns[0]
        value, op = data.draw(cells(first.type)), data.draw(st.sampled_from(["=", ">=", "<"]))
        spec = ScanSpec(
            tuple(schema.key_ids), Comparison(first.id, Op(op), value), limit, ScanOrder.KEY
        )
        columns = self.store.begin().table_scan(self.table, spec).columns
        parts = [
            array_to_cells(part.combine_chunks(), c.type)
            for part, c in zip(columns, schema.key_columns, strict=True)
        ]
        holds = {"=": operator.eq, ">=": operator.ge, "<": operator.lt}[op]
        wanted = sorted(key for key in visible(self.model.rows, self.table) if holds(key[0], value))
        assert list(zip(*parts, strict=True)) == wanted[:limit]

    @rule(data=st.data())
    def read_the_past(self, data: st.DataObject) -> None:
        bound, rows, _ = data.draw(st.sampled_from(self.model.past))
        self.store.wait_until_readable(bound)
        table = self.store.catalog_at(bound).table("t")
        assert read(self.store.begin(), table, bound) == visible(rows, table)

    @invariant()
    def newest_rows_are_the_models(self) -> None:
        if self.model.past:
            assert read(self.store.begin(), self.table) == visible(self.model.rows, self.table)

    def teardown(self) -> None:
        for bound, rows, _ in self.model.past:
            table = self.store.catalog_at(bound).table("t")
            assert read(self.store.begin(), table, bound) == visible(rows, table)
        self.store.close()
        self.folder.cleanup()


@st.composite
def partition_schemas(draw: st.DrawFn, schema: Schema) -> PartitionSchema:
    """Hash, range, both or neither; ranges cover everything, so that no row is refused."""
    ids = list(schema.key_ids)
    hashes: tuple[HashDimension, ...] = ()
    if draw(st.booleans()):
        hashes = (HashDimension(tuple(ids[: draw(st.integers(1, len(ids)))]), 3),)
    if draw(st.booleans()):
        return PartitionSchema(hashes)
    column = schema.by_id[ids[-1]]
    split = ("b" if column.type.is_text else b"b") if column.type.is_variable else 1
    ranges = (RangePartition(None, (split,)), RangePartition((split,), None))
    return PartitionSchema(hashes, (ids[-1],), ranges)


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=examples(25), stateful_step_count=25, deadline=None)
