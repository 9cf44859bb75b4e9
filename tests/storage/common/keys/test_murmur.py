"""Hashes: published vectors, and batch and scalar forms that agree bit for bit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.murmur import hash64_one, murmur64a_one


@pytest.mark.parametrize(
    ("key", "seed", "expected"),
    [
        (b"ab", 0, 7115271465109541368),
        (b"abcdefg", 0, 2601573339036254301),
        (b"quick brown fox", 42, 3575930248840144026),
    ],
)
def test_murmur_gives_the_values_of_kudus_own_test(key: bytes, seed: int, expected: int) -> None:
    assert murmur64a_one(key, seed) == expected


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(0, 2**32 - 1))
def test_hashes_of_a_batch_of_many_lengths_are_those_of_each_key(
    keys: list[bytes], seed: int
) -> None:
    batch = EncodedKeys.from_bytes(keys, 0)
    assert batch.murmur64a(seed).tolist() == [murmur64a_one(key, seed) for key in keys]
    assert batch.hash64().tolist() == [hash64_one(key) for key in keys]


@given(st.integers(1, 40), st.data())
def test_hashes_of_a_batch_of_one_width_are_those_of_each_key(
    width: int, data: st.DataObject
) -> None:
    keys = data.draw(st.lists(st.binary(min_size=width, max_size=width), max_size=20))
    batch = EncodedKeys.from_bytes(keys, width)
    assert batch.murmur64a(7).tolist() == [murmur64a_one(key, 7) for key in keys]
    assert batch.hash64().tolist() == [hash64_one(key) for key in keys]


def test_bloom_hashes_of_consecutive_keys_spread_over_all_bits() -> None:
    hashes = [hash64_one(number.to_bytes(8, "big")) for number in range(4096)]
    for bit in range(64):
        ones = sum(value >> bit & 1 for value in hashes)
        assert 1800 < ones < 2300


def test_a_trailing_zero_byte_changes_the_hash() -> None:
    assert hash64_one(b"a") != hash64_one(b"a\0")
    assert murmur64a_one(b"a") != murmur64a_one(b"a\0")
