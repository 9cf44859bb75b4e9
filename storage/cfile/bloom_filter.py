"""The bloom filter over a rowset's keys: says "certainly not here" for most keys that are not.

Kudu's (`util/bloom_filter.h`) with its target of one false answer in 10,000. The filter is split
into blocks of 128 bits (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters,
2007): a key picks one block by the upper half of its hash, and sets four bits in each of the
block's two 64-bit words. That takes 32 bits a key where a plain filter takes 19, and one memory
access instead of thirteen. Keys sorted by hash are sorted by block, so building is a sort and one
OR over the keys of each block.

    0       4   format, u32, 1
    4       4   number of blocks, u32
    8       .   blocks, two u64 each

A key of hash h belongs to block (h >> 32) * blocks >> 32. Its bits in the two words are patterns
s >> 52 and s >> 40 & 4095 (see `_patterns`), where s = h * 0x9E3779B97F4A7C15 mod 2**64.
"""

import math
import struct
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.errors import CorruptionError

U64 = npt.NDArray[np.uint64]

_HEADER = struct.Struct("<II")
_FORMAT = 1
_WORD_BITS = 64
_BITS_PER_WORD = 4
_BLOCK_BITS = 2 * _WORD_BITS
_MAX_BLOCKS = 2**32 - 1
# An odd constant (2**64 over the golden ratio) spreads all bits of a hash into the upper ones.
_MULTIPLIER = 0x9E3779B97F4A7C15
_U64 = 0xFFFF_FFFF_FFFF_FFFF
_PATTERN_BITS = 12
# So many hashes at a time that what is computed of them stays in the processor's cache.
_CHUNK = 32 * 1024


def _patterns() -> U64:
    """Words with four bits set, uint64[4096]: those named by the low six bits of the (i + 1)th
    multiple of the spreading constant, rotated right by six until four different ones have come."""
    digits = np.arange(1, (1 << _PATTERN_BITS) + 1, dtype=np.uint64) * np.uint64(_MULTIPLIER)
    words = np.zeros(len(digits), np.uint64)
    low, six, rest = np.uint64(63), np.uint64(6), np.uint64(58)
    while (wanting := np.bitwise_count(words) < _BITS_PER_WORD).any():
        words |= wanting.astype(np.uint64) << (digits & low)
        digits = digits >> six | (digits & low) << rest
    words.setflags(write=False)
    return words


_PATTERN_ARRAY: U64 = _patterns()
_PATTERNS: tuple[int, ...] = tuple(_PATTERN_ARRAY.tolist())


