"""A segment gives the rows that were added to it, at every length that a reader may see."""

import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.memrowset_segments import (
    BatchSegment,
    MemRowSelection,
    RowSegment,
)

NUMBER = ColumnSchema(1, "n", DataType(Kind.INT32))
WORD = ColumnSchema(2, "w", DataType(Kind.STRING))
LATER = ColumnSchema(3, "later", DataType(Kind.INT32), read_default=7)


@given(batches=st.lists(st.tuples(st.integers(1, 6), st.booleans(), st.integers(0, 9)), max_size=9))
def test_a_batch_segment_reads_the_same_before_and_after_more_is_added(
    batches: list[tuple[int, bool, int]],
) -> None:
    segment = BatchSegment(100, frozenset({1, 2}))
    numbers: list[int] = []
    words: list[str] = []
    for rows, is_encoded, seen in batches:
        more = range(len(numbers), len(numbers) + rows)
        part = pa.array([f"w{n % 3}" for n in more])
        columns = {
            1: pa.array(more, pa.int32()),
            2: part.dictionary_encode() if is_encoded else part,
        }
        segment.add(columns, rows)
        numbers += more
        words += [f"w{n % 3}" for n in more]
        count = min(seen, len(numbers))
        if count:
            assert segment.column(NUMBER, count).to_pylist() == numbers[:count]
            assert segment.column(WORD, count).to_pylist() == words[:count]
            assert segment.column(LATER, count).to_pylist() == [7] * count
    for row, word in enumerate(words):
        assert segment.cell(row, WORD) == word
        assert segment.cell(row, NUMBER) == row
        assert segment.cell(row, LATER) == 7


@pytest.mark.parametrize("is_encoded", [False, True])
def test_single_cells_of_large_batches_are_the_same_before_and_after_columns_are_read(
    is_encoded: bool,
) -> None:
    segment = BatchSegment(0, frozenset({1, 2}))
    numbers: list[int | None] = [None if n % 7 == 3 else n for n in range(500)]
    words = [None if n is None else f"w{n % 5}" for n in numbers]
    for start, stop in ((0, 100), (100, 103), (103, 400), (400, 500)):
        part = pa.array(words[start:stop], pa.string())
        columns = {
            1: pa.array(numbers[start:stop], pa.int32()),
            2: part.dictionary_encode() if is_encoded else part,
        }
        segment.add(columns, stop - start)
        for _ in range(2):
            for row in range(stop):
                assert segment.cell(row, NUMBER) == numbers[row]
                assert segment.cell(row, WORD) == words[row]
            assert segment.column(NUMBER, stop).to_pylist() == numbers[:stop]


def test_cells_of_a_column_that_became_wider_are_read() -> None:
    segment = BatchSegment(0, frozenset({1}))
    segment.add({1: pa.array(range(-100, 100), pa.int32())}, 200)
    wider = ColumnSchema(1, "n", DataType(Kind.INT64))
    for _ in range(2):
        assert [segment.cell(row, wider) for row in (0, 99, 199)] == [-100, -1, 99]


def test_a_column_that_was_read_is_held_once() -> None:
    segment = BatchSegment(0, frozenset({1}))
    batches = [pa.array([n, n + 1], pa.int32()) for n in range(0, 6, 2)]
    watched = [weakref.ref(values) for values in batches]
    for values in batches:
        segment.add({1: values}, 2)
    assert segment.column(NUMBER, 3).to_pylist() == [0, 1, 2]
    del batches, values
    assert [ref() for ref in watched] == [None] * 3
    assert [segment.cell(row, NUMBER) for row in range(6)] == list(range(6))


def test_cells_that_were_read_one_by_one_do_not_keep_a_batch() -> None:
    segment = BatchSegment(0, frozenset({1}))
    batches = [pa.array(range(n, n + 500), pa.int32()) for n in (0, 500)]
    watched = [weakref.ref(values) for values in batches]
    for values in batches:
        segment.add({1: values}, 500)
    assert [segment.cell(row, NUMBER) for row in (7, 507)] == [7, 507]
    assert segment.column(NUMBER, 1000).to_pylist() == list(range(1000))
    del batches, values
    assert [ref() for ref in watched] == [None, None]
    assert [segment.cell(row, NUMBER) for row in (7, 507)] == [7, 507]


def test_small_batches_of_the_same_columns_share_a_segment() -> None:
    segment = BatchSegment(0, frozenset({1}))
    assert segment.takes({1: None}, 1_000_000) is False
    segment.add({1: pa.array([1, 2], pa.int32())}, 2)
    assert segment.takes({1: None}, 500)
    assert not segment.takes({1: None, 2: None}, 500)
    assert not segment.takes({1: None}, 1_000_000)


def test_a_row_segment_takes_rows_of_its_columns_until_it_is_full() -> None:
    segment = RowSegment(0, (1, 2))
    assert segment.takes((1, 2))
    assert not segment.takes((1,))
    segment.rows.extend((n, "x") for n in range(5000))
    assert not segment.takes((1, 2))
    assert segment.column(NUMBER, 3).to_pylist() == [0, 1, 2]
    assert segment.column(NUMBER, 5).to_pylist() == [0, 1, 2, 3, 4]
    assert segment.cell(4, LATER) == 7


def test_a_memrowset_whose_order_was_asked_for_goes_with_its_last_reference() -> None:
    encoder = KeyEncoder((NUMBER,))
    memrowset = MemRowSet(1, {1: NUMBER.type}, encoder)
    memrowset.insert_one(encoder.encode_one((5,)), (5,), (1,), Timestamp(1))
    assert memrowset.key_range() == (encoder.encode_one((5,)),) * 2
    watched = weakref.ref(memrowset)
    gc.disable()
    try:
        del memrowset
        assert watched() is None
    finally:
        gc.enable()


@given(st.data(), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_a_selection_reads_its_rows_in_its_order_from_any_segments(
    data: st.DataObject, sizes: list[int]
) -> None:
    """Few of the rows are picked segment by segment, many from all segments together."""
    segments: list[RowSegment | BatchSegment] = []
    words: list[str | None] = []
    for size in sizes:
        start, more = len(words), data.draw(st.lists(st.text(max_size=2), min_size=size))
        if data.draw(st.booleans()):
            batch = BatchSegment(start, frozenset({2}))
            batch.add({2: pa.array(more)}, len(more))
            segments.append(batch)
        else:
            single = RowSegment(start, (2,))
            single.rows.extend((word,) for word in more)
            segments.append(single)
        words += more
    every = st.permutations(range(len(words)))
    ordinals = np.array(data.draw(every)[: data.draw(st.integers(1, len(words)))], np.int64)
    selection = MemRowSelection(segments, ordinals, DeltaView(()))
    expected = [words[ordinal] for ordinal in ordinals]
    assert selection.read(WORD, 0, len(ordinals)).to_pylist() == expected
    assert selection.read(LATER, 0, len(ordinals)).to_pylist() == [7] * len(ordinals)
    assert selection.take(WORD, np.array([0])).to_pylist() == expected[:1]
