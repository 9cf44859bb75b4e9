"""Batches of encoded keys against plain lists of byte strings."""

from bisect import bisect_left, bisect_right
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys

_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
_SIZES = st.sampled_from((0, 1, 2, 7, 8, 9, 16, 17, 26))
_WIDTHS = st.sampled_from((0, 0, 0, 1, 4, 8, 12, 16, 20))


@st.composite
def batches(draw: st.DrawFn) -> tuple[int, list[bytes]]:
    """A width (0 for variable) and keys of it, many of them equal or sharing a start."""
    width = draw(_WIDTHS)
    alphabet = b"\0\0\1ab\xfe\xff\xff"
    keys: list[bytes] = []
    for seed in draw(_SEEDS):
        size = width or draw(_SIZES)
        start = keys[seed % len(keys)][: seed % 9] if keys else b""
        key = start + bytes(alphabet[seed >> 3 * i & 7] for i in range(size))
        keys.append(key[:size])
    if width == 0 and draw(st.booleans()):
        keys.append(bytes(draw(st.integers(300, 600))))
    return width, keys


_SEEDS = st.lists(st.integers(0, 2**64), max_size=25)


@given(batches())
def test_argsort_is_stable_and_by_bytes(batch: tuple[int, list[bytes]]) -> None:
    width, keys = batch
    expected = sorted(range(len(keys)), key=lambda i: keys[i])
    assert EncodedKeys.from_bytes(keys, width).argsort().tolist() == expected


@given(batches())
def test_duplicates_are_the_places_after_an_equal_key(batch: tuple[int, list[bytes]]) -> None:
    width, keys = batch
    found = EncodedKeys.from_bytes(keys, width)
    order = found.argsort()
    ordered = sorted(keys)
    expected = [i for i in range(1, len(keys)) if ordered[i] == ordered[i - 1]]
    assert found.duplicates(order).tolist() == expected


@given(batches())
def test_is_sorted_says_whether_keys_never_descend(batch: tuple[int, list[bytes]]) -> None:
    width, keys = batch
    assert EncodedKeys.from_bytes(keys, width).is_sorted() == (keys == sorted(keys))
    assert EncodedKeys.from_bytes(sorted(keys), width).is_sorted()


@given(batches(), st.data())
def test_search_and_insertion_points_are_bisection(
    batch: tuple[int, list[bytes]], data: st.DataObject
) -> None:
    width, keys = batch
    ordered = sorted(set(keys))
    mine = EncodedKeys.from_bytes(ordered, width)
    others = data.draw(st.lists(st.binary(min_size=width, max_size=width or 40), max_size=8))
    needles = [*keys, *others]
    theirs = EncodedKeys.from_bytes(needles, width)
    assert mine.search(theirs).tolist() == [
        ordered.index(key) if key in set(ordered) else -1 for key in needles
    ]
    left, right = (mine.insertion_points(theirs, side) for side in _SIDES)
    assert left.tolist() == [bisect_left(ordered, key) for key in needles]
    assert right.tolist() == [bisect_right(ordered, key) for key in needles]
    for key in needles:
        assert mine.lower_bound(key) == bisect_left(ordered, key)


@pytest.mark.parametrize("width", [0, 3, 8, 12, 16, 24])
@given(data=st.data())
def test_a_span_is_where_the_keys_between_two_bounds_stand(width: int, data: st.DataObject) -> None:
    letters = st.lists(st.sampled_from([b"a", b"b", b"\xff"]), max_size=4)
    most = width or 12
    repeated = letters.map(lambda parts: b"".join(part * 4 for part in parts))
    keys = repeated.map(lambda key: key[:most].ljust(width, b"\0"))
    ordered = sorted(set(data.draw(st.lists(keys, max_size=12))))
    mine = EncodedKeys.from_bytes(ordered, width)
    low, high = sorted(data.draw(st.tuples(*[repeated | st.binary(max_size=most + 2)] * 2)))
    assert mine.span(low, high) == (bisect_left(ordered, low), bisect_left(ordered, high))


@given(batches(), st.data())
def test_take_slice_concat_and_access_are_those_of_a_list(
    batch: tuple[int, list[bytes]], data: st.DataObject
) -> None:
    width, keys = batch
    found = EncodedKeys.from_bytes(keys, width)
    start = data.draw(st.integers(0, len(keys)))
    stop = data.draw(st.integers(start, len(keys)))
    part = found.slice(start, stop)
    assert len(found) == len(keys)
    assert part.to_pylist() == keys[start:stop] == part.to_arrow().to_pylist()
    assert [part.at(i) for i in range(len(part))] == keys[start:stop]
    assert part.argsort().tolist() == sorted(range(stop - start), key=lambda i: keys[start:stop][i])
    assert part.hash64().tolist() == found.hash64().tolist()[start:stop]
    rest = found.slice(stop, len(keys))
    assert EncodedKeys.concat([part, rest, found]).to_pylist() == keys[start:] + keys
    backwards = np.arange(len(keys), dtype=np.int64)[::-1]
    assert found.take(backwards).to_pylist() == keys[::-1]
    if keys:
        ordered = found.take(found.argsort())
        assert (ordered.min_key(), ordered.max_key()) == (min(keys), max(keys))


@pytest.mark.parametrize("spread", [2, 2**20, 2**62], ids=["few", "many", "wide"])
@pytest.mark.parametrize("width", [8, 12, 16, 24])
def test_large_batches_sort_in_every_way_of_packing(spread: int, width: int) -> None:
    generator = np.random.default_rng(width)
    words = [generator.integers(0, spread, 20_000).astype(np.uint64) for _ in range(-(-width // 8))]
    if width == 12:
        words[-1] <<= np.uint64(32)
    keys = EncodedKeys.from_words(width, words)
    order = keys.argsort()
    assert order.tolist() == np.lexsort(words[::-1]).tolist()
    ordered = keys.take(order)
    assert ordered.is_sorted()
    found = ordered.search(keys)
    assert (found >= 0).all()
    assert ordered.take(found).to_pylist() == keys.to_pylist()


def test_large_batches_of_strings_sort_and_find_themselves() -> None:
    generator = np.random.default_rng(5)
    keys = [
        b"host-%03d\0\0metric.%d\0\0%d" % tuple(generator.integers(0, 300, 3)) for _ in range(5000)
    ]
    batch = EncodedKeys.from_bytes(keys, 0)
    ordered = batch.take(batch.argsort())
    assert ordered.to_pylist() == sorted(keys)
    assert [ordered.at(i) for i in ordered.search(batch).tolist()] == keys


def test_one_huge_key_among_small_ones_costs_no_padding() -> None:
    keys = sorted([b"%05d" % i for i in range(2000)] + [b"0" * 16384])
    batch = EncodedKeys.from_bytes(keys, 0)
    assert batch.is_sorted()
    assert batch.search(batch).tolist() == list(range(len(keys)))
