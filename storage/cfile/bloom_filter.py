"""The bloom filter over a rowset's keys: says "certainly not here" for most keys that are not.

Kudu's (`util/bloom_filter.h`) with its target of one false answer in 10,000. The filter is split
into blocks of 256 bits that fit half a cache line (Putze, Sanders, Singler: Cache-, Hash- and
Space-Efficient Bloom Filters, 2007): a key picks one block by the upper half of its hash, and sets
two bits in each of the block's four 64-bit words. That costs a few bits a key more than a plain
filter, and one memory access instead of thirteen. Keys sorted by hash are sorted by block, so
building is a sort and one OR over each block's keys.

    0       4   format, u32, 1
    4       4   number of blocks, u32
    8       .   blocks, four u64 each
"""

import math
import struct

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.errors import CorruptionError

U64 = npt.NDArray[np.uint64]

_HEADER = struct.Struct("<II")
_FORMAT = 1
_WORDS = 4
_WORD_BITS = 64
_BLOCK_BITS = _WORDS * _WORD_BITS
_MAX_BLOCKS = 2**32 - 1
# An odd constant (2**64 over the golden ratio) spreads all bits of a hash into the upper ones.
_SPREAD = 0x9E3779B97F4A7C15
_U64 = 0xFFFF_FFFF_FFFF_FFFF
_PAIR_BITS = 12
_PAIR_MASK = (1 << _PAIR_BITS) - 1
_SHIFTS = (52, 40, 28, 16)


def _pair_of_bits(choice: int) -> int:
    """A word with two different bits set, chosen by twelve bits."""
    first, second = choice >> 6, choice & 63
    if first == second:
        second = (second + 1) & 63
    return 1 << first | 1 << second


_PAIRS = tuple(_pair_of_bits(choice) for choice in range(1 << _PAIR_BITS))
_PAIR_ARRAY: U64 = np.array(_PAIRS, np.uint64)
_PAIR_ARRAY.setflags(write=False)


class BloomFilter:
    """An immutable filter over 64-bit hashes."""

    def __init__(self, words: U64) -> None:
        """A filter of its words, four for each block; see `build` and `from_bytes`."""
        self._words = words
        self._blocks = len(words) // _WORDS
        self._view = memoryview(words)

    @classmethod
    def build(cls, hashes: U64, false_positives: float = 1e-4) -> "BloomFilter":
        """A filter that holds some hashes.

        Args:
            hashes: well mixed, uint64[n].
            false_positives: share of other hashes it may let pass, 1e-6 .. 0.1.
        """
        bits = bits_per_key(false_positives)
        blocks = min(max(1, math.ceil(len(hashes) * bits / _BLOCK_BITS)), _MAX_BLOCKS)
        words = np.zeros((blocks, _WORDS), np.uint64)
        if len(hashes):
            ordered = np.sort(hashes)
            places = _block_of(ordered, blocks)
            starts = np.concatenate(([0], np.flatnonzero(places[1:] != places[:-1]) + 1))
            spread = ordered * np.uint64(_SPREAD)
            for word, shift in enumerate(_SHIFTS):
                pairs = _PAIR_ARRAY[spread >> np.uint64(shift) & np.uint64(_PAIR_MASK)]
                words[places[starts], word] = np.bitwise_or.reduceat(pairs, starts)
        return cls(words.ravel())

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self._words.nbytes

    def may_contain(self, hashes: U64) -> npt.NDArray[np.bool_]:
        """False where a hash is certainly not held, bool[n]."""
        places = _block_of(hashes, self._blocks) * np.uint64(_WORDS)
        spread = hashes * np.uint64(_SPREAD)
        result = np.zeros(len(hashes), np.bool_)
        alive = np.arange(len(hashes))
        for word, shift in enumerate(_SHIFTS):
            pairs = _PAIR_ARRAY[spread >> np.uint64(shift) & np.uint64(_PAIR_MASK)]
            passing = self._words[places + np.uint64(word)] & pairs == pairs
            alive, places, spread = alive[passing], places[passing], spread[passing]
        result[alive] = True
        return result

    def may_contain_one(self, hash64: int) -> bool:
        """False when a hash, 0 .. 2**64 - 1, is certainly not held."""
        place = (hash64 >> 32) * self._blocks >> 32 << 2
        view = self._view
        spread = hash64 * _SPREAD & _U64
        pairs = _PAIRS
        pair = pairs[spread >> 52]
        if view[place] & pair != pair:
            return False
        pair = pairs[spread >> 40 & 4095]
        if view[place + 1] & pair != pair:
            return False
        pair = pairs[spread >> 28 & 4095]
        if view[place + 2] & pair != pair:
            return False
        pair = pairs[spread >> 16 & 4095]
        return view[place + 3] & pair == pair

    def to_bytes(self) -> bytes:
        """The filter as stored."""
        return _HEADER.pack(_FORMAT, self._blocks) + self._words.astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "BloomFilter":
        """The inverse of `to_bytes`.

        Raises:
            CorruptionError: the bytes are no bloom filter.
        """
        if len(data) < _HEADER.size:
            raise CorruptionError(f"a bloom filter of {len(data)} bytes is shorter than its header")
        version, blocks = _HEADER.unpack_from(data)
        if version != _FORMAT or not blocks or len(data) != _HEADER.size + blocks * _WORDS * 8:
            raise CorruptionError(f"a bloom filter of {blocks} blocks has {len(data)} bytes")
        return cls(np.frombuffer(data, "<u8", offset=_HEADER.size).astype(np.uint64, copy=False))


def _block_of(hashes: U64, blocks: int) -> U64:
    """The block of each hash, ascending with the hash."""
    return (hashes >> np.uint64(32)) * np.uint64(blocks) >> np.uint64(32)


def bits_per_key(false_positives: float) -> float:
    """The least bits a key that keep wrong answers below a share."""
    low, high = 4.0, 128.0
    for _ in range(20):
        middle = (low + high) / 2
        if expected_false_positives(middle) > false_positives:
            low = middle
        else:
            high = middle
    return high


def expected_false_positives(bits: float) -> float:
    """The share of wrong answers at so many bits a key.

    Keys fall on blocks by a Poisson distribution; a block of j keys has two bits of each in every
    word. The bits that a word has set vary, and a fuller word answers wrongly more often than a
    emptier one makes up for; the squares below are means over that variation.
    """
    mean = _BLOCK_BITS / bits
    probability = math.exp(-mean)
    total = 0.0
    for keys in range(1, int(mean + 12 * math.sqrt(mean)) + 12):
        probability *= mean / keys
        total += probability * _both_bits_set(keys) ** _WORDS
    return total


def _both_bits_set(keys: int) -> float:
    """Chance that two given bits of a word are set by so many pairs, by inclusion and exclusion."""
    one_missing = (1 - 2 / _WORD_BITS) ** keys
    both_missing = ((_WORD_BITS - 2) * (_WORD_BITS - 3) / (_WORD_BITS * (_WORD_BITS - 1))) ** keys
    return 1 - 2 * one_missing + both_missing