class BloomFilter:
    """An immutable filter over 64-bit hashes."""

    def __init__(self, words: U64) -> None:
        """A filter of its words, two for each block; see `build` and `from_bytes`."""
        self._words = words
        self._blocks = len(words) // 2
        self._view = words.data

    @classmethod
    def build(cls, hashes: U64, false_positives: float = 1e-4) -> "BloomFilter":
        """A filter that holds some hashes.

        Args:
            hashes: well mixed, uint64[n].
            false_positives: share of other hashes it may let pass, 1e-6 .. 0.1.
        """
        bits = bits_per_key(false_positives)
        blocks = min(max(1, math.ceil(len(hashes) * bits / _BLOCK_BITS)), _MAX_BLOCKS)
        words = np.zeros((blocks, 2), np.uint64)
        for chunk in _chunks(np.sort(hashes)):
            indices, first, second = _blocks_and_patterns(chunk, blocks)
            starts = np.concatenate(([0], np.flatnonzero(indices[1:] != indices[:-1]) + 1))
            block_indices = indices[starts]
            words[block_indices, 0] |= np.bitwise_or.reduceat(first, starts)
            words[block_indices, 1] |= np.bitwise_or.reduceat(second, starts)
        return cls(words.ravel())

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self._words.nbytes

    def may_contain(self, hashes: U64) -> npt.NDArray[np.bool_]:
        """False where a hash is certainly not held, bool[n]."""
        result = np.empty(len(hashes), np.bool_)
        queried = 0
        for chunk in _chunks(hashes):
            indices, first, second = _blocks_and_patterns(chunk, self._blocks)
            matches = self._words[2 * indices] & first == first
            matches &= self._words[2 * indices + 1] & second == second
            result[queried : queried + len(chunk)] = matches
            queried += len(chunk)
        return result

    def may_contain_one(self, hash64: int) -> bool:
        """False when a hash, 0 .. 2**64 - 1, is certainly not held."""
        word = ((hash64 >> 32) * self._blocks >> 32) * 2
        products = hash64 * _MULTIPLIER & _U64
        pattern = _PATTERNS[products >> 52]
        if self._view[word] & pattern != pattern:
            return False
        pattern = _PATTERNS[products >> 40 & 4095]
        return self._view[word + 1] & pattern == pattern

    def to_bytes(self) -> bytes:
        """The filter as stored."""
        return _HEADER.pack(_FORMAT, self._blocks) + self._words.astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "BloomFilter":
        """The inverse of `to_bytes`. Raises CorruptionError: the bytes are no bloom filter."""
        if len(data) < _HEADER.size:
            raise CorruptionError(f"a bloom filter of {len(data)} bytes is shorter than its header")
        version, blocks = _HEADER.unpack_from(data)
        if version != _FORMAT or not blocks or len(data) != _HEADER.size + 16 * blocks:
            raise CorruptionError(f"a bloom filter of {blocks} blocks has {len(data)} bytes")
        return cls(np.frombuffer(data, "<u8", offset=_HEADER.size).astype(np.uint64, copy=False))


def _chunks(hashes: U64) -> Iterator[U64]:
    return (hashes[start : start + _CHUNK] for start in range(0, len(hashes), _CHUNK))


def _blocks_and_patterns(hashes: U64, blocks: int) -> tuple[npt.NDArray[np.int64], U64, U64]:
    """The block of each hash, ascending with the hash, and its bits in the block's two words."""
    indices = (hashes >> np.uint64(32)) * np.uint64(blocks) >> np.uint64(32)
    products = hashes * np.uint64(_MULTIPLIER)
    # numpy indexes twice as fast by signed integers as by unsigned ones.
    first = (products >> np.uint64(52)).view(np.int64)
    second = (products >> np.uint64(40) & np.uint64(4095)).view(np.int64)
    return indices.view(np.int64), _PATTERN_ARRAY[first], _PATTERN_ARRAY[second]


def bits_per_key(false_positives: float) -> float:
    """The least bits a key that keep the share of wrong answers below a bound."""
    low, high = 4.0, 256.0
    for _ in range(20):
        middle = (low + high) / 2
        if expected_false_positives(middle) > false_positives:
            low = middle
        else:
            high = middle
    return high


def expected_false_positives(bits: float) -> float:
    """The share of wrong answers at so many bits a key, at least 4.

    Keys fall on blocks by a Poisson distribution; a block of j keys has j patterns in either word.
    """
    mean = _BLOCK_BITS / bits
    probability = math.exp(-mean)
    total = 0.0
    for keys, chance in enumerate(_CHANCES, 1):
        probability *= mean / keys
        total += probability * chance * chance
    return total


def _chance_of_pattern(keys: int) -> float:
    """Chance that the patterns of so many keys cover a given one: one of them is the same, or they
    do it together, by inclusion and exclusion of its bits."""
    patterns = math.comb(_WORD_BITS, _BITS_PER_WORD)
    together = sum(
        (-1) ** missing
        * math.comb(_BITS_PER_WORD, missing)
        * (math.comb(_WORD_BITS - missing, _BITS_PER_WORD) / patterns) ** keys
        for missing in range(_BITS_PER_WORD + 1)
    )
    none_equal = (1 - 1 / (1 << _PATTERN_BITS)) ** keys
    return float(1 - none_equal * (1 - together))


# Blocks of more keys than this are rarer than any target of false positives.
_CHANCES = tuple(_chance_of_pattern(keys) for keys in range(1, 128))
