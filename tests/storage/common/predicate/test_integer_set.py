"""Sets of integers: what numpy's isin says, for any values, types and spans."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.predicate.column_predicate import (
    Among,
    And,
    Comparison,
    InList,
    Op,
    Predicate,
)
from pykudu_sql.storage.common.predicate.integer_set import IntegerSet
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.predicate_simplify import simplify
from pykudu_sql.storage.common.predicate.predicate_stats import ColumnStats, may_match
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from tests.storage.common.predicates import set_of

LEAST, MOST = -(1 << 63), (1 << 63) - 1
NEAR = st.lists(st.integers(-300, 300), min_size=1, max_size=60)
ANY = st.lists(st.integers(LEAST, MOST) | st.integers(-300, 300), max_size=99)
INT = DataType(Kind.INT32)


@given(members=NEAR, looked_up=ANY, shift=st.sampled_from([0, MOST - 300, LEAST + 300, -(1 << 62)]))
def test_members_are_those_that_were_given(
    members: list[int], looked_up: list[int], shift: int
) -> None:
    shifted = [value + shift for value in members]
    made, stored = set_of(*shifted), np.array(looked_up, np.int64)
    assert made.contains(stored).tolist() == np.isin(stored, shifted).tolist()
    assert made.contains(np.array(shifted, np.int64)).all()
    assert len(made) == len(set(shifted))
    assert (made.least, made.greatest) == (min(shifted), max(shifted))


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
def test_narrow_integers_are_looked_up_by_their_value(kind: type[np.signedinteger]) -> None:
    stored = np.arange(-128, 128).astype(kind)
    assert np.flatnonzero(set_of(-128, 5, 127, 4000).contains(stored)).tolist() == [0, 133, 255]


def test_more_rows_than_a_stretch_are_looked_up() -> None:
    stored = np.arange(100_000, dtype=np.int64)
    found = set_of(3, 40_000, 99_999).contains(stored)
    assert np.flatnonzero(found).tolist() == [3, 40_000, 99_999]


@given(members=NEAR, low=st.integers(-400, 400), high=st.integers(-400, 400))
def test_a_stretch_of_integers_has_a_member_or_not(members: list[int], low: int, high: int) -> None:
    expected = any(low <= value <= high for value in members)
    assert set_of(*members).has_between(low, high) == expected


def test_integers_too_far_apart_make_no_set() -> None:
    assert IntegerSet.of(np.array([0, 1 << 30]), 1 << 40) is None
    assert IntegerSet.of(np.array([LEAST, MOST]), 1 << 40) is None
    assert IntegerSet.of(np.array([0, 1000]), 1000) is None
    assert IntegerSet.of(np.zeros(0, np.int64), 1 << 20) is None


def test_a_predicate_over_a_set_is_that_over_a_list() -> None:
    column = ColumnSchema(3, "a", INT, nullable=True)
    cells = pa.array([1, 2, None, 7, 9, -4], pa.int32())
    among, listed = Among(3, set_of(7, 2, -4, 50)), InList(3, (7, 2, -4, 50))
    more: tuple[tuple[Predicate, ...], ...] = ((), (Comparison(3, Op.GT, 0),))
    for others in more:
        by_set = simplify(And((among, *others)), {3: column})
        by_list = simplify(And((listed, *others)), {3: column})
        found = evaluate(by_set, {3: cells}, {3: INT})
        assert found.tolist() == evaluate(by_list, {3: cells}, {3: INT}).tolist()
    assert not may_match(among, lambda _: ColumnStats(8, 49, 0, 9))
