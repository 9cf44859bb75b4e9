"""Skip indexes: no value that a column has is ever excluded, and few others are let pass."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.skip_index import SkipIndex, equality_values
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, InList, IsNull, Op
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind, decimal_type
from pykudu_sql.storage.errors import CorruptionError

INT = DataType(Kind.INT32)
DOUBLE = DataType(Kind.DOUBLE)
STRING = DataType(Kind.STRING)
BOOL = DataType(Kind.BOOL)

_CELLS = st.one_of(
    st.tuples(st.just(INT), st.lists(st.none() | st.integers(-(2**31), 2**31 - 1))),
    st.tuples(st.just(DOUBLE), st.lists(st.none() | st.floats())),
    st.tuples(st.just(STRING), st.lists(st.none() | st.text(max_size=20))),
    st.tuples(st.just(BOOL), st.lists(st.none() | st.booleans())),
    *(
        st.tuples(st.just(decimal_type(digits, 2)), st.lists(st.none() | st.integers(-999, 999)))
        for digits in (6, 18, 38)
    ),
)


@settings(max_examples=60, deadline=None)
@given(_CELLS)
def test_no_value_of_the_column_is_excluded_also_after_a_way_through_bytes(
    column: tuple[DataType, list[Cell]],
) -> None:
    kind, cells = column
    index = SkipIndex.build(cells_to_array(cells, kind), kind)
    again = SkipIndex.from_bytes(index.to_bytes(), kind)
    for cell in cells:
        if cell is not None:
            assert not index.excludes([cell])
            assert not again.excludes([cell])


def test_few_values_that_the_column_lacks_are_let_pass() -> None:
    index = SkipIndex.build(cells_to_array(list(range(0, 20_000, 2)), INT), INT)
    passed = sum(not index.excludes([odd]) for odd in range(1, 4_000, 2))
    assert passed < 60


def test_a_list_is_excluded_only_when_all_of_its_values_are() -> None:
    index = SkipIndex.build(cells_to_array(["ann", "bob", None], STRING), STRING)
    assert index.excludes(["kim", "zoe"])
    assert not index.excludes(["kim", "bob"])
    assert index.excludes([])


def test_words_of_a_dictionary_that_no_row_has_do_no_harm() -> None:
    cells = pa.DictionaryArray.from_arrays(pa.array([1, None, 1]), pa.array(["a", "b", "c"]))
    index = SkipIndex.build(cells, STRING)
    assert not index.excludes(["b"])
    assert index.excludes(["zoe"])


def test_zeros_of_either_sign_are_one_value_and_so_are_all_nan() -> None:
    index = SkipIndex.build(cells_to_array([-0.0, float("nan")], DOUBLE), DOUBLE)
    assert not index.excludes([0.0])
    assert not index.excludes([-float("nan")])


def test_texts_longer_than_a_key_may_be_are_indexed_by_how_they_begin() -> None:
    long = "x" * 40_000
    index = SkipIndex.build(cells_to_array([long], STRING), STRING)
    assert not index.excludes([long])
    assert index.excludes(["y" + long])


def test_only_equalities_and_lists_ask_for_values() -> None:
    assert equality_values(Comparison(1, Op.EQ, 5)) == (5,)
    assert equality_values(InList(1, (5, 6))) == (5, 6)
    assert equality_values(Comparison(1, Op.LT, 5)) is None
    assert equality_values(IsNull(1)) is None


def test_bytes_that_are_no_filter_are_named_corrupt() -> None:
    with pytest.raises(CorruptionError):
        SkipIndex.from_bytes(b"\x01\x00", INT)
