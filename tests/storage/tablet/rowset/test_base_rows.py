"""Rows of many texts that are asked for often are kept, and are the rows that a scan finds."""

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.decoded.column_cells import ColumnCells
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Encoding, Kind
from pykudu_sql.storage.errors import InternalError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.rowset.base_rows import BaseRows

ROWS = 50
INT, STRING = DataType(Kind.INT32), DataType(Kind.STRING)


class WideRows:
    """A store in memory with one table of a key and some texts, flushed."""

    def __init__(self, texts: int, rows: int = ROWS, cache_bytes: int = 1 << 20) -> None:
        options = StoreOptions(
            durability="off", threads=1, maintenance=False, block_cache_bytes=cache_bytes
        )
        self.store = Store(MemoryEnv(), "/db", options)
        plain = Encoding("PLAIN_ENCODING")
        columns = [ColumnSchema(0, "k", INT)] + [
            ColumnSchema(
                0, f"t{number}", STRING, True, encoding=plain, block_size=4096 << number // 2
            )
            for number in range(texts)
        ]
        self.store.create_table("t", create_schema(columns, ["k"]), PartitionSchema())
        self.model: dict[int, tuple[Cell, ...]] = {
            key: (key, *(f"{key}.{n}" for n in range(texts))) for key in range(rows)
        }
        self.write(RowOpKind.UPSERT, list(self.model.values()))
        self.store.flush()
        self.ids = tuple(column.id for column in self.table.schema.columns)

    @property
    def table(self) -> TableInfo:
        return self.store.catalog.table("t")

    def write(self, kind: RowOpKind, rows: list[tuple[Cell, ...]]) -> None:
        columns = self.table.schema.columns[: len(rows[0])]
        cells = {
            column.id: pa.array(values, column.type.arrow)
            for column, values in zip(columns, zip(*rows, strict=True), strict=True)
        }
        transaction = self.store.begin()
        transaction.write(self.table, RowOperations(kind, cells, len(rows)))
        transaction.commit(durable=False)

    def read(self, key: int, ids: tuple[int, ...] | None = None) -> tuple[Cell, ...] | None:
        return self.store.begin().lookup(self.table, (key,), ids or self.ids)


