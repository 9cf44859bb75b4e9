"""Crossing between Arrow, numpy and cells, and coercion of what users hand over."""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.types.arrays import (
    array_to_cells,
    cells_to_array,
    combine,
    constant_array,
    fixed_view,
    from_fixed,
    plain,
    validity,
)
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind, decimal_type
from pykudu_sql.storage.errors import InvalidValueError, ValueOutOfRangeError, ValueTooLargeError
from tests.storage.common.strategies import ALL_TYPES, cells

Column = tuple[DataType, list[Cell]]


@st.composite
def columns(draw: st.DrawFn) -> Column:
    """A type and cells of it, some NULL."""
    kind = draw(st.sampled_from(ALL_TYPES))
    return kind, draw(st.lists(st.none() | cells(kind), max_size=20))


def _same(left: list[Cell], right: list[Cell]) -> bool:
    return [repr(cell) for cell in left] == [repr(cell) for cell in right]


@given(columns())
def test_cells_survive_the_way_through_arrow(column: Column) -> None:
    kind, values = column
    array = cells_to_array(values, kind)
    assert array.type == kind.arrow
    assert _same(array_to_cells(array, kind), values)
    assert _same(array_to_cells(array.slice(1), kind), values[1:])
    if kind.is_variable:
        assert array_to_cells(array.dictionary_encode(), kind) == values
        assert plain(array.dictionary_encode()).equals(array)


@given(columns())
def test_few_cells_become_what_many_do(column: Column) -> None:
    kind, values = column
    few, many = cells_to_array(values, kind), cells_to_array(values * 70, kind)
    few.validate(full=True)
    assert _same(array_to_cells(few, kind), array_to_cells(many, kind)[: len(values)])
    assert few.null_count == values.count(None)


@given(columns())
def test_stored_values_survive_the_way_through_numpy(column: Column) -> None:
    kind, values = column
    if kind.is_variable:
        return
    array = cells_to_array(values, kind).slice(1)
    stored, valid = fixed_view(array, kind), validity(array)
    assert len(stored) == len(array)
    back = from_fixed(stored, kind, valid)
    assert back.type == kind.arrow
    assert _same(array_to_cells(back, kind), values[1:])


@given(columns())
def test_a_columns_own_values_are_coerced_to_themselves(column: Column) -> None:
    kind, values = column
    array = cells_to_array(values, kind)
    assert _same(array_to_cells(coerce(array, kind, "c"), kind), values)
    halves = pa.chunked_array([array.slice(0, 2), array.slice(2)])
    assert coerce(halves, kind, "c").equals(combine(halves)) or "nan" in repr(values)


@given(columns(), st.integers(0, 5))
def test_a_constant_array_repeats_its_cell(column: Column, length: int) -> None:
    kind, values = column
    for cell in values[:1]:
        array = constant_array(cell, kind, length)
        assert _same(array_to_cells(array, kind), [cell] * length)


@given(
    st.lists(st.none() | st.decimals(-999, 999, places=4), max_size=10),
    st.sampled_from(
        (decimal_type(5, 1), decimal_type(9, 2), decimal_type(18, 3), decimal_type(38, 2))
    ),
)
def test_decimals_of_larger_scale_are_rounded_half_up(
    values: list[Decimal | None], kind: DataType
) -> None:
    array = coerce(pa.array(values, pa.decimal128(20, 4)), kind, "c")
    unit = Decimal(1).scaleb(-kind.scale)
    expected = [
        None if v is None else to_cell(v.quantize(unit, ROUND_HALF_UP), kind) for v in values
    ]
    assert array_to_cells(array, kind) == expected


@pytest.mark.parametrize(
    ("name", "given_values", "expected"),
    [
        ("TINYINT", pa.array([1, None, -128]), [1, None, -128]),
        ("BIGINT", pa.array([1.0, 2.0]), [1, 2]),
        ("INT", pa.array(["5"]), [5]),
        ("INT", pa.array([None]), [None]),
        ("DOUBLE", pa.array([1, 2]), [1.0, 2.0]),
        ("BOOLEAN", pa.array([1, None, 0]), [True, None, False]),
        ("FLOAT", pa.array([0.5, None, float("inf")]), [0.5, None, float("inf")]),
        ("DECIMAL(9,2)", pa.array([1, -2]), [100, -200]),
        ("DECIMAL(9,2)", pa.array([1.25]), [125]),
        ("DECIMAL(9,2)", pa.array(["1.25"]), [125]),
        ("DECIMAL(38,2)", pa.array([5]), [500]),
        ("DECIMAL(18,2)", pa.array([], pa.decimal128(38, 2)), []),
        ("VARCHAR(2)", pa.array(["abc", "é\U0001f600x", None]), ["ab", "é\U0001f600", None]),
        ("STRING", pa.array(["a"], pa.large_string()), ["a"]),
        ("STRING", pa.array([b"a"]), ["a"]),
        ("BINARY", pa.array(["a"]), [b"a"]),
        ("TIMESTAMP", pa.array([1500, 2499], pa.timestamp("ns")), [2, 2]),
        ("TIMESTAMP", pa.array([1], pa.timestamp("s", "Europe/Berlin")), [1_000_000]),
        ("TIMESTAMP", pa.array(["1970-01-01 00:00:01", None]), [1_000_000, None]),
        (
            "TIMESTAMP",
            pa.array(["1970-01-01T02:00:01+02:00", "1970-01-01 00:00:02", "1970-01-01 00:00:03Z"]),
            [1_000_000, 2_000_000, 3_000_000],
        ),
        ("DATE", pa.array(["1970-01-02"]), [1]),
    ],
)
def test_foreign_values_become_the_columns_own(
    name: str, given_values: pa.Array, expected: list[Cell]
) -> None:
    kind = parse_type(name)
    assert array_to_cells(coerce(given_values, kind, "c"), kind) == expected


