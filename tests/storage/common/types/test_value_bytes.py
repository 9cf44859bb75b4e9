"""The bytes of values are Arrow's count of them, NULLs of numbers left aside."""

from decimal import Decimal

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.types.value_bytes import table_bytes, value_bytes


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