@pytest.fixture
def cells_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ordinals of all cells that are read of CFiles of texts."""
    ordinals: list[int] = []
    cell, cell_at = ColumnCells.cell, ColumnCells.cell_at

    def note(cells: ColumnCells, ordinal: int) -> Cell:
        if cells.has_texts:
            ordinals.append(ordinal)
        return cell(cells, ordinal)

    def note_at(cells: ColumnCells, number: int, slot: int) -> Cell:
        ordinals.append(cells.first_ordinals[number] + slot)
        return cell_at(cells, number, slot)

    monkeypatch.setattr(ColumnCells, "cell", note)
    monkeypatch.setattr(ColumnCells, "cell_at", note_at)
    return ordinals


def reads(wide: WideRows, cells_read: list[int], keys: Iterable[int]) -> list[int]:
    """How many texts each look-up takes from CFiles."""
    counts = []
    for key in keys:
        before = len(cells_read)
        assert wide.read(key) == wide.model[key]
        counts.append(len(cells_read) - before)
    return counts


def test_a_row_is_kept_at_once_where_the_cache_has_room(cells_read: list[int]) -> None:
    wide = WideRows(4)
    assert reads(wide, cells_read, [7, 8, 7, 7, 7, 8, 8]) == [4, 4, 0, 0, 0, 0, 0]


def test_else_a_row_asked_for_twice_is_kept_and_one_asked_for_once_is_not(
    cells_read: list[int],
) -> None:
    wide = WideRows(4, cache_bytes=100_000)
    wide.store.cache.put(("others",), "more than half", 60_000)
    assert reads(wide, cells_read, [7, 8, 7, 7, 7, 8, 8]) == [4, 4, 4, 0, 0, 4, 0]


def test_rows_of_few_texts_are_not_kept(cells_read: list[int]) -> None:
    assert reads(WideRows(2), cells_read, [7] * 4) == [2] * 4


def test_other_columns_of_a_row_are_rows_of_their_own(cells_read: list[int]) -> None:
    wide = WideRows(5)
    fewer = (wide.ids[5], wide.ids[1], wide.ids[3])
    for _ in range(3):
        assert wide.read(9) == wide.model[9]
        assert wide.read(9, fewer) == ("9.4", "9.0", "9.2")
    assert len(cells_read) == 5 + 3


def test_cells_come_in_the_order_of_the_columns_and_others_than_those_of_rows_are_refused() -> None:
    wide = WideRows(3)
    k, *texts = wide.ids
    assert wide.read(9, (texts[2], k, texts[0])) == ("9.2", 9, "9.0")
    (tablet,) = wide.store.tablets.values()
    (rowset,) = tablet.components.tree.rowsets
    for ordinal in (-1, ROWS):
        with pytest.raises(InternalError):
            rowset.base.cells(wide.table.schema.columns, ordinal)


def test_columns_whose_blocks_have_other_rows_are_read_in_a_row() -> None:
    wide = WideRows(4, rows=3_000)
    (tablet,) = wide.store.tablets.values()
    (rowset,) = tablet.components.tree.rowsets
    cfiles = [rowset.base.cfile(column) for column in wide.ids[1:]]
    assert len({len(cfile.first_ordinals) for cfile in cfiles if cfile is not None}) > 1
    assert [wide.read(key) for key in range(0, 3_000, 37)] == [
        wide.model[key] for key in range(0, 3_000, 37)
    ]


def test_a_row_that_was_kept_is_not_kept_of_another_image_of_its_file(
    cells_read: list[int],
) -> None:
    wide = WideRows(4)
    for _ in range(3):
        wide.read(3)
    wide.model[3] = (3, "new", *wide.model[3][2:])
    wide.write(RowOpKind.UPSERT, [wide.model[3]])
    assert wide.read(3) == wide.model[3]
    for tablet in wide.store.tablets.values():
        for rowset in tablet.components.tree.rowsets:
            assert rowset.base.cells(wide.table.schema.select(wide.ids), 3)[1] == "3.0"
    wide.store.flush()
    assert wide.read(3) == wide.model[3]


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["read", "read", "set", "delete", "flush"]), st.integers(0, 3)),
        max_size=30,
    )
)
def test_a_look_up_finds_what_was_written_last(steps: list[tuple[str, int]]) -> None:
    wide = WideRows(3)
    for number, (step, key) in enumerate(steps):
        if step == "set":
            wide.model[key] = (key, f"new {number}", None, f"{key}.2")
            wide.write(RowOpKind.UPSERT, [wide.model[key]])
        elif step == "delete" and key in wide.model:
            del wide.model[key]
            wide.write(RowOpKind.DELETE, [(key,)])
        elif step == "flush":
            wide.store.flush()
        for each in range(4):
            assert wide.read(each) == wide.model.get(each)


def test_an_added_column_reads_as_its_default_in_rows_that_were_kept(
    cells_read: list[int],
) -> None:
    wide = WideRows(4)
    (columns,) = {tuple(wide.table.schema.columns)}
    added = replace(columns[1], id=99, name="new", read_default="d")
    (tablet,) = wide.store.tablets.values()
    (rowset,) = tablet.components.tree.rowsets
    wider = (*columns, added)
    for _ in range(3):
        assert rowset.base.cells(columns, 5) == wide.model[5]
        assert rowset.base.cells(wider, 5) == (*wide.model[5], "d")


def test_a_column_without_a_file_is_its_default_in_each_row() -> None:
    columns = tuple(ColumnSchema(n, f"t{n}", STRING, read_default=f"d{n}") for n in range(4))
    rows = BaseRows(columns, [None] * 4, "file", BlockCache(1000))
    assert [rows.read(ordinal) for ordinal in (0, 9, 9, 9)] == [("d0", "d1", "d2", "d3")] * 4