@pytest.mark.parametrize(
    ("name", "given_values", "error"),
    [
        ("TINYINT", pa.array([128]), ValueOutOfRangeError),
        ("INT", pa.array([1.5]), InvalidValueError),
        ("DATE", pa.array([19000]), InvalidValueError),
        ("BOOLEAN", pa.array([0, 2]), InvalidValueError),
        ("BOOLEAN", pa.array([0.5]), InvalidValueError),
        ("FLOAT", pa.array([1.0, 1e39]), ValueOutOfRangeError),
        ("INT", pa.array(["x"]), InvalidValueError),
        ("DECIMAL(3,1)", pa.array([100]), ValueOutOfRangeError),
        ("DECIMAL(20,1)", pa.array([10**19], pa.decimal128(38, 0)).slice(0, 0), None),
        ("DATE", pa.array([10**7], pa.int32()).cast(pa.date32()), ValueOutOfRangeError),
        ("STRING", pa.array([b"\xff"]), InvalidValueError),
        ("INT", pa.array([[1]]), InvalidValueError),
    ],
)
def test_values_that_do_not_fit_name_the_column(
    name: str, given_values: pa.Array, error: type[Exception] | None
) -> None:
    if error is None:
        assert len(coerce(given_values, parse_type(name), "price")) == 0
        return
    with pytest.raises(error, match="column 'price'"):
        coerce(given_values, parse_type(name), "price")


def test_a_dictionary_stays_one() -> None:
    words = pa.array(["abc", "abc", None]).dictionary_encode()
    kept = coerce(words, DataType(Kind.VARCHAR, length=2), "c")
    assert pa.types.is_dictionary(kept.type)
    assert kept.to_pylist() == ["ab", "ab", None]


def test_validity_is_none_without_nulls() -> None:
    assert validity(pa.array([1, 2])) is None
    mask = validity(pa.array([1, None]))
    assert mask is not None
    assert mask.tolist() == [True, False]
    assert from_fixed(np.array([1, 2], "<i4"), DataType(Kind.INT32), mask).null_count == 1


def test_strings_over_two_gibibytes_together_are_refused_and_none_is_dropped() -> None:
    chunk = pa.array(["x" * (1 << 20)] * 64)
    with pytest.raises(ValueTooLargeError, match="2 GiB"):
        combine(pa.chunked_array([chunk] * 33))


@pytest.mark.parametrize("precision", [9, 18, 38])
def test_a_decimal_of_more_digits_than_its_arrow_type_says_is_refused(precision: int) -> None:
    column_type = DataType(Kind.DECIMAL, precision=precision, scale=2)
    for sign in (1, -1):
        beyond = (sign * 10**precision).to_bytes(column_type.width, "little", signed=True)
        array = pa.Array.from_buffers(column_type.arrow, 1, [None, pa.py_buffer(beyond)])
        with pytest.raises(ValueOutOfRangeError, match=r"column 'x': value -?10{6,}.* is out of"):
            coerce(array, column_type, "x")


def test_texts_are_rounded_to_a_decimal_as_a_value_alone_is() -> None:
    column_type = DataType(Kind.DECIMAL, precision=38, scale=1)
    texts = ["0.25", "-1e-40", None, "  7 ", f"0.0{'4' * 60}", f"{'9' * 37}.84"]
    cells = [to_cell(text, column_type) for text in texts]
    assert array_to_cells(coerce(pa.array(texts), column_type, "x"), column_type) == cells


@pytest.mark.parametrize("values", [[], [None]])
def test_a_type_that_does_not_fit_is_refused_without_a_value_to_show(values: list[None]) -> None:
    lists = pa.array(values, pa.list_(pa.int32()))
    with pytest.raises(InvalidValueError, match=r"'a' of type INT cannot take .* INT\[\]$"):
        coerce(lists, DataType(Kind.INT32), "a")
