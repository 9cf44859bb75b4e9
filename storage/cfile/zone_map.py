"""Zone maps: for each block its rows, NULLs, minimum and maximum, so scans skip blocks unread.

Kudu has none for columns outside the key. Bounds are sound, not always tight: no present value lies
outside them. A long string's minimum is cut short and its maximum cut short and rounded up; where
that is impossible the block's bounds are unknown. Bounds of floating-point columns leave NaN out,
and a block that holds NaN says so.

    4n      rows, u32 each
    4n      NULLs, u32 each
    n       flags: 1 = has bounds, 2 = holds NaN, 4 = both bounds occur in the block
    .       minima, then maxima: values of the type's width (16-byte ones as signed integers), or
            for strings u16 lengths of all minima, u16 lengths of all maxima, then their bytes
"""

import operator
import struct
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.predicate.predicate_stats import (
    BlockStats,
    ColumnStats,
    may_match_blocks,
)
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.errors import CorruptionError

Mask = npt.NDArray[np.bool_]

_HAS_BOUNDS, _NAN, _EXACT = 1, 2, 4
_HEAD_BYTES = 9
# By flag, for each byte of flags whether it has that one.
_IS_SET = {
    flag: bytes(bool(flags & flag) for flags in range(256)) for flag in (_HAS_BOUNDS, _NAN, _EXACT)
}


@dataclass(frozen=True, eq=False)
class ZoneMap:
    """Statistics of a column's blocks.

    Attributes:
        first_ordinals: of each block, and behind the last the number of rows, int64[n + 1].
        null_counts: int64[n].
        mins, maxs: stored values of the type, or an object array of str, bytes or (for 16-byte
            decimals) int; any value where unknown, shape (n,).
        has_bounds: whether the block has a minimum and a maximum, bool[n].
        has_nan: whether the block holds NaN, bool[n].
        exact: whether both bounds occur in the block, bool[n].
    """

    type: DataType
    first_ordinals: npt.NDArray[np.int64]
    null_counts: npt.NDArray[np.int64]
    mins: npt.NDArray[Any]
    maxs: npt.NDArray[Any]
    has_bounds: Mask
    has_nan: Mask
    exact: Mask

    @property
    def block_count(self) -> int:
        """Blocks."""
        return len(self.null_counts)

    @cached_property
    def row_counts(self) -> npt.NDArray[np.int64]:
        """Rows of each block, int64[n]."""
        return self.first_ordinals[1:] - self.first_ordinals[:-1]

    def holds_any(self, ordinals: npt.NDArray[np.int64]) -> Mask:
        """Which blocks hold some of the rows, a new array bool[n]. `ordinals`: ascending."""
        # Few searches in many rows, not many in few.
        before = ordinals.searchsorted(self.first_ordinals)
        return np.asarray(before[1:] > before[:-1])

    @cached_property
    def block_stats(self) -> BlockStats:
        """The same for predicates."""
        return BlockStats(
            self.mins, self.maxs, self.has_bounds, self.null_counts, self.row_counts, self.has_nan
        )

    def may_match(self, predicate: Predicate) -> Mask:
        """Which blocks may hold a matching row, a new array bool[n].

        `predicate`: over this column alone.
        """
        stats = self.block_stats
        return may_match_blocks(predicate, lambda _: stats, self.block_count)

    @cached_property
    def column_stats(self) -> ColumnStats:
        """All blocks taken together."""
        present = self.block_stats.present
        low, high = self._extremes(present)
        return ColumnStats(
            min=low,
            max=high,
            null_count=int(self.null_counts.sum()),
            row_count=int(self.first_ordinals[-1]),
            has_nan=bool(self.has_nan.any()),
        )

    @property
    def is_exact(self) -> bool:
        """Whether the minimum and maximum of `column_stats` are values of the column."""
        present = self.block_stats.present
        return bool(self.exact[present].all()) and not bool(self.has_nan.any())

    def _extremes(self, present: Mask) -> tuple[Cell, Cell]:
        # A block of nothing but NaN has no bounds, and adds nothing to those of the others.
        bounded = present & self.has_bounds
        if not bounded.any() or bool((present & ~self.has_bounds & ~self.has_nan).any()):
            return None, None
        low, high = self.mins[bounded].min(), self.maxs[bounded].max()
        if isinstance(low, np.generic):
            return low.item(), high.item()
        return low, high

    def to_bytes(self) -> bytes:
        """The zone map as stored."""
        flags = self.has_bounds * _HAS_BOUNDS + self.has_nan * _NAN + self.exact * _EXACT
        head = (
            self.row_counts.astype("<u4").tobytes(),
            self.null_counts.astype("<u4").tobytes(),
            flags.astype(np.uint8).tobytes(),
        )
        return b"".join((*head, *self._bounds_bytes()))

    def _bounds_bytes(self) -> Iterator[bytes]:
        if self.type.is_variable:
            bounds = [_encoded(bound) for bound in (*self.mins, *self.maxs)]
            yield np.array([len(bound) for bound in bounds], "<u2").tobytes()
            yield from bounds
        elif self.type.width == 16:
            for bound in (*self.mins, *self.maxs):
                yield int(bound).to_bytes(16, "little", signed=True)
        else:
            yield self.mins.astype(self.type.numpy).tobytes()
            yield self.maxs.astype(self.type.numpy).tobytes()

    @classmethod
    def from_bytes(cls, data: memoryview, column_type: DataType, blocks: int) -> "ZoneMap":
        """The inverse of `to_bytes`.

        `data`: exactly the zone map; `blocks`: how many the CFile has. Raises CorruptionError: the
        bytes are no zone map of so many blocks of the type.
        """
        if len(data) < _HEAD_BYTES * blocks:
            raise CorruptionError(f"a zone map of {blocks} blocks has only {len(data)} bytes")
        # A column of a rowset has tens of blocks: Python's numbers take less than numpy's calls.
        counts = struct.unpack_from(f"<{2 * blocks}I", data)
        rows, nulls = counts[:blocks], counts[blocks:]
        if any(map(operator.gt, nulls, rows)) or 0 in rows:
            raise CorruptionError("a zone map has empty blocks or more NULLs than rows")
        flags = bytes(data[8 * blocks : _HEAD_BYTES * blocks])
        mins, maxs = _read_bounds(data[_HEAD_BYTES * blocks :], column_type, blocks)
        return cls(
            type=column_type,
            first_ordinals=np.array([*accumulate(rows, initial=0)], np.int64),
            null_counts=np.array(nulls, np.int64),
            mins=mins,
            maxs=maxs,
            has_bounds=_blocks_with(_HAS_BOUNDS, flags),
            has_nan=_blocks_with(_NAN, flags),
            exact=_blocks_with(_EXACT, flags),
        )


