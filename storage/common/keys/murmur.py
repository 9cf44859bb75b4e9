"""The two 64-bit hashes of encoded keys, for batches and for one key, bit for bit the same.

- MurmurHash2-64A (Austin Appleby, public domain; Kudu's `HashUtil::MurmurHash2_64`) chooses hash
  buckets. Its result is part of the meaning of stored data and never changes.
- `hash64` feeds bloom filters: one multiplication a word and MurmurHash3's finaliser. It is also
  stored (a filter is read back with it), so it never changes either.

Batches come as *word rounds*: round j holds bytes 8j..8j+8 of the keys that reach so far, read
big-endian and padded with zeros, and the rows they belong to. Keys of one width all take part in
every round; of keys of many lengths only the longer ones, so the work is proportional to the bytes.
"""

import struct
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
Rows = slice | npt.NDArray[np.int64]
WordRounds = Iterable[tuple[Rows, U64]]

_MASK = (1 << 64) - 1
_MURMUR = 0xC6A4A7935BD1E995
_BLOOM_SEED = 0x9E3779B97F4A7C15
_BLOOM_STEP = 0x9FB21C651E98DF25
_FINAL_1 = 0xFF51AFD7ED558CCD
_FINAL_2 = 0xC4CEB9FE1A85EC53
_TAIL_PADDING = tuple(bytes(-length % 8) for length in range(8))
_WORDS = tuple(struct.Struct(f">{count}Q").unpack for count in range(9))


def murmur64a(
    rounds: WordRounds, lengths: int | npt.NDArray[np.int64], count: int, seed: int
) -> U64:
    """MurmurHash2-64A of a batch of byte strings.

    Args:
        rounds: the bytes (see the module's docstring).
        lengths: bytes of every key, or one number when all are equally long.
        count: keys.
        seed: 64 bits.

    Returns Hashes, shape (count,).
    """
    multiplier = np.uint64(_MURMUR)
    if isinstance(lengths, int):
        hashes = np.full(count, (seed ^ (lengths * _MURMUR)) & _MASK, np.uint64)
    else:
        hashes = np.uint64(seed & _MASK) ^ (lengths.astype(np.uint64) * multiplier)
    for index, (rows, words) in enumerate(rounds):
        little = words.byteswap()
        before = hashes[rows]
        end = 8 * index + 8
        if isinstance(lengths, int):
            hashes[rows] = (_murmur_step if lengths >= end else _murmur_tail)(before, little)
            continue
        whole = lengths[rows] >= end
        if whole.all():
            hashes[rows] = _murmur_step(before, little)
        else:
            tail = _murmur_tail(before, little)
            hashes[rows] = np.where(whole, _murmur_step(before, little), tail)
    hashes ^= hashes >> np.uint64(47)
    hashes *= multiplier
    hashes ^= hashes >> np.uint64(47)
    return hashes


def _murmur_step(hashes: U64, words: U64) -> U64:
    multiplier = np.uint64(_MURMUR)
    mixed = words * multiplier
    mixed ^= mixed >> np.uint64(47)
    mixed *= multiplier
    mixed ^= hashes
    mixed *= multiplier
    return mixed


def _murmur_tail(hashes: U64, words: U64) -> U64:
    return (hashes ^ words) * np.uint64(_MURMUR)


def murmur64a_one(key: bytes, seed: int = 0) -> int:
    """MurmurHash2-64A of one byte string."""
    length = len(key)
    rest = int.from_bytes(key, "little")
    hashed = (seed ^ (length * _MURMUR)) & _MASK
    while length >= 8:
        mixed = (rest & _MASK) * _MURMUR & _MASK
        hashed = ((hashed ^ ((mixed ^ (mixed >> 47)) * _MURMUR)) & _MASK) * _MURMUR & _MASK
        rest >>= 64
        length -= 8
    if length:
        hashed = (hashed ^ rest) * _MURMUR & _MASK
    hashed = (hashed ^ (hashed >> 47)) * _MURMUR & _MASK
    return hashed ^ (hashed >> 47)


def hash64(rounds: WordRounds, lengths: int | npt.NDArray[np.int64], count: int) -> U64:
    """Bloom filter hashes of a batch; arguments as `murmur64a`'s."""
    step = np.uint64(_BLOOM_STEP)
    if isinstance(lengths, int):
        hashes = np.full(count, _BLOOM_SEED ^ lengths, np.uint64)
    else:
        hashes = np.uint64(_BLOOM_SEED) ^ lengths.astype(np.uint64)
    for rows, words in rounds:
        mixed = hashes[rows] ^ words
        mixed *= step
        mixed ^= mixed >> np.uint64(32)
        hashes[rows] = mixed
    hashes *= np.uint64(_FINAL_1)
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(_FINAL_2)
    hashes ^= hashes >> np.uint64(33)
    return hashes


def hash64_one(key: bytes) -> int:
    """The bloom filter hash of one encoded key."""
    length = len(key)
    hashed = _BLOOM_SEED ^ length
    padded = key + _TAIL_PADDING[length & 7]
    count = len(padded) >> 3
    words = _WORDS[count](padded) if count < len(_WORDS) else struct.unpack(f">{count}Q", padded)
    for word in words:
        hashed = (hashed ^ word) * _BLOOM_STEP & _MASK
        hashed ^= hashed >> 32
    hashed = hashed * _FINAL_1 & _MASK
    hashed = (hashed ^ (hashed >> 33)) * _FINAL_2 & _MASK
    return hashed ^ (hashed >> 33)
