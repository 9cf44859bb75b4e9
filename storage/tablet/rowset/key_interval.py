"""Rowsets as intervals of a key space measured by data.

Keys cannot be subtracted, but a rowset's rows lie more or less evenly between its lowest and its
highest key. So each rowset spreads its bytes over its key range, and the position of a key is the
share of all bytes that lie below it: a cumulative distribution function (Kudu's
`tablet/rowset_info.cc`). On that scale the width of a rowset is the share of the tablet's data that
lies within its key range, and so the chance that a look-up of a random key has to ask it.

Within a rowset's range keys are placed by the 8 bytes behind the prefix that its lowest and highest
key share, read as one number.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.tablet.rowset.rowset_tree import RowSetTree

_TAIL_BYTES = 8

Tails = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowSetKeyBounds:
    """The keys and the weight of a rowset. `id`: of the rowset; `size`: bytes."""

    id: int
    min_key: bytes
    max_key: bytes
    size: int


@dataclass(frozen=True, slots=True)
class KeyInterval:
    """A rowset on the scale of data: the tablet's keys lie in [0, 1].

    `id`: of the rowset; `low`, `high`: positions of its lowest and its highest key; `size`: bytes.
    """

    id: int
    low: float
    high: float
    size: int

    @property
    def width(self) -> float:
        """The share of the tablet's data within its key range."""
        return self.high - self.low


def key_intervals(ranges: Sequence[RowSetKeyBounds]) -> list[KeyInterval]:
    """Rowsets as intervals, in the order given.

    Where no rowset has a range of its own, because each holds one key, all lie at 0. `ranges`: of
    the rowsets of one tablet.
    """
    keys = sorted({key for r in ranges for key in (r.min_key, r.max_key)})
    spans = [(bisect_left(keys, r.min_key), bisect_left(keys, r.max_key)) for r in ranges]
    between = np.zeros(len(keys))
    tails: dict[int, Tails] = {}
    for bounds, (first, last) in zip(ranges, spans, strict=True):
        shared = _shared_bytes(bounds.min_key, bounds.max_key)
        if shared not in tails:
            tails[shared] = _tails(keys, shared)
        positions = tails[shared][first : last + 1]
        extent = positions[-1] - positions[0]
        if extent > 0:
            between[first + 1 : last + 1] += bounds.size * np.diff(positions) / extent
    scale = np.cumsum(between)
    if len(keys) and scale[-1] > 0:
        scale /= scale[-1]
    return [
        KeyInterval(bounds.id, float(scale[first]), float(scale[last]), bounds.size)
        for bounds, (first, last) in zip(ranges, spans, strict=True)
    ]


def _shared_bytes(low: bytes, high: bytes) -> int:
    """The length of the prefix that two keys share."""
    pairs = enumerate(zip(low, high, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(low), len(high)))


def _tails(keys: Sequence[bytes], start: int) -> Tails:
    """The 8 bytes of each key from a place on as a number, float64[n].

    They ascend only among keys that agree up to `start`, which is all that a caller compares.
    """
    words = b"".join(key[start : start + _TAIL_BYTES].ljust(_TAIL_BYTES, b"\0") for key in keys)
    return np.frombuffer(words, ">u8").astype(np.float64)


def tree_intervals(tree: RowSetTree) -> list[KeyInterval]:
    """A tablet's rowsets as intervals, weighed by what a compaction reads of them."""
    metas = [rowset.meta for rowset in tree.rowsets]
    return key_intervals([RowSetKeyBounds(m.id, m.min_key, m.max_key, m.total_size) for m in metas])


def total_width(intervals: Sequence[KeyInterval]) -> float:
    """The width that intervals cover together, overlaps counted once."""
    covered, end = 0.0, 0.0
    for interval in sorted(intervals, key=lambda i: i.low):
        covered += max(0.0, interval.high - max(interval.low, end))
        end = max(end, interval.high)
    return covered


def average_height(intervals: Sequence[KeyInterval]) -> float:
    """How many rowsets a random key lies in, on average (Kudu's `average_diskrowset_height`).

    1 is ideal, 0 is that of a tablet without rowsets. Where every rowset holds one key only, it is
    the number of rowsets to a key.
    """
    covered = total_width(intervals)
    if covered > 0:
        return sum(interval.width for interval in intervals) / covered
    return float(len(intervals))
