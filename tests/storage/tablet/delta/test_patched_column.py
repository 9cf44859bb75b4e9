"""A patched column goes on with later changes, and has what its base has with all of them."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.arrays import cells_to_array, constant_array, plain
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Deltas, uniform_deltas
from pykudu_sql.storage.tablet.delta.patched_column import PatchedColumn, cells_at, patch_whole

ROWS = 40
TEXT = DataType(Kind.STRING)
WIDE = DataType(Kind.DECIMAL, 30, 2)
CELLS: dict[DataType, st.SearchStrategy[Cell]] = {
    DataType(Kind.INT32): st.integers(-9, 9),
    DataType(Kind.DOUBLE): st.floats(-9, 9),
    DataType(Kind.BOOL): st.booleans(),
    WIDE: st.integers(-(10**25), 10**25),
    TEXT: st.sampled_from(["", "short", "twelve bytes", "thirteen byte", "a text ä " * 9]),
    DataType(Kind.BINARY): st.sampled_from([b"", b"\xff" * 20]),
}


def changes(rows: Sequence[int], cells: Sequence[Cell], column_type: DataType, time: int) -> Deltas:
    values = cells_to_array(list(cells), column_type)
    ordinals = np.array(rows, np.int64)
    return uniform_deltas(DeltaKind.UPDATE, ordinals, {1: values}, Timestamp(time))


def texts(column: PatchedColumn) -> list[str]:
    return plain(column.array).to_pylist()


def of_texts(count: int = ROWS) -> PatchedColumn:
    base = pa.array([f"the text of row {row}" for row in range(count)])
    change = np.array([1], np.int64), pa.array(["another text of row 1"])
    column = patch_whole(base, [change], TEXT, Timestamp(1))
    assert column is not None
    return column


@given(st.data(), st.sampled_from(list(CELLS)), st.booleans(), st.booleans())
def test_later_changes_come_to_what_all_come_to(
    data: st.DataObject, column_type: DataType, with_nulls: bool, is_coded: bool
) -> None:
    cell = CELLS[column_type] | st.none() if with_nulls else CELLS[column_type]
    expected = data.draw(st.lists(cell, min_size=ROWS, max_size=ROWS))
    base = cells_to_array(expected, column_type)
    if is_coded and column_type.is_variable:
        base = _in_narrow_codes(base)
    first = cells_to_array([expected[3]], column_type)
    column = patch_whole(base, [(np.array([3], np.int64), first)], column_type, Timestamp(1))
    if column is None:
        assert column_type.kind is Kind.BINARY
        return
    held = []
    rows = st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=9, unique=True)
    for time in range(2, data.draw(st.integers(2, 8))):
        batches = []
        for _ in range(data.draw(st.integers(0, 3))):
            changed = data.draw(rows)
            cells = [data.draw(cell) for _ in changed]
            batches.append(changes(changed, cells, column_type, time))
            for row, value in zip(changed, cells, strict=True):
                expected[row] = value
        advanced = column.advance(batches, 1, Timestamp(time))
        assert advanced is not None
        column = advanced
        wanted = cells_to_array(expected, column_type)
        assert plain(column.array).equals(wanted)
        some = np.array([0, 3, ROWS - 1], np.int64)
        assert plain(cells_at(column.array, some)).equals(wanted.take(pa.array(some)))
        if data.draw(st.booleans()):
            held.append((column.array.slice(5, 20), wanted.slice(5, 20)))
    for slice_of_then, wanted in held:
        assert plain(slice_of_then).equals(wanted)


@pytest.mark.parametrize("column_type", [t for t in CELLS if t.kind is not Kind.BINARY])
def test_a_column_without_any_cell_yet_takes_cells_and_loses_them(column_type: DataType) -> None:
    base = constant_array(None, column_type, ROWS)
    cells: dict[DataType, Cell] = {TEXT: "a text of some size", DataType(Kind.BOOL): True}
    cell = cells.get(column_type, 10)
    one = cells_to_array([cell], column_type)
    column = patch_whole(base, [(np.array([1]), one)], column_type, Timestamp(1))
    assert column is not None
    assert plain(column.array).drop_null().equals(one)
    assert column.array.slice(1, 1).null_count == 0
    held = column.array
    emptied = column.advance([changes([1], [None], column_type, 2)], 1, Timestamp(2))
    assert emptied is not None and emptied.array.null_count == ROWS
    assert held.null_count == ROWS - 1


def _in_narrow_codes(values: pa.Array) -> pa.DictionaryArray:
    """As a CFile has them."""
    encoded = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(pa.int8()), encoded.dictionary)


def test_words_of_a_dictionary_stay_codes_however_many_come() -> None:
    texts_of_base = [f"word {row % 8}" for row in range(1000)]
    base = _in_narrow_codes(pa.array(texts_of_base))
    few = (np.array([7, 7, 9]), pa.array(["new", "word 3", "new"]))
    column = patch_whole(base, [few], TEXT, Timestamp(1))
    assert column is not None and column.array.indices.type == pa.int8()
    assert texts(column)[6:10] == ["word 6", "word 3", "word 0", "new"]
    assert len(column.array.dictionary) == 9
    rows = list(range(200))
    many = changes(rows, [f"another {row}" for row in rows], TEXT, 2)
    wider = column.advance([many], 1, Timestamp(2))
    assert wider is not None and wider.array.indices.type == pa.int32()
    assert texts(wider) == [f"another {row}" for row in rows] + texts_of_base[200:]


def test_a_dictionary_does_not_grow_without_end() -> None:
    base = _in_narrow_codes(pa.array(["word"] * ROWS))
    column = patch_whole(base, [(np.array([1]), pa.array(["new"]))], TEXT, Timestamp(1))
    rows = list(range(ROWS)) * 500
    for time in range(2, 9):
        assert column is not None
        words: list[Cell] = [f"{time} {number}" for number in range(len(rows))]
        column = column.advance([changes(rows, words, TEXT, time)], 1, Timestamp(time))
        if column is None:
            return
    pytest.fail("words without end")


@pytest.mark.parametrize("is_held", [True, False])
def test_cells_are_copied_only_while_somebody_has_them(is_held: bool) -> None:
    column = of_texts()
    held = column.array.slice(2, 3) if is_held else None
    address = column.array.buffers()[1].address
    column = _next(column)
    assert (column.array.buffers()[1].address == address) is not is_held
    assert texts(column)[2] == "a later text of row 2"
    assert held is None or plain(held).to_pylist()[0] == "the text of row 2"


def _next(column: PatchedColumn, time: int = 2) -> PatchedColumn:
    advanced = column.advance(
        [changes([2], ["a later text of row 2"], TEXT, time)], 1, Timestamp(time)
    )
    assert advanced is not None
    return advanced


def test_what_somebody_has_stays_when_nothing_changes_before_the_next_change() -> None:
    column = of_texts()
    held = column.array.slice(2, 3)
    unchanged = column.advance([], 1, Timestamp(2))
    assert unchanged is not None
    changed = _next(unchanged, 3)
    assert plain(held).to_pylist()[0] == "the text of row 2"
    assert texts(changed)[2] == "a later text of row 2"


def test_a_column_that_somebody_went_on_with_has_nothing_left() -> None:
    column = of_texts()
    _next(column)
    assert column.array is None
    assert column.advance([], 1, Timestamp(3)) is None


def test_texts_that_were_changed_very_often_are_patched_from_their_base() -> None:
    column: PatchedColumn | None = of_texts()
    for time in range(2, 200):
        assert column is not None
        column = column.advance(
            [changes([2], ["a text of some size"], TEXT, time)], 1, Timestamp(time)
        )
        if column is None:
            return
    pytest.fail("buffers without end")


def test_what_lies_below_a_null_is_not_among_the_lengths_of_texts() -> None:
    data = [pa.py_buffer(b"\x0d"), pa.array([0, 20, 45, 45, 60], pa.int32()).buffers()[1]]
    base = pa.Array.from_buffers(pa.string(), 4, [*data, pa.py_buffer(b"x" * 60)])
    column = patch_whole(base, [(np.array([0]), pa.array(["a new text here"]))], TEXT, Timestamp(1))
    assert column is not None
    lengths = np.frombuffer(column.array.buffers()[1], np.int32)[::4]
    assert lengths.tolist() == [15, 0, 0, 15]


def test_a_column_counts_the_bytes_of_its_cells_and_texts() -> None:
    column = of_texts()
    assert column.size >= 16 * ROWS + sum(map(len, texts(column)))
    tens = pa.array([Decimal(1)] * ROWS, WIDE.arrow)
    column_of_tens = patch_whole(tens, [(np.array([1]), tens[:1])], WIDE, Timestamp(1))
    assert column_of_tens is not None and column_of_tens.size == 16 * ROWS


@given(st.booleans(), st.booleans())
def test_the_base_stays_as_it_was(is_view: bool, is_slice: bool) -> None:
    base = pa.array(["a text of a row", "short", None] * ROWS)
    base = base.cast(pa.string_view()) if is_view else base
    base = base.slice(4) if is_slice else base
    before = base.to_pylist()
    column = patch_whole(base, [(np.array([0, 2]), pa.array(["new", None]))], TEXT, Timestamp(1))
    assert column is not None
    assert texts(column) == ["new", before[1], None, *before[3:]]
    assert base.to_pylist() == before


def test_views_that_others_have_stay_as_they_are() -> None:
    held = pa.array(["a text of the base", "short", "another of the base"]).cast(pa.string_view())
    given = pa.array(["a text that is set", "new"]).cast(pa.string_view())
    before = held.to_pylist(), given.to_pylist()
    column = patch_whole(held, [(np.array([0, 1]), given)], TEXT, Timestamp(1))
    assert column is not None
    assert texts(column) == [*before[1], "another of the base"]
    assert (held.to_pylist(), given.to_pylist()) == before
