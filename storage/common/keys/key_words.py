"""Order among keys held as 64-bit words: sorting, searching, finding equals.

A batch of keys is a sequence of arrays of np.uint64, most significant word first: word j is bytes
8j..8j+8 of each key, big-endian, zero-padded. Comparing the words from the first on is comparing
the bytes, at one native comparison for eight of them.

Sorting packs as many leading bits as fit beside the row number into one integer and sorts that:
numpy's vectorised sort of plain integers is about eight times faster than any argsort, and the row
number makes it stable. Rows that tie in the packed bits are refined by the bits that follow. A word
gives only the bits in which the batch differs (value minus minimum, common trailing zeros dropped),
or, when that is still too wide, its rank among the distinct values.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.common.types.from_buffers import integers, numbers_of

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Words = Sequence[U64]

_SEQUENTIAL_NEEDLES = 4
"""Up to this many needles, searching for one after the other takes fewer calls."""
_SORT_NEEDLES = 4096
"""Above this many needles, sorting them costs less than the cache misses of searching at random."""


def is_sorted(words: Words) -> bool:
    """Whether keys never descend."""
    undecided: npt.NDArray[np.bool_] | None = None
    for word in words:
        before, after = word[:-1], word[1:]
        descends = before > after
        if undecided is not None:
            descends &= undecided
        if descends.any():
            return False
        equal = before == after
        undecided = equal if undecided is None else undecided & equal
        if not undecided.any():
            return True
    return True


def equal_neighbours(words: Words, order: I64) -> I64:
    """Positions i > 0 of `order` where key `order[i]` equals key `order[i - 1]`."""
    positions = np.arange(1, len(order), dtype=np.int64)
    for word in words:
        ordered = word[order]
        if len(positions) == len(order) - 1:
            positions = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
        else:
            positions = positions[ordered[positions] == ordered[positions - 1]]
        if not len(positions):
            break
    return positions


def changes(words: Words) -> npt.NDArray[np.bool_]:
    """Whether a key differs from the one before it, for all but the first, bool[n - 1]."""
    differs: npt.NDArray[np.bool_] = words[-1][1:] != words[-1][:-1]
    for word in words[-2::-1]:
        if differs.all():
            break
        differs |= word[1:] != word[:-1]
    return differs


def sort_order(words: Words) -> I64:
    """The stable ascending order of the keys, shape (n,)."""
    count = len(words[0])
    if count < 2 or is_sorted(words):
        return np.arange(count, dtype=np.int64)
    key, used, complete = _leading_bits(words, 64 - (count - 1).bit_length())
    order = _argsort(key)
    if complete:
        return order
    rest = list(words[used:])
    positions, rows, sorted_key = np.arange(count, dtype=np.int64), order, key[order]
    while rest:
        tied = _ties(sorted_key)
        if not tied.any():
            break
        positions, rows = positions[tied], rows[tied]
        key, used = _extend(_dense(sorted_key[tied]), rows, rest)
        inner = _argsort(key)
        rows, sorted_key = rows[inner], key[inner]
        order[positions] = rows
        rest = rest[used:]
    return order


def insertion_points(words: Words, needles: Words, side: Literal["left", "right"]) -> I64:
    """How many keys of a sorted batch are less than (right: not greater than) each needle.

    Args:
        words: sorted keys.
        needles: keys in any order, with as many words.
        side: as numpy's `searchsorted`.
    """
    if len(needles[0]) > _SORT_NEEDLES and not is_sorted(needles):
        order = sort_order(needles)
        points = np.empty(len(order), np.int64)
        points[order] = insertion_points(words, [needle[order] for needle in needles], side)
        return points
    if len(words) == 1:
        return np.searchsorted(words[0], needles[0], side).astype(np.int64, copy=False)
    if len(needles[0]) <= _SEQUENTIAL_NEEDLES:
        rows = range(len(needles[0]))
        return np.array([_insertion_point(words, needles, row, side) for row in rows], np.int64)
    low = np.searchsorted(words[0], needles[0], "left").astype(np.int64, copy=False)
    high = np.searchsorted(words[0], needles[0], "right").astype(np.int64, copy=False)
    active = np.flatnonzero(low < high)
    # Keys that came in order lie behind all those of their first word: times of one host.
    behind = _precedes(words[1:], high[active] - 1, needles[1:], active, or_equal=side == "right")
    low[active[behind]] = high[active[behind]]
    active = active[~behind]
    while len(active):
        middle = (low[active] + high[active]) >> 1
        right = _precedes(words[1:], middle, needles[1:], active, or_equal=side == "right")
        low[active[right]] = middle[right] + 1
        high[active[~right]] = middle[~right]
        active = active[low[active] < high[active]]
    return low


def _insertion_point(words: Words, needles: Words, row: int, side: Literal["left", "right"]) -> int:
    """`insertion_points` of one needle: among equal words the next ones ascend."""
    low, high = 0, len(words[0])
    for word, needle in zip(words[:-1], needles, strict=False):
        part, value = word[low:high], needle[row]
        high = low + int(part.searchsorted(value, "right"))
        low += int(part.searchsorted(value, "left"))
        if low == high:
            return low
    return low + int(words[-1][low:high].searchsorted(needles[-1][row], side))


def find(words: Words, needles: Words) -> I64:
    """Position of each needle in a sorted batch, -1 where it is not there."""
    count = len(words[0])
    if count == 0:
        return np.full(len(needles[0]), -1, np.int64)
    positions = insertion_points(words, needles, "left")
    clipped = np.minimum(positions, count - 1)
    equal = np.ones(len(positions), np.bool_)
    for word, needle in zip(words, needles, strict=True):
        equal &= word[clipped] == needle
    return np.where(equal, clipped, np.int64(-1))


def _precedes(
    words: Words, at: I64, needles: Words, rows: I64, *, or_equal: bool
) -> npt.NDArray[np.bool_]:
    """Whether key `at[i]` is less than needle `rows[i]` (or equal to it)."""
    if len(words) == 1:
        left, right = words[0][at], needles[0][rows]
        return left <= right if or_equal else left < right
    result = np.full(len(at), or_equal)
    undecided = np.arange(len(at), dtype=np.int64)
    for word, needle in zip(words, needles, strict=True):
        left, right = word[at[undecided]], needle[rows[undecided]]
        differs = left != right
        result[undecided[differs]] = left[differs] < right[differs]
        undecided = undecided[~differs]
        if not len(undecided):
            break
    return result


def _leading_bits(words: Words, budget: int) -> tuple[U64, int, bool]:
    """The first `budget` differing bits of each key, how many words they use up, and if all."""
    key = np.zeros(len(words[0]), np.uint64)
    used_bits = 0
    for index, word in enumerate(words):
        value, bits = _differing_bits(word)
        room = budget - used_bits
        if bits > room:
            key <<= np.uint64(room)
            key |= value >> np.uint64(bits - room)
            return key, index, False
        key = key << np.uint64(bits) | value if used_bits else value
        used_bits += bits
    return key, len(words), True


def _extend(group: U64, rows: I64, words: Words) -> tuple[U64, int]:
    """Group numbers followed by the bits of as many words as fit, at least one."""
    key = group
    used_bits = int(group[-1]).bit_length()
    for index, word in enumerate(words):
        value, bits = _differing_bits(word[rows])
        if used_bits + bits > 64:
            value, bits = _ranks(value)
            if used_bits + bits > 64:
                return key, index
        key = key << np.uint64(bits) | value if bits else key
        used_bits += bits
    return key, len(words)


def _differing_bits(word: U64) -> tuple[U64, int]:
    """A word less its minimum and its common trailing zeros, and the bits left."""
    low, high = word.min(), word.max()
    if low == high:
        return np.zeros(len(word), np.uint64), 0
    value = word - low
    union = int(np.bitwise_or.reduce(value))
    trailing = (union & -union).bit_length() - 1
    if trailing:
        value >>= np.uint64(trailing)
    return value, (int(high - low) >> trailing).bit_length()


def _ranks(word: U64) -> tuple[U64, int]:
    """The rank of each value among the distinct ones, and the bits of the highest."""
    encoded = integers(word).dictionary_encode()
    distinct = numbers_of(encoded.dictionary)
    ranks = np.empty(len(distinct), np.uint64)
    ranks[np.argsort(distinct)] = np.arange(len(distinct), dtype=np.uint64)
    return ranks[numbers_of(encoded.indices)], (len(distinct) - 1).bit_length()


def _argsort(key: U64) -> I64:
    """Stable order of integers, by sorting (value, row) pairs packed into one when they fit."""
    count = len(key)
    row_bits = (count - 1).bit_length()
    if int(key.max()).bit_length() + row_bits > 64:
        return np.argsort(key, kind="stable")
    packed = key << np.uint64(row_bits)
    packed |= np.arange(count, dtype=np.uint64)
    packed.sort()
    packed &= np.uint64((1 << row_bits) - 1)
    return packed.view(np.int64)


def _ties(values: U64) -> npt.NDArray[np.bool_]:
    """Which of some sorted values stand beside their equal."""
    same = values[1:] == values[:-1]
    tied = np.zeros(len(values), np.bool_)
    tied[1:] = same
    tied[:-1] |= same
    return tied


def _dense(values: U64) -> U64:
    """Sorted values as group numbers from 0 on."""
    group = np.zeros(len(values), np.uint64)
    np.cumsum(values[1:] != values[:-1], out=group[1:])
    return group
