"""Runs of equal keys become groups; blocks that share a group make one of it."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.executor.reading.groups.group_runs import Groups, GroupShape, State, StateKind
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

K = ColumnSchema(0, "k", DataType(Kind.INT32), nullable=False)
WORD = ColumnSchema(1, "word", DataType(Kind.STRING), nullable=False)
V = ColumnSchema(2, "v", DataType(Kind.INT64))
STATES = (
    State(StateKind.COUNT),
    State(StateKind.COUNT, 0),
    State(StateKind.SUM, 0),
    State(StateKind.LEAST, 0),
    State(StateKind.GREATEST, 0),
)
SHAPE = GroupShape((K, WORD), (V,), STATES)
Row = tuple[int, str, int | None]
LIMIT = (1 << 63) - 1

numbers = st.none() | st.integers(-LIMIT - 1, LIMIT) | st.integers(-9, 9)
rows_of_groups = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("ab"), numbers), max_size=40)


def blocks_of(rows: Sequence[Row], cuts: Sequence[int], encoded: bool) -> list[RowBlock]:
    edges = [0, *sorted(cut % (len(rows) + 1) for cut in cuts), len(rows)]
    blocks = []
    for start, stop in pairwise(edges):
        if start == stop:
            continue
        keys, words, values = zip(*rows[start:stop], strict=True)
        texts = pa.array(words, pa.string())
        columns = [
            pa.array(keys, pa.int32()),
            texts.dictionary_encode() if encoded else texts,
            pa.array(values, pa.int64()),
        ]
        blocks.append(RowBlock(columns, stop - start))
    return blocks


def number(words: Sequence[np.uint64]) -> int:
    return int.from_bytes(np.array(words, "<u8").tobytes(), "little", signed=True)


def rows_of(parts: Sequence[Groups]) -> list[tuple[Any, ...]]:
    rows = []
    for groups in parts:
        for place in range(len(groups)):
            count, present, total, least, greatest = (each[place] for each in groups.states)
            extremes = (int(least), int(greatest)) if present else (None, None)
            rows.append((*groups.key(place), count, present, number(total), *extremes))
    return rows


@given(rows_of_groups, st.lists(st.integers(0, 40), max_size=5), st.booleans())
def test_groups_are_those_of_the_rows_however_they_are_cut(
    rows: list[Row], cuts: list[int], encoded: bool
) -> None:
    rows.sort(key=itemgetter(0, 1))
    expected = []
    for key, members in groupby(rows, key=itemgetter(0, 1)):
        cells = [value for _, _, value in members]
        present = [value for value in cells if value is not None]
        extremes = (min(present), max(present)) if present else (None, None)
        expected.append((*key, len(cells), len(present), sum(present), *extremes))
    parts = map(SHAPE.groups_of, blocks_of(rows, cuts, encoded))
    assert rows_of(list(SHAPE.joined(parts))) == expected


@pytest.mark.parametrize("value", [LIMIT, -LIMIT - 1])
def test_sums_have_more_than_64_bits(value: int) -> None:
    rows: list[Row] = [(1, "a", value)] * 1000
    for cuts in ([], [300, 301]):
        parts = list(SHAPE.joined(map(SHAPE.groups_of, blocks_of(rows, cuts, encoded=False))))
        (row,) = rows_of(parts)
        assert row[4] == 1000 * value


def test_merging_leaves_the_states_of_the_parts_alone() -> None:
    rows: list[Row] = [(1, "a", 1), (1, "a", 2)]
    parts = [SHAPE.groups_of(block) for block in blocks_of(rows, [1], encoded=False)]
    before = rows_of(parts)
    assert rows_of(list(SHAPE.joined(parts))) == [(1, "a", 2, 2, 3, 1, 2)]
    assert rows_of(parts) == before