def _blocks_with(flag: int, flags: bytes) -> Mask:
    return np.frombuffer(flags.translate(_IS_SET[flag]), np.bool_)


def object_array(values: list[Any]) -> npt.NDArray[Any]:
    """A numpy array that holds Python values as they are."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _encoded(bound: str | bytes) -> bytes:
    return bound.encode() if isinstance(bound, str) else bound


def _read_bounds(
    data: memoryview, column_type: DataType, blocks: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if column_type.is_variable:
        bounds = _read_strings(data, column_type, 2 * blocks)
    else:
        width = column_type.width
        if len(data) != 2 * blocks * width:
            raise CorruptionError(f"bounds of {blocks} blocks take {len(data)} bytes")
        if width == 16:
            starts = range(0, len(data), 16)
            wide = [int.from_bytes(data[i : i + 16], "little", signed=True) for i in starts]
            bounds = object_array(wide)
        else:
            bounds = np.frombuffer(data, column_type.numpy)
    return bounds[:blocks], bounds[blocks:]


def _read_strings(data: memoryview, column_type: DataType, count: int) -> npt.NDArray[Any]:
    if len(data) < 2 * count:
        raise CorruptionError(f"{count} bounds take {len(data)} bytes")
    ends = 2 * count + np.cumsum(np.frombuffer(data, "<u2", count), dtype=np.int64)
    if len(data) != (ends[-1] if count else 0):
        raise CorruptionError(f"bounds of strings take {len(data)} bytes")
    starts = [2 * count, *ends.tolist()]
    pieces = [bytes(data[a:b]) for a, b in pairwise(starts)]
    if not column_type.is_text:
        return object_array(pieces)
    try:
        return object_array([piece.decode() for piece in pieces])
    except UnicodeDecodeError as error:
        raise CorruptionError("a bound of text is not UTF-8") from error
