"""Columns of values become what each of the values alone would be."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import InvalidValueError

FLOATS = ("FLOAT", "DOUBLE")


def alone(values: pa.Array, name: str) -> list[object]:
    """Each value of an array as the cell that it is by itself."""
    return [to_cell(value, parse_type(name)) for value in values.to_pylist()]


def together(values: pa.Array, name: str) -> list[object]:
    column_type = parse_type(name)
    return list(array_to_cells(coerce(values, column_type, "x"), column_type))


@pytest.mark.parametrize("name", FLOATS)
@given(st.lists(st.none() | st.decimals(-(10**20), 10**20, places=7)))
@example([Decimal("1.0050000"), Decimal("46834272760.6700000")])
def test_decimals_become_the_floats_next_to_them(name: str, values: list[Decimal | None]) -> None:
    array = pa.array(values, pa.decimal128(38, 7))
    assert together(array, name) == alone(array, name)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("scale", [0, 38])
def test_decimals_of_all_digits_become_the_floats_next_to_them(name: str, scale: int) -> None:
    numbers = (10**38 - 1, -(10**38) + 1, 10**37 + 1, 12345678901234567, 3, 0)
    values = [Decimal((int(n < 0), tuple(map(int, str(abs(n)))), -scale)) for n in numbers]
    array = pa.array([*values, None], pa.decimal128(38, scale))
    assert together(array, name) == alone(array, name)


@pytest.mark.parametrize("name", FLOATS)
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
@example([2**63 - 1, 2**53 + 1, 2**24 + 1, -(2**31)])
def test_integers_become_the_floats_next_to_them(name: str, values: list[int | None]) -> None:
    array = pa.array(values, pa.int64())
    assert together(array, name) == alone(array, name)
    assert together(array.dictionary_encode(), name) == alone(array, name)


def test_unsigned_integers_become_the_floats_next_to_them() -> None:
    array = pa.array(np.array([2**64 - 1, 2**63 + 1025, 0], np.uint64))
    assert together(array, "DOUBLE") == alone(array, "DOUBLE")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("BOOLEAN", " true\n"),
        ("TINYINT", " 1 "),
        ("BIGINT", "\t-7"),
        ("FLOAT", " 1.5 "),
        ("DOUBLE", " 1e2"),
        ("DECIMAL(9,2)", " 1.25 "),
        ("DATE", " 2024-02-29 "),
        ("TIMESTAMP", " 2024-02-29 10:00:00 "),
        ("TIMESTAMP", " 2024-02-29 10:00:00+02:00 "),
    ],
)
@pytest.mark.parametrize("encoded", [pa.string(), pa.large_string()])
def test_blanks_around_a_text_say_nothing(name: str, text: str, encoded: pa.DataType) -> None:
    array = pa.array([text, None], encoded)
    assert together(array, name) == alone(array, name)
    assert together(array.dictionary_encode(), name) == alone(array, name)


@pytest.mark.parametrize("name", ["STRING", "VARCHAR(3)"])
def test_blanks_stay_in_a_text(name: str) -> None:
    assert together(pa.array([" a "]), name) == [" a "]


def test_a_text_of_blanks_alone_is_no_number() -> None:
    with pytest.raises(InvalidValueError, match="column 'x': cannot read '  ' as INT"):
        coerce(pa.array(["1", "  "]), parse_type("INT"), "x")
