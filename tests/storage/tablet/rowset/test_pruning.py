"""Ordinal ranges behave as the sets they stand for."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.predicate.column_predicate import And, Comparison, Op, Or
from pykudu_sql.storage.tablet.rowset.pruning import Range, matching_ranges, unite

RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


def rows_of(ranges: list[Range]) -> set[int]:
    return {row for start, stop in ranges for row in range(start, stop)}


@given(ranges=RANGES)
def test_a_union_holds_the_same_rows_in_ascending_ranges_that_do_not_touch(
    ranges: list[Range],
) -> None:
    united = unite(ranges)
    assert rows_of(united) == rows_of(ranges)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(united))
    assert all(start < stop for start, stop in united)


def test_without_a_zone_map_nothing_is_pruned() -> None:
    predicate = Or(
        (And((Comparison(1, Op.LT, 5), Comparison(2, Op.GT, 9))), Comparison(1, Op.EQ, 7))
    )
    assert matching_ranges(predicate, 100, lambda _: None, lambda _: None, lambda _: False) == [
        (0, 100)
    ]
