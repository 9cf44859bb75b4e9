"""The bloom filter never denies a key it holds, and seldom lets another pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pykudu_sql.storage.cfile.bloom_filter import (
    BloomFilter,
    bits_per_key,
    expected_false_positives,
)
from pykudu_sql.storage.errors import CorruptionError

HASHES = hnp.arrays(np.uint64, st.integers(0, 300), elements=st.integers(0, (1 << 64) - 1))


@given(held=HASHES, asked=HASHES)
def test_every_hash_held_passes_and_one_answer_is_as_good_as_many(
    held: np.ndarray, asked: np.ndarray
) -> None:
    bloom = BloomFilter.from_bytes(BloomFilter.build(held).to_bytes())
    assert bloom.may_contain(held).all()
    both = np.concatenate((held, asked))
    singly = [bloom.may_contain_one(value) for value in both.tolist()]
    assert bloom.may_contain(both).tolist() == singly


@pytest.mark.parametrize("target", [1e-2, 1e-3, 1e-4])
def test_wrong_answers_are_as_rare_as_asked_for(target: float) -> None:
    random = np.random.default_rng(int(1 / target))
    held, others = random.integers(0, 1 << 64, (2, 200_000), np.uint64)
    wrong = BloomFilter.build(held, target).may_contain(others).mean()
    # Three standard deviations of the count above what was asked for.
    assert wrong <= target + 3 * (target / len(others)) ** 0.5


def test_rarer_wrong_answers_cost_more_bits() -> None:
    sizes = [bits_per_key(target) for target in (1e-1, 1e-2, 1e-4, 1e-6)]
    assert sizes == sorted(sizes)
    assert expected_false_positives(bits_per_key(1e-4)) <= 1e-4


def test_a_filter_of_nothing_lets_nothing_pass() -> None:
    bloom = BloomFilter.build(np.empty(0, np.uint64))
    assert not bloom.may_contain(np.arange(1000, dtype=np.uint64)).any()
    assert not bloom.may_contain_one(5)


def test_the_filter_of_given_hashes_is_the_same_for_ever() -> None:
    bloom = BloomFilter.build(np.array([0, 1, 0x0123456789ABCDEF, (1 << 64) - 1], np.uint64))
    assert bloom.to_bytes().hex() == (
        "01000000020000000000244084101b40040134048000090900014000020002000204081000000000"
    )


@pytest.mark.parametrize("cut", [0, 7, 8, 23, -1])
def test_bytes_that_are_no_filter_are_refused(cut: int) -> None:
    data = BloomFilter.build(np.arange(10, dtype=np.uint64)).to_bytes()
    with pytest.raises(CorruptionError, match="bloom filter"):
        BloomFilter.from_bytes(data[:cut])
