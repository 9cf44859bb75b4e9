"""Kernels of Arrow are found when they are first called."""

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.types import compute as pc

WORDS = pa.array(["a", None, "b", "c"])


@pytest.mark.parametrize(
    "values",
    [WORDS, WORDS.dictionary_encode(), pa.array([1, 2, None, 4]), pa.chunked_array([WORDS])],
)
def test_values_are_picked_in_any_order_and_more_than_once(
    values: pa.Array | pa.ChunkedArray,
) -> None:
    indices = pa.array([3, 0, 0, 1])
    assert pc.pick(values, indices).equals(values.take(indices))


def test_a_place_without_a_number_picks_no_value() -> None:
    assert pc.pick(WORDS, pa.array([2, None])).to_pylist() == ["b", None]
