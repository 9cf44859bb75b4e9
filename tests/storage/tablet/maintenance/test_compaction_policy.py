"""Which rowsets are compacted together: the examples of Kudu's design note, and brute force."""

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.tablet.maintenance.compaction_policy import (
    APPROXIMATION_RATIO,
    MINIMUM_IMPROVEMENT,
    NO_CHOICE,
    SUPPORT_ADJUST,
    choose_rowsets,
    value_of,
)
from pykudu_sql.storage.tablet.rowset.key_interval import (
    KeyInterval,
    RowSetKeyBounds,
    average_height,
    key_intervals,
)

MIB = 1 << 20


def drawn(pictures: dict[str, tuple[int, int]], size: int = 64 * MIB) -> list[KeyInterval]:
    """Rowsets as the note draws them: where each begins and ends, all of one size."""
    end = max(high for _, high in pictures.values())
    return [
        KeyInterval(ord(name), low / end, high / end, size)
        for name, (low, high) in pictures.items()
    ]


def named(ids: tuple[int, ...]) -> str:
    return "".join(map(chr, ids))


def test_the_height_of_a_tablet_is_that_of_the_note() -> None:
    note = {"A": (0, 2), "B": (2, 4), "C": (4, 6), "D": (6, 10), "E": (0, 10), "F": (6, 8)}
    assert average_height(drawn(note)) == 2.2
    assert average_height(drawn({"A": (0, 5), "B": (5, 10)})) == 1.0
    assert average_height(drawn(dict.fromkeys("ABC", (0, 10)))) == 3.0
    assert average_height([]) == 0.0


def test_of_two_sets_of_one_budget_that_of_the_larger_benefit_is_chosen() -> None:
    note = {"A": (10, 20), "B": (5, 20), "C": (0, 5), "D": (5, 20), "E": (0, 20)}
    chosen = choose_rowsets(drawn(note), 192 * MIB)
    assert named(chosen.ids) == "BDE"
    assert abs(chosen.score * 20 - 30) < 0.1


def test_rowsets_flushed_over_the_whole_key_space_are_compacted_together() -> None:
    flushed = drawn(dict.fromkeys("ABC", (0, 10)), 50 * MIB)
    assert named(choose_rowsets(flushed).ids) == "ABC"


def test_a_large_rowset_beside_two_that_overlap_is_left_alone() -> None:
    pictures = {"A": (0, 10), "B": (0, 10), "C": (10, 20)}
    assert named(choose_rowsets(drawn(pictures, 30 * MIB)).ids) == "AB"
    assert named(choose_rowsets(drawn(pictures, 8 * MIB)).ids) == "ABC"


def test_small_rowsets_are_compacted_where_they_do_not_overlap_and_large_ones_are_not() -> None:
    row = {"A": (0, 10), "B": (10, 20), "C": (20, 30)}
    assert named(choose_rowsets(drawn(row, 8 * MIB)).ids) == "ABC"
    assert choose_rowsets(drawn(row, 32 * MIB)) == NO_CHOICE


def test_nothing_is_chosen_of_one_rowset_or_beyond_the_budget() -> None:
    assert choose_rowsets([]) == NO_CHOICE
    assert choose_rowsets(drawn({"A": (0, 10)})) == NO_CHOICE
    assert choose_rowsets(drawn(dict.fromkeys("AB", (0, 10)), 200 * MIB)) == NO_CHOICE


def gain(chosen: tuple[KeyInterval, ...]) -> float:
    value = sum(map(value_of, chosen))
    union = max(i.high for i in chosen) - min(i.low for i in chosen)
    return value - union if value <= union else value - SUPPORT_ADJUST * union


def weight(interval: KeyInterval) -> int:
    return max(1, interval.size // MIB)


@st.composite
def tablets(draw: st.DrawFn) -> list[KeyInterval]:
    ends = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)
    drawn_ones = draw(st.lists(st.tuples(ends, st.integers(0, 60)), max_size=8))
    return [
        KeyInterval(i, low / 12, high / 12, size * MIB)
        for i, ((low, high), size) in enumerate(drawn_ones)
    ]


@settings(max_examples=300, deadline=None)
@given(intervals=tablets(), budget=st.integers(1, 120))
def test_no_set_is_more_than_five_percent_better_than_the_chosen_one(
    intervals: list[KeyInterval], budget: int
) -> None:
    choice = choose_rowsets(intervals, budget * MIB)
    sets = [
        chosen
        for count in range(2, len(intervals) + 1)
        for chosen in combinations(intervals, count)
        if sum(map(weight, chosen)) <= budget
    ]
    best = max(0.0, *map(gain, sets)) if sets else 0.0
    assert choice.score <= best + 1e-9
    assert choice.score * APPROXIMATION_RATIO >= best - 1e-9 or best <= (
        MINIMUM_IMPROVEMENT * APPROXIMATION_RATIO
    )
    by_id = {interval.id: interval for interval in intervals}
    chosen = tuple(by_id[i] for i in choice.ids)
    if chosen:
        assert sum(map(weight, chosen)) <= budget
        assert gain(chosen) >= choice.score - 1e-9


def test_keys_are_placed_by_the_data_below_them() -> None:
    ranges = [
        RowSetKeyBounds(1, b"a0", b"a8", 100),
        RowSetKeyBounds(2, b"a4", b"a8", 300),
        RowSetKeyBounds(3, b"b", b"c", 600),
    ]
    first, second, third = key_intervals(ranges)
    assert (first.low, round(first.high, 9)) == (0.0, 0.4)
    assert (round(second.low, 9), round(second.high, 9)) == (0.05, 0.4)
    assert (round(third.low, 9), third.high) == (0.4, 1.0)


def test_rowsets_of_one_key_each_have_no_width() -> None:
    ranges = [RowSetKeyBounds(i, b"k", b"k", 100) for i in range(3)]
    intervals = key_intervals(ranges)
    assert [interval.width for interval in intervals] == [0.0] * 3
    assert average_height(intervals) == 3.0
    assert choose_rowsets(intervals).ids == (0, 1, 2)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.binary(max_size=12), min_size=2, max_size=2).map(sorted),
            st.integers(1, 1000),
        ),
        max_size=8,
    )
)
def test_intervals_keep_the_order_of_keys(found: list[tuple[list[bytes], int]]) -> None:
    ranges = [RowSetKeyBounds(i, low, high, size) for i, ((low, high), size) in enumerate(found)]
    intervals = key_intervals(ranges)
    assert all(0 <= i.low <= i.high <= 1 + 1e-9 for i in intervals)
    places = sorted(
        [(r.min_key, i.low) for r, i in zip(ranges, intervals, strict=True)]
        + [(r.max_key, i.high) for r, i in zip(ranges, intervals, strict=True)]
    )
    assert all(a[1] <= b[1] for a, b in pairwise(places))
