"""A batch of encoded keys, compared, sorted, searched and hashed without a loop over rows.

The order of `EncodedKeys` is always the order of the keys' bytes. How a batch is held is hidden:

- keys of one width (no string column, or the encoder's columns are all fixed): as arrays of 64-bit
  words (`key_words`), most significant first, the last padded with zeros;
- keys of many lengths: as Arrow's large binary. Words are made from it once, when an operation
  needs order; the key's length is the last word, which separates "a" from "a\\0" after equal
  padding.

A batch whose longest key is far longer than the rest would need too much padding; its order comes
from ranks of the distinct keys instead.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.keys import key_words, murmur
from pykudu_sql.storage.common.types.from_buffers import integers, sized_values

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_MAX_PADDING = 4
_FEW_KEYS = 64  # that are made into an array in less time than `pa.array` takes to import pandas
_HASH_BLOCK = 16 * 1024
_TAIL_MASKS = np.array(
    [(0xFF << 56 << 8) - (1 << (64 - 8 * n)) & (1 << 64) - 1 for n in range(9)], np.uint64
)


class EncodedKeys:
    """An immutable batch of encoded keys; make one with `KeyEncoder.encode` or `from_*`.

    `width`: bytes of every key, or 0 when keys may differ in length.
    """

    def __init__(self, width: int, words: tuple[U64, ...], binary: pa.LargeBinaryArray | None):
        self.width = width
        self._fixed = words
        self._binary = binary

    @classmethod
    def from_words(cls, width: int, words: Sequence[U64]) -> "EncodedKeys":
        """Keys of one width from their ceil(width / 8) big-endian, zero-padded words."""
        return cls(width, tuple(words), None)

    @classmethod
    def from_binary(cls, values: pa.LargeBinaryArray) -> "EncodedKeys":
        """Keys of any length from Arrow's large binary, without nulls."""
        return cls(0, (), values)

    @classmethod
    def from_bytes(cls, keys: Sequence[bytes], width: int) -> "EncodedKeys":
        """Keys from byte strings, all of `width` bytes, or of any length when it is 0."""
        if width == 0:
            few = len(keys) <= _FEW_KEYS
            kind = pa.large_binary()
            return cls.from_binary(sized_values(keys, kind) if few else pa.array(keys, kind))
        words = -(-width // 8)
        padded = np.zeros((len(keys), 8 * words), np.uint8)
        padded[:, :width] = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), width)
        columns = padded.view(">u8").astype(np.uint64)
        return cls.from_words(width, [np.ascontiguousarray(columns[:, i]) for i in range(words)])

    @classmethod
    def concat(cls, batches: Sequence["EncodedKeys"]) -> "EncodedKeys":
        """One batch of several (at least one) of the same encoder."""
        if len(batches) == 1:
            return batches[0]
        if batches[0].width == 0:
            return cls.from_binary(pa.concat_arrays([b.to_arrow() for b in batches]))
        columns = zip(*(b._fixed for b in batches), strict=True)
        return cls.from_words(batches[0].width, [np.concatenate(words) for words in columns])

    def __len__(self) -> int:
        return len(self._fixed[0]) if self._binary is None else len(self._binary)

    def __repr__(self) -> str:
        return f"EncodedKeys({len(self)} keys, width {self.width or 'variable'})"

    def sizes(self) -> I64 | None:
        """Bytes of each key, int64[n]; None when all have `width`."""
        return None if self._binary is None else self._lengths

    @property
    def nbytes(self) -> int:
        """Bytes of memory the keys take."""
        if self._binary is None:
            return sum(word.nbytes for word in self._fixed)
        return int(self._binary.nbytes)

    def take(self, indices: I64) -> "EncodedKeys":
        """The keys at some positions."""
        if self._binary is None:
            return EncodedKeys.from_words(self.width, [word[indices] for word in self._fixed])
        return EncodedKeys.from_binary(self._binary.take(integers(indices)))

    def slice(self, start: int, stop: int) -> "EncodedKeys":
        """Keys start..stop, without a copy."""
        if self._binary is None:
            return EncodedKeys.from_words(self.width, [word[start:stop] for word in self._fixed])
        return EncodedKeys.from_binary(self._binary.slice(start, max(0, stop - start)))

    def is_sorted(self) -> bool:
        """Whether keys never descend."""
        return key_words.is_sorted(self._order_words)

    def argsort(self) -> I64:
        """The stable ascending order of the keys."""
        return key_words.sort_order(self._order_words)

    def duplicates(self, order: I64) -> I64:
        """Positions in a sorting `order` whose key equals the one before."""
        return key_words.equal_neighbours(self._order_words, order)

    def begins(self) -> npt.NDArray[np.bool_]:
        """Which of these sorted keys differ from the one before, bool[n]; the first does."""
        first = np.ones(len(self), np.bool_)
        if len(self) > 1:
            first[1:] = key_words.changes(self._order_words)
        return first

    def search(self, needles: "EncodedKeys") -> I64:
        """Position of each needle among these sorted keys, -1 where it is not there."""
        if self._is_skewed:
            mine, theirs = self.to_pylist(), needles.to_pylist()
            positions = self.insertion_points(needles, "left").tolist()
            hits = [
                i if i < len(mine) and mine[i] == key else -1
                for i, key in zip(positions, theirs, strict=True)
            ]
            return np.array(hits, np.int64)
        return key_words.find(self._words, needles._words_like(self))

    def insertion_points(self, needles: "EncodedKeys", side: Literal["left", "right"]) -> I64:
        """How many of these sorted keys are less than (right: not greater than) each needle."""
        if self._is_skewed:
            mine = self.to_pylist()
            bisect = bisect_left if side == "left" else bisect_right
            return np.array([bisect(mine, key) for key in needles.to_pylist()], np.int64)
        return key_words.insertion_points(self._words, needles._words_like(self), side)

    def lower_bound(self, key: bytes) -> int:
        """Position of the first of these sorted keys that is not less than `key`, of any length."""
        if self._binary is not None:
            return bisect_left(range(len(self)), key, key=self.at)
        return self._lower_bound(key, 0, 0, len(self))

    def span(self, low: bytes, high: bytes) -> tuple[int, int]:
        """Where the sorted keys `low` <= key < `high` stand, start <= position < stop.

        Words that both ends begin with, such as those of a prefix, are looked for once.
        """
        if self._binary is not None:
            return self.lower_bound(low), self.lower_bound(high)
        first, stop, place = 0, len(self), 0
        for word in self._fixed[:-1]:
            value = low[8 * place : 8 * place + 8]
            if len(value) < 8 or value != high[8 * place : 8 * place + 8]:
                break
            first, stop = _equal(word, value, first, stop)
            place += 1
        return (
            self._lower_bound(low, place, first, stop),
            self._lower_bound(high, place, first, stop),
        )

    def _lower_bound(self, key: bytes, place: int, low: int, high: int) -> int:
        """`lower_bound` among keys of one width from `low` to `high`, outside which there are no
        others whose first words, `place` of them, are those of `key`."""
        needle = key[: self.width].ljust(8 * len(self._fixed), b"\0")
        # A key that is all of the bound's beginning is below the bound, which goes on.
        bisect = bisect_left if len(key) <= self.width else bisect_right
        last = len(self._fixed) - 1
        while place < last and low < high:
            value = needle[8 * place : 8 * place + 8]
            low, high = _equal(self._fixed[place], value, low, high)
            place += 1
        if low == high:
            return low
        return bisect(self._fixed[last].data, _word(needle[8 * last :]), low, high)

    def at(self, position: int) -> bytes:
        """One key."""
        if self._binary is None:
            words = [int(word[position]).to_bytes(8, "big") for word in self._fixed]
            return b"".join(words)[: self.width]
        key: bytes = self._binary[position].as_py()
        return key

    def min_key(self) -> bytes:
        """The first of sorted keys; there must be one."""
        return self.at(0)

    def max_key(self) -> bytes:
        """The last of sorted keys; there must be one."""
        return self.at(len(self) - 1)

    def to_pylist(self) -> list[bytes]:
        """All keys as byte strings."""
        if self._binary is not None:
            keys: list[bytes] = self._binary.to_pylist()
            return keys
        rows: list[bytes] = self._matrix().view(f"V{self.width}").ravel().tolist()
        return rows

    def to_arrow(self) -> pa.LargeBinaryArray:
        """All keys as Arrow's large binary."""
        if self._binary is not None:
            return self._binary
        offsets = np.arange(0, (len(self) + 1) * self.width, self.width, dtype=np.int64)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self._matrix())]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    def hash64(self) -> U64:
        """Bloom filter hashes (`murmur.hash64_one` of each key)."""
        hashes = [
            murmur.hash64(part._rounds(), part._hash_lengths, len(part)) for part in self._blocks()
        ]
        return np.concatenate(hashes)

    def murmur64a(self, seed: int) -> U64:
        """MurmurHash2-64A of each key."""
        hashes = [
            murmur.murmur64a(part._rounds(), part._hash_lengths, len(part), seed)
            for part in self._blocks()
        ]
        return np.concatenate(hashes)

    def _blocks(self) -> Iterator["EncodedKeys"]:
        """The keys in slices whose intermediate results stay in the processor's cache."""
        for start in range(0, max(1, len(self)), _HASH_BLOCK):
            yield self.slice(start, min(start + _HASH_BLOCK, len(self)))

    def _matrix(self) -> npt.NDArray[np.uint8]:
        """Keys of one width as bytes, shape (n, width)."""
        big = np.stack(self._fixed, axis=1).astype(">u8").view(np.uint8)
        matrix = big.reshape(len(self), 8 * len(self._fixed))
        return np.ascontiguousarray(matrix[:, : self.width])

    @cached_property
    def _lengths(self) -> I64:
        """Bytes of each key of a variable batch."""
        offsets = self._offsets
        return offsets[1:] - offsets[:-1]

    @property
    def _offsets(self) -> I64:
        assert self._binary is not None
        if len(self._binary) == 0:
            return np.zeros(1, np.int64)
        buffer = self._binary.buffers()[1]
        return np.frombuffer(buffer, np.int64, len(self._binary) + 1, 8 * self._binary.offset)

    @property
    def _hash_lengths(self) -> int | I64:
        return self.width if self._binary is None else self._lengths

    @cached_property
    def _word_count(self) -> int:
        """Words that hold the longest key of a variable batch, at least one."""
        return max(1, -(-int(self._lengths.max(initial=0)) // 8))

    @property
    def _is_skewed(self) -> bool:
        """Whether padding every key to the longest would waste too much memory."""
        if self._binary is None:
            return False
        padded = len(self) * self._word_count * 8
        return padded > _MAX_PADDING * (int(self._lengths.sum()) + 16 * len(self))

    @cached_property
    def _windows(self) -> npt.NDArray[np.uint64]:
        """Every eight bytes in a row of a variable batch's data, big-endian, at any offset."""
        assert self._binary is not None
        data = self._binary.buffers()[2]
        start, stop = int(self._offsets[0]), int(self._offsets[-1])
        padded = np.zeros(stop - start + 8, np.uint8)
        if data is not None:
            padded[:-8] = np.frombuffer(data, np.uint8, stop - start, start)
        return np.ndarray((stop - start + 1,), ">u8", padded, 0, (1,))

    def _word(self, index: int, rows: murmur.Rows) -> U64:
        """Bytes 8*index.. of some keys of a variable batch, zero-padded."""
        starts = self._offsets[:-1][rows] + (8 * index - self._offsets[0])
        if 8 * index + 8 <= self._shortest:
            whole: U64 = self._windows[starts].astype(np.uint64)
            return whole
        remaining = self._lengths[rows] - 8 * index
        words: U64 = self._windows[np.minimum(starts, len(self._windows) - 1)].astype(np.uint64)
        words &= _TAIL_MASKS[np.clip(remaining, 0, 8)]
        return words

    @cached_property
    def _shortest(self) -> int:
        """Bytes of the shortest key of a variable batch, 0 when it has none."""
        return int(self._lengths.min()) if len(self) else 0

    def _rounds(self) -> Iterator[tuple[murmur.Rows, U64]]:
        """The word rounds of all keys (see `murmur`)."""
        every = slice(None)
        if self._binary is None:
            for word in self._fixed:
                yield every, word
            return
        longest = int(self._lengths.max(initial=0))
        for index in range(-(-longest // 8)):
            rows: murmur.Rows = every
            if self._shortest <= 8 * index:
                rows = np.flatnonzero(self._lengths > 8 * index)
            yield rows, self._word(index, rows)

    @cached_property
    def _words(self) -> tuple[U64, ...]:
        """Words in the order of the bytes; of a variable batch the lengths come last."""
        return self._fixed if self._binary is None else self._words_of(self._word_count)

    def _words_of(self, count: int) -> tuple[U64, ...]:
        """The first `count` words of a variable batch and the lengths.

        Compared with keys of at most 8 * count bytes this orders exactly: a longer key that agrees
        with one of them in all words has it as a prefix, and the length says so.
        """
        words = [self._word(index, slice(None)) for index in range(count)]
        return (*words, self._lengths.astype(np.uint64))

    def _words_like(self, other: "EncodedKeys") -> tuple[U64, ...]:
        """These keys in words comparable with the other batch's."""
        if self._binary is None or self._word_count == other._word_count:
            return self._words
        return self._words_of(other._word_count)

    @cached_property
    def _order_words(self) -> tuple[U64, ...]:
        """Words for comparisons inside the batch: true ones, or ranks when it is skewed."""
        if not self._is_skewed:
            return self._words
        encoded = self._binary.dictionary_encode()  # type: ignore[union-attr]
        distinct = EncodedKeys.from_binary(encoded.dictionary).to_pylist()
        ranks = np.empty(len(distinct), np.uint64)
        ranks[sorted(range(len(distinct)), key=distinct.__getitem__)] = np.arange(len(distinct))
        return (ranks[encoded.indices.to_numpy()],)


def _word(value: bytes) -> int:
    return int.from_bytes(value, "big")


def _equal(words: U64, value: bytes, start: int, stop: int) -> tuple[int, int]:
    """Where the sorted words from `start` to `stop` are eight bytes; where those belong if none.

    By Python's bisection, which takes as long as numpy's for one value and keeps the interpreter's
    lock: to get it back a short read may have to wait for all that another thread does.
    """
    view, word = words.data, _word(value)
    first = bisect_left(view, word, start, stop)
    return first, bisect_right(view, word, first, stop)
