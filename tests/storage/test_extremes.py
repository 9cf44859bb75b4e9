"""The ends of every type's range stay what they are through flush, all compactions and AS OF."""

import datetime as dt
import struct
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest

from pykudu_sql.storage.cfile.encoding.type_encodings import encodings_of
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Encoding, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from tests.storage.model import Key, Row, apply, operations, read

MAX_CELL = 64 * 1024
INTEGERS = {Kind.INT8: 8, Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64}
FLOATS = ["nan", "-nan", "inf", "-inf", "0.0", "-0.0", "5e-324", "1e-45", "3.4028234663852886e38"]


def ends_of(kind: DataType) -> list[Any]:
    """The values of a type where things go wrong, as Python has them."""
    match kind.kind:
        case Kind.BOOL:
            return [False, True]
        case Kind.FLOAT | Kind.DOUBLE:
            return [float(text) for text in FLOATS]
        case Kind.DATE:
            return [dt.date.min, dt.date.max, dt.date(1970, 1, 1), dt.date(1969, 12, 31)]
        case Kind.UNIXTIME_MICROS:
            return [dt.datetime.min, dt.datetime.max, dt.datetime(1969, 12, 31, 23, 59, 59, 999999)]
        case Kind.DECIMAL:
            largest = 10**kind.precision - 1
            return [Decimal(f"{n}E-{kind.scale}") for n in (largest, -largest, 0, 1)]
        case Kind.VARCHAR:
            return ["", "\0", "ä" * kind.length, "\U0010ffff" * kind.length]
        case Kind.STRING:
            return ["", "\0", "\0\0", "x" * MAX_CELL, "\U0010ffff" * (MAX_CELL // 4), "ä"]
        case Kind.BINARY:
            return [b"", b"\0", b"\xff" * MAX_CELL, b"\0" * MAX_CELL, bytes(range(256))]
        case integer:
            half = 1 << (INTEGERS[integer] - 1)
            return [-half, half - 1, 0, -1, 1, -half + 1]


TYPES = [
    DataType(Kind.BOOL),
    *(DataType(kind) for kind in INTEGERS),
    DataType(Kind.FLOAT),
    DataType(Kind.DOUBLE),
    DataType(Kind.DATE),
    DataType(Kind.UNIXTIME_MICROS),
    DataType(Kind.DECIMAL, precision=9, scale=9),
    DataType(Kind.DECIMAL, precision=18, scale=0),
    DataType(Kind.DECIMAL, precision=38, scale=38),
    DataType(Kind.VARCHAR, length=3),
    DataType(Kind.STRING),
    DataType(Kind.BINARY),
]
CASES = [(kind, encoding.name) for kind in TYPES for encoding in encodings_of(kind)]


def exact(cell: Cell) -> Cell:
    """A cell so that equal means the same bits: NaN is itself, -0.0 is not 0.0."""
    return struct.pack("<d", cell) if isinstance(cell, float) else cell


def exactly(rows: dict[Key, Row]) -> dict[Key, Row]:
    return {key: {i: exact(cell) for i, cell in row.items()} for key, row in rows.items()}


class Subject:
    """A table of a key, a column of the type and one more, with its past."""

    def __init__(self, kind: DataType, encoding: Encoding) -> None:
        self.env = MemoryEnv()
        self.store = Store(self.env, "/db", StoreOptions(threads=1, maintenance=False))
        columns = [
            ColumnSchema(0, "id", DataType(Kind.INT32)),
            ColumnSchema(0, "v", kind, True, encoding),
            ColumnSchema(0, "n", DataType(Kind.INT32), True),
        ]
        self.table = self.store.create_table(
            "t", create_schema(columns, ["id"]), PartitionSchema((HashDimension((0,), 2),))
        )
        self.rows: dict[Key, Row] = {}
        self.past: list[tuple[int, dict[Key, Row]]] = []

    def write(self, kind: RowOpKind, batch: list[Row]) -> None:
        self.rows = apply(self.rows, self.table, kind, batch)
        txn = self.store.begin()
        txn.write(self.table, operations(self.table, kind, batch))
        txn.commit(durable=False)
        self.past.append((self.store.begin().bound, exactly(self.rows)))

    def check(self) -> None:
        ids = [column.id for column in self.table.schema.columns]
        for bound, rows in self.past:
            assert exactly(read(self.store.begin(), self.table, bound)) == rows
            for key in self.rows.keys() | rows.keys():
                found = self.store.begin().lookup(self.table, key, ids, bound)
                wanted = rows.get(key)
                if wanted is None:
                    assert found is None
                else:
                    assert found is not None
                    assert [exact(cell) for cell in found] == list(wanted.values())

    def steps(self, values: list[Cell]) -> Iterator[str]:
        """Change and reorganise, naming what was done."""
        count, host = len(values), self.store.committer.tablet_services
        tablets = [self.store.tablets[info.id] for info in self.table.tablets]
        self.write(RowOpKind.INSERT, [{0: i, 1: v, 2: i} for i, v in enumerate(values)])
        yield "insert"
        self.store.flush()
        yield "flush"
        for turn in (1, 2):
            turned = values[turn:] + values[:turn]
            self.write(RowOpKind.UPDATE, [{0: i, 1: v} for i, v in enumerate(turned)])
            self.write(RowOpKind.UPDATE, [{0: i, 2: turn} for i in range(count)])
            self.store.flush()
            yield f"delta flush {turn}"
        for tablet in tablets:
            for rowset in tablet.components.tree.rowsets:
                compact_redo(tablet, rowset, host)
        yield "minor"
        for tablet in tablets:
            for rowset in tablet.components.tree.rowsets:
                compact_major(tablet, rowset, [1], host)
        yield "major"
        self.write(RowOpKind.DELETE, [{0: i} for i in range(0, count, 2)])
        self.write(RowOpKind.INSERT, [{0: i, 1: values[i], 2: 7} for i in range(0, count, 2)])
        self.store.flush()
        yield "ghosts"
        for tablet in tablets:
            compact_rowsets(tablet, tablet.components.tree.rowsets, host)
        yield "merge"
        self.store.close()
        self.store = Store(self.env, "/db", StoreOptions(threads=1, maintenance=False))
        yield "reopen"


@pytest.mark.parametrize(("kind", "encoding"), CASES, ids=lambda value: str(value))
def test_the_ends_of_a_type_survive_every_reorganisation_and_every_moment(
    kind: DataType, encoding: Encoding
) -> None:
    subject = Subject(kind, encoding)
    values = [to_cell(value, kind) for value in ends_of(kind)]
    for done in subject.steps([*values, None]):
        try:
            subject.check()
        except AssertionError as error:
            raise AssertionError(f"after {done}: {error}") from error
    assert list(DatabaseCheck(subject.env, "/db", quick=False).run()) == []
    with closing(subject.store):
        pass
