"""Distinct integers are those that a set has."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.rows.distinct_integers import are_distinct, distinct_integers


@given(st.lists(st.integers(-3, 20)))
def test_they_are_those_of_a_set(numbers: list[int]) -> None:
    values = np.array(numbers, np.int64)
    assert distinct_integers(values).tolist() == sorted(set(numbers))
    assert are_distinct(values) == (len(set(numbers)) == len(numbers))
    assert values.tolist() == numbers
