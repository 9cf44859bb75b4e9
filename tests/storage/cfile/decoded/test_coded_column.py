"""A column in codes answers a predicate as its values do, or not at all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.decoded.coded_column import CodedColumn, coded_words
from pykudu_sql.storage.cfile.decoded.word_test import WordTest
from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Op,
    Or,
    Predicate,
)
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, Compression, DataType, Encoding
from pykudu_sql.storage.errors import InternalError
from tests.properties.examples import examples

COLUMN = 7


def stored(files: Any, cells: Sequence[Cell], column_type: DataType, encoding: str) -> Any:
    values = cells_to_array(cells, column_type)
    encoded = encode_column(
        column_type, Encoding(encoding), Compression.NO_COMPRESSION, 4096, values
    )
    return files.open(files.write({"c": encoded})).cfile("c")


def coded(files: Any, cells: Sequence[Cell], type_name: str) -> CodedColumn | None:
    cfile = stored(files, cells, parse_type(type_name), "AUTO_ENCODING")
    assert cfile.coded(0, len(cells)) is None  # nothing of it is decoded
    cfile.read_all()
    column: CodedColumn | None = cfile.coded(0, len(cells))
    again = cfile.coded(0, len(cells))
    if column is not None:  # kept
        assert np.shares_memory(again.codes, column.codes)
        assert cfile.coded(1, len(cells)).codes.tolist() == column.codes[1:].tolist()
    else:
        assert again is None
    return column


@pytest.mark.parametrize(
    ("type_name", "low", "high", "code"),
    [
        ("BIGINT", -(2**63), -(2**63) + 255, np.uint8),
        ("BIGINT", 2**63 - 256, 2**63 - 1, np.uint8),
        ("BIGINT", -5, 251, np.uint16),
        ("BIGINT", 0, 65_535, np.uint16),
        ("INT", -(2**31), -(2**31) + 65_535, np.uint16),
        ("SMALLINT", -100, 100, np.uint8),
        ("DATE", 8_000, 10_500, np.uint16),
        ("DECIMAL(15, 2)", -3, 7, np.uint8),
        ("TIMESTAMP", 0, 65_535, np.uint16),
    ],
)
def test_close_integers_have_codes_of_one_or_two_bytes(
    files: Any, type_name: str, low: int, high: int, code: Any
) -> None:
    cells = [high, low, None, low + 1, high - 1] * 10
    column = coded(files, cells, type_name)
    assert column is not None
    assert column.codes.dtype == code
    for op in Op:
        for value in (low, low + 1, high - 1, high):
            predicate = Comparison(COLUMN, op, value)
            whole = {COLUMN: cells_to_array(cells, column.type)}
            expected = evaluate(predicate, whole, {COLUMN: column.type})
            mask = column.matches(predicate, COLUMN)
            assert mask is not None
            assert mask.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("type_name", "cells", "code"),
    [
        ("DECIMAL(15, 2)", [100, None, 5_000, 2_400], np.uint8),
        ("DECIMAL(15, 2)", [-25_500, 0, 0, 300], np.uint16),
        ("DECIMAL(15, 2)", [100, 5_000, 2_401], np.uint16),
        ("DECIMAL(18, 4)", [10_000 * n + 3 for n in (-(10**9), -(10**9) + 255)], np.uint8),
        ("DECIMAL(18, 12)", [n * 10**12 for n in (0, 29_999, 29_998)], np.uint16),
        ("DECIMAL(18, 16)", [n * 10**16 for n in (99, -99, 98)], np.uint8),
        ("DECIMAL(9, 9)", [-999_999_999, -999_999_998], np.uint8),
        ("BIGINT", [100, 5_000], np.uint16),
    ],
)
def test_decimals_with_nothing_behind_the_point_have_codes_of_their_units(
    files: Any, type_name: str, cells: list[Cell], code: Any
) -> None:
    cells = cells * 600
    column = coded(files, cells, type_name)
    assert column is not None
    assert column.codes.dtype == code
    whole, types = {COLUMN: cells_to_array(cells, column.type)}, {COLUMN: column.type}
    for op in Op:
        for value in (0, 99, 100, 101, 2_400, 2_401, 5_000, -25_500, cells[0], cells[1] or 0):
            predicate = Comparison(COLUMN, op, value)
            expected = evaluate(predicate, whole, types).tolist()
            assert column.matches(predicate, COLUMN).tolist() == expected


def test_one_number_off_the_unit_far_behind_is_seen(files: Any) -> None:
    cells: list[Cell] = [100 * (n % 50) for n in range(5_000)]
    cells[-1] = 101
    column = coded(files, cells, "DECIMAL(15, 2)")
    assert column is not None
    assert column.codes.dtype == np.uint16
    assert column.matches(Comparison(COLUMN, Op.EQ, 101), COLUMN).tolist() == [
        *[False] * 4_999,
        True,
    ]


@pytest.mark.parametrize(
    ("type_name", "cells"),
    [
        ("BIGINT", [0, 65_536]),
        ("BIGINT", [-(2**63), 2**63 - 1]),
        ("TINYINT", [1, 2]),
        ("SMALLINT", [0, 256]),
        ("DOUBLE", [1.0, 2.0]),
        ("BOOLEAN", [True, False]),
        ("DECIMAL(38, 0)", [1, 2]),
        ("BIGINT", [None, None]),
    ],
)
def test_others_have_none(files: Any, type_name: str, cells: Sequence[Cell]) -> None:
    assert coded(files, cells, type_name) is None


def test_codes_crowd_nothing_out_of_the_cache(files: Any) -> None:
    cfile = stored(files, list(range(100)), parse_type("BIGINT"), "PLAIN_ENCODING")
    cache: BlockCache = cfile._cache
    cfile.read_all()
    cache.put(("another", "column"), object(), cache.capacity - cache.used - 10)
    assert cfile.coded(0, 100) is None
    cache.pop(("another", "column"))
    assert cfile.coded(0, 100) is not None


def test_rows_that_a_column_does_not_have_are_refused_when_it_is_decoded(files: Any) -> None:
    cfile = stored(files, [1, 2, 3], parse_type("BIGINT"), "PLAIN_ENCODING")
    cfile.read_all()
    for ordinals in ([0, 3], [-1, 2]):
        with pytest.raises(InternalError, match="outside the rows"):
            cfile.take(np.array(ordinals, np.int64))


values = st.one_of(st.none(), st.integers(-4, 20))
leaves = st.one_of(
    st.builds(Comparison, st.just(COLUMN), st.sampled_from(Op), st.integers(-6, 22)),
    st.builds(
        lambda members: InList(COLUMN, tuple(members)), st.lists(st.integers(-6, 22), max_size=12)
    ),
    st.just(IsNull(COLUMN)),
    st.just(IsNotNull(COLUMN)),
)
trees: st.SearchStrategy[Predicate] = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.builds(lambda some: And(tuple(some)), st.lists(parts, max_size=3)),
        st.builds(lambda some: Or(tuple(some)), st.lists(parts, max_size=3)),
    ),
    max_leaves=5,
)


@settings(max_examples=examples(200))
@given(st.lists(values, min_size=1, max_size=40), trees, st.data())
def test_any_predicate_holds_for_the_same_rows(
    cells: list[int | None], predicate: Predicate, data: st.DataObject
) -> None:
    bigint = parse_type("BIGINT")
    start = data.draw(st.integers(0, len(cells)))
    stop = data.draw(st.integers(start, len(cells)))
    array = cells_to_array(cells, bigint)
    column = coded_words(array.dictionary_encode(), bigint, WordTest())
    expected = evaluate(predicate, {COLUMN: array.slice(start, stop - start)}, {COLUMN: bigint})
    mask = column.slice(start, stop).matches(predicate, COLUMN)
    assert mask.tolist() == expected.tolist()


def test_words_at_many_places_or_side_by_side_are_looked_up() -> None:
    bigint = parse_type("BIGINT")
    array = pa.array(range(40), pa.int64())
    column = coded_words(array.dictionary_encode(), bigint, WordTest())
    for members in (tuple(range(0, 40, 2)), tuple(range(5, 30))):
        mask = column.matches(InList(COLUMN, members), COLUMN)
        assert tuple(np.flatnonzero(mask).tolist()) == members
