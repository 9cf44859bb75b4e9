"""The bytes of values are Arrow's count of them, NULLs of numbers left aside."""

from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.types.value_bytes import (
    all_bytes,
    own_bytes,
    table_bytes,
    value_bytes,
)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2, 3], pa.int16()),
        pa.array([1.5] * 9),
        pa.array([Decimal("1.5")] * 7, pa.decimal128(30, 2)),
        pa.array([True] * 16),
        pa.array(["a", "bcd", None]),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.array([[1, 2], [3]]),
        pa.nulls(4),
        pa.array([], pa.int64()),
    ],
    ids=lambda values: str(values.type),
)
def test_bytes_are_those_that_arrow_counts(values: pa.Array) -> None:
    assert value_bytes(values) == values.nbytes
    assert table_bytes(pa.table({"a": values, "b": values})) == 2 * values.nbytes


def test_a_slice_takes_the_bytes_of_its_own_values() -> None:
    assert value_bytes(pa.array(range(100)).slice(10, 5)) == 40
    assert value_bytes(pa.array([None, 1, 2, 3])) == 32


ARRAYS = [
    pa.array([], pa.int64()),
    pa.array([1, 2, 3], pa.int8()),
    pa.array([1, None, 3], pa.int64()),
    pa.array([1.5, 2.5]),
    pa.array([True, False, True]),
    pa.array(["a", "bc", None]),
    pa.array([b"a", b""]),
    pa.array([Decimal("1.25")] * 3, pa.decimal128(15, 2)),
    pa.array([Decimal("1.25")] * 3).cast(pa.decimal64(15, 2)),
    pa.array([datetime(2026, 1, 1)] * 2, pa.timestamp("us")),
    pa.array(["a", "b", "a"]).dictionary_encode(),
    pa.nulls(4),
    pa.nulls(4, pa.int32()),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.type))
def test_all_bytes_are_those_that_arrow_counts(array: pa.Array) -> None:
    for part in (array, array.slice(1)):
        assert all_bytes(part) == part.nbytes


def test_a_dictionary_is_not_its_arrays_own() -> None:
    array = pa.array(["a" * 100, "b", None]).dictionary_encode()
    assert own_bytes(array) == array.indices.nbytes < all_bytes(array)
    assert own_bytes(pa.array([1, 2])) == 16
