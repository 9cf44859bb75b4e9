"""Where cells are NULL, as an array of its own, of arrays of any type."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.validity_array import (
    all_valid,
    mask_of,
    validity_array,
    validity_of_mask,
)


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.bool_(), pa.int32()], ids=str)
@given(st.lists(st.booleans(), max_size=40), st.integers(0, 9))
def test_it_is_true_where_a_cell_is_not_null(
    kind: pa.DataType, present: list[bool], start: int
) -> None:
    words = pa.array(["1" if each else None for each in present])
    values = words.cast(kind).slice(start)
    expected = [each or None for each in present[start:]]
    assert validity_array(values).to_pylist() == expected
    if kind == pa.string():
        assert validity_array(values.dictionary_encode()).to_pylist() == expected


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_a_mask_comes_back(present: list[bool]) -> None:
    mask = np.array(present)
    back = mask_of(validity_of_mask(mask))
    assert (back is None and mask.all()) or np.array_equal(back, mask)
    assert mask_of(all_valid(len(present))) is None
