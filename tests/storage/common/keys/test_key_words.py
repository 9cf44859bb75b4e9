"""Keys as words: each kernel says of arrays what Python says of tuples."""

from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.key_words import (
    changes,
    equal_neighbours,
    find,
    insertion_points,
    is_sorted,
    sort_order,
)

Key = tuple[int, ...]

# Values that meet often, also in their high bits alone, and those at the ends of a word.
WORDS = st.sampled_from([0, 1, 2, 1 << 32, (1 << 32) + 1, 1 << 63, (1 << 64) - 1])


@st.composite
def batches(draw: st.DrawFn, *, least: int = 0) -> tuple[list[Key], list[Key]]:
    """Two batches of keys of as many words."""
    key = st.tuples(*[WORDS] * draw(st.integers(1, 3)))
    return draw(st.lists(key, min_size=least, max_size=40)), draw(st.lists(key, max_size=40))


def words_of(keys: list[Key], count: int) -> list[np.ndarray]:
    return [np.array([key[word] for key in keys], np.uint64) for word in range(count)]


@given(batches(least=1))
def test_keys_are_sorted_stably(drawn: tuple[list[Key], list[Key]]) -> None:
    keys, _ = drawn
    words = words_of(keys, len(keys[0]))
    assert sort_order(words).tolist() == sorted(range(len(keys)), key=lambda i: keys[i])
    assert is_sorted(words) == (keys == sorted(keys))


@given(batches(least=1))
def test_neighbours_are_compared(drawn: tuple[list[Key], list[Key]]) -> None:
    keys, _ = drawn
    words = words_of(keys, len(keys[0]))
    assert changes(words).tolist() == [a != b for a, b in pairwise(keys)]
    order = sort_order(words)
    ordered = [keys[i] for i in order]
    expected = [i for i in range(1, len(keys)) if ordered[i] == ordered[i - 1]]
    assert equal_neighbours(words, order).tolist() == expected


@pytest.mark.parametrize("side", ["left", "right"])
@given(drawn=batches(least=1))
def test_needles_are_found_where_they_stand(
    side: Literal["left", "right"], drawn: tuple[list[Key], list[Key]]
) -> None:
    keys, needles = sorted(drawn[0]), drawn[1]
    words, wanted = words_of(keys, len(keys[0])), words_of(needles, len(keys[0]))
    points = insertion_points(words, wanted, side).tolist()
    assert points == [
        sum(key < needle or (side == "right" and key == needle) for key in keys)
        for needle in needles
    ]
    found = find(words, wanted).tolist()
    assert found == [keys.index(needle) if needle in keys else -1 for needle in needles]


def test_many_needles_in_any_order_are_found_as_few_are() -> None:
    random = np.random.default_rng(7)
    words = [
        np.sort(random.integers(0, 1 << 40, 3000, np.uint64)),
        np.arange(3000, dtype=np.uint64),
    ]
    needles = [random.integers(0, 1 << 40, 9000, np.uint64), np.zeros(9000, np.uint64)]
    points = insertion_points(words, needles, "left")
    parts = [
        insertion_points(words, [n[i : i + 900] for n in needles], "left")
        for i in range(0, 9000, 900)
    ]
    assert points.tolist() == np.concatenate(parts).tolist()


def test_no_key_has_any_needle() -> None:
    nothing = [np.empty(0, np.uint64)]
    assert find(nothing, [np.array([1, 2], np.uint64)]).tolist() == [-1, -1]
    assert sort_order(nothing).tolist() == []
