"""Texts that match a pattern of LIKE: many at once, or one.

`%` stands for any characters, `_` for one. A backslash is a character like any other to the engine
and an escape to Arrow's kernel, so patterns with one are not for this module (`is_for_engine`).

Where a pattern has a word of two bytes or more between its wildcards, the texts that hold it are
found first, in the bytes of all texts together: the places where its two rarest bytes stand as far
apart as in the word, then those where the others are the word's too. That takes a third of the time
of Arrow's search, which walks through each text byte by byte.
"""

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.predicate.true_places import true_places
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import validity
from pykudu_sql.storage.common.types.from_buffers import integers, true_flags_of

Mask = npt.NDArray[np.bool_]

_WILDCARDS = re.compile("[%_]")
_STRETCH = 1 << 17  # bytes searched at once, so that what is made of them stays in the cache
_SAMPLED_BYTES = 1 << 12
_LONGEST = 1000  # characters
_LEAST_SEARCHED = 1 << 12  # fewer bytes take Arrow less time than the calls of NumPy


def is_for_engine(pattern: str) -> bool:
    """Whether only the engine is to read a pattern: it has a character that not everyone reads
    alike, or is so long that Arrow's kernel takes seconds to make an automaton of it."""
    return "\\" in pattern or len(pattern) > _LONGEST


def prefix_of(pattern: str) -> str:
    """What every text begins with that matches."""
    return _WILDCARDS.split(pattern, maxsplit=1)[0]


def matches(text: str, pattern: str) -> bool:
    """Whether one text matches a pattern."""
    return _expression(pattern).fullmatch(text) is not None


@lru_cache(maxsize=64)
def _expression(pattern: str) -> re.Pattern[str]:
    """A pattern as a regular expression, in which no more than one `%` tries several places.

    Of what stands between two `%` the first place is as good as each later one, so that is not
    tried again (`(?>..)`). Otherwise the time grows by the power of the text's length.
    """
    first, *others = (
        "".join("." if mark == "_" else re.escape(mark) for mark in part)
        for part in pattern.split("%")
    )
    if not others:
        return re.compile(first, re.DOTALL)
    *between, last = others
    placed = "".join(f"(?>.*?{part})" for part in between if part)
    return re.compile(f"{first}{placed}.*{last}", re.DOTALL)


def matching(texts: pa.StringArray, pattern: str) -> Mask:
    """Which texts match a pattern, bool[len(texts)]; NULL does not.

    `texts`: no dictionary and no views; `pattern`: without an escape.
    """
    word = max(_WILDCARDS.split(pattern), key=len)
    holders = None if pattern == f"%{word}" else _holders(texts, word.encode())
    if holders is None:
        return true_flags_of(pc.match_like(texts, pattern))
    if pattern == f"%{word}%":
        return holders
    places = np.flatnonzero(holders)
    holders[places] = true_flags_of(pc.match_like(texts.take(integers(places)), pattern))
    return holders


def _holders(texts: pa.StringArray, word: bytes) -> Mask | None:
    """Which texts hold a word; None where Arrow's search tells as fast."""
    if len(word) < 2 or not len(texts) or not pa.types.is_string(texts.type):
        return None
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset)
    first, last = int(ends[0]), int(ends[-1])
    if last - first < _LEAST_SEARCHED:
        return None
    starts = _places(np.frombuffer(data, np.uint8, last - first, first), word) + first
    rows = ends.searchsorted(starts, "right") - 1
    mask = np.zeros(len(texts), np.bool_)
    mask[rows[ends[rows + 1] >= starts + len(word)]] = True
    valid = validity(texts)
    return mask if valid is None else mask & valid


def _places(data: npt.NDArray[np.uint8], word: bytes) -> npt.NDArray[np.int64]:
    """Where a word of two bytes or more begins, ascending."""
    count = max(0, len(data) - len(word) + 1)
    one, other, *others = _rarest_first(data, word)
    begins, ends = np.empty(_STRETCH, np.bool_), np.empty(_STRETCH, np.bool_)
    parts: list[npt.NDArray[np.int64]] = []
    for start in range(0, count, _STRETCH):
        size = min(_STRETCH, count - start)
        both = np.equal(data[start + one : start + one + size], word[one], out=begins[:size])
        both &= np.equal(data[start + other : start + other + size], word[other], out=ends[:size])
        places = true_places(both) + start
        for index in others:
            if not len(places):
                break
            places = places[data[places + index] == word[index]]
        parts.append(places)
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _rarest_first(data: npt.NDArray[np.uint8], word: bytes) -> list[int]:
    """The places of a word's bytes, those that the data have least often first, by a sample."""
    counts = np.bincount(data[:_SAMPLED_BYTES], minlength=256)
    return sorted(range(len(word)), key=lambda place: int(counts[word[place]]))
