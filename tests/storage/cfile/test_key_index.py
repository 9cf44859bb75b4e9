"""The key index leads to the rows that may hold a key."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.key_index import INTERVAL, KeyIndex
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.errors import CorruptionError


@given(
    rows=st.sampled_from((1, 2, INTERVAL - 1, INTERVAL, INTERVAL + 1, 3 * INTERVAL)),
    width=st.sampled_from((0, 4, 9)),
    asked=st.integers(0, 2 * 3 * INTERVAL + 2),
)
def test_a_key_lies_in_the_range_found_for_it(rows: int, width: int, asked: int) -> None:
    def key(number: int) -> bytes:
        # Many lengths when the width is 0; ascending as the numbers ascend.
        return number.to_bytes(4, "big") + b"\x01" * (width - 4 if width else number % 7)

    keys = [key(2 * number + 1) for number in range(rows)]
    built = KeyIndex.build(EncodedKeys.from_bytes(keys, width))
    index = KeyIndex.from_bytes(built.to_bytes())
    assert (index.rows, index.min_key, index.max_key) == (rows, keys[0], keys[-1])
    start, stop = index.find_range(key(asked))
    assert 0 <= start <= stop <= rows and stop - start <= INTERVAL
    if key(asked) in keys:
        assert start <= keys.index(key(asked)) < stop


def test_a_key_outside_all_keys_has_an_empty_range() -> None:
    index = KeyIndex.build(EncodedKeys.from_bytes([b"b", b"d"], 0))
    assert index.find_range(b"a") == index.find_range(b"da") == (0, 0)
    assert index.find_range(b"c") == (0, 2)


@given(st.data())
def test_the_rows_between_two_edges_have_keys_between_theirs(data: st.DataObject) -> None:
    rows = data.draw(st.sampled_from((1, 2, INTERVAL, INTERVAL + 1, 3 * INTERVAL)))
    index = KeyIndex.build(EncodedKeys.from_bytes([n.to_bytes(2, "big") for n in range(rows)], 2))
    start = data.draw(st.integers(0, rows - 1))
    stop = data.draw(st.integers(start + 1, rows))
    ordinals, keys = index.edges(start, stop)
    assert ordinals[0] <= start < stop <= ordinals[-1]
    assert all(0 < b - a <= INTERVAL for a, b in pairwise(ordinals))
    numbers = [int.from_bytes(key, "big") for key in keys]
    assert numbers == [min(ordinal, rows - 1) for ordinal in ordinals]


def test_an_index_is_a_small_part_of_its_keys() -> None:
    keys = EncodedKeys.from_words(8, [np.arange(1 << 16, dtype=np.uint64)])
    assert len(KeyIndex.build(keys).to_bytes()) < keys.nbytes // 100


def test_bytes_that_are_no_index_are_refused() -> None:
    data = KeyIndex.build(EncodedKeys.from_bytes([b"aa", b"bb"], 2)).to_bytes()
    for broken in (b"", data[:15], b"\x02" + data[1:], data[:8] + bytes(8) + data[16:]):
        with pytest.raises(CorruptionError, match="key index"):
            KeyIndex.from_bytes(broken)
    huge = data[:8] + (1 << 60).to_bytes(8, "little") + data[16:]
    for broken in (huge, data[:-1], data[:16] + b"\xff\xff\xff\x7f" + data[20:]):
        with pytest.raises(CorruptionError):
            KeyIndex.from_bytes(broken).find_range(b"aa")
