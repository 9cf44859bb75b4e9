"""Minimum and maximum of each block of a column, for its zone map.

One kernel call covers all blocks that have no NULL (and no NaN); the others are looked at one by
one. Strings longer than `MAX_BOUND_BYTES` give bounds that are cut: a minimum by dropping its tail,
which only makes it smaller, a maximum by dropping its tail and raising what is left to the next
string, so that it is larger than all strings it stands for.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.zone_map import Mask, ZoneMap, object_array
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import wide_bounds
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.types import DataType

MAX_BOUND_BYTES = 64

_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class BlockCuts:
    """Where a column is cut into blocks, and which slots are NULL.

    Attributes:
        first_ordinals: of each block, and behind the last the number of rows, int64[n + 1].
        valid: False where the slot is NULL, bool[rows]; None when none is.
        null_counts: of each block, int64[n].
    """

    first_ordinals: npt.NDArray[np.int64]
    valid: Mask | None
    null_counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, first_ordinals: npt.NDArray[np.int64], valid: Mask | None) -> "BlockCuts":
        """Cuts with NULLs counted."""
        if valid is None or len(first_ordinals) == 1:
            nulls = np.zeros(len(first_ordinals) - 1, np.int64)
        else:
            present = np.add.reduceat(valid, first_ordinals[:-1], dtype=np.int64)
            nulls = np.diff(first_ordinals) - present
        return cls(first_ordinals, valid, nulls)

    def __len__(self) -> int:
        return len(self.null_counts)

    @property
    def first_block_rows(self) -> int:
        """Rows of the first block, 0 when there is none."""
        return int(self.first_ordinals[1]) if len(self) else 0

    def blocks(self) -> Iterator[tuple[int, int]]:
        """First ordinal and end of each block."""
        firsts = self.first_ordinals.tolist()
        return pairwise(firsts)

    def validity_of(self, start: int, stop: int) -> Mask | None:
        """False where a slot of a block is NULL; None when none is."""
        if self.valid is None:
            return None
        part = self.valid[start:stop]
        return None if bool(part.all()) else part


def fixed_zone_map(values: npt.NDArray[Any], column_type: DataType, cuts: BlockCuts) -> ZoneMap:
    """The zone map of numbers or BOOL, given as `fixed_view` gives them."""
    count = len(cuts)
    if column_type.width == 16:
        bounds = [wide_bounds(part) if len(part) else None for part in _present(values, cuts)]
        cells = [(0, 0) if bound is None else bound for bound in bounds]
        has_bounds = np.array([bound is not None for bound in bounds], np.bool_)
        mins = object_array([low for low, _ in cells])
        maxs = object_array([high for _, high in cells])
        return _zone_map(column_type, cuts, mins, maxs, has_bounds)
    if count == 0:
        empty = np.empty(0, values.dtype)
        return _zone_map(column_type, cuts, empty, empty, np.empty(0, np.bool_))
    mins = np.minimum.reduceat(values, cuts.first_ordinals[:-1])
    maxs = np.maximum.reduceat(values, cuts.first_ordinals[:-1])
    has_bounds = np.ones(count, np.bool_)
    has_nan = np.isnan(mins) if column_type.is_floating else np.zeros(count, np.bool_)
    # The reductions looked at the zeros in NULL slots, and a NaN makes both bounds NaN.
    for block in np.flatnonzero((cuts.null_counts > 0) | has_nan).tolist():
        start, stop = cuts.first_ordinals[block : block + 2].tolist()
        part = _present_of(values, cuts, start, stop)
        if has_nan[block]:
            part = part[~np.isnan(part)]
        has_bounds[block] = len(part) > 0
        mins[block], maxs[block] = (part.min(), part.max()) if len(part) else (0, 0)
    return _zone_map(column_type, cuts, mins, maxs, has_bounds, has_nan)


def code_zone_map(
    codes: npt.NDArray[Any], words: pa.Array, column_type: DataType, cuts: BlockCuts
) -> ZoneMap:
    """The zone map of a dictionary column, whose codes are in the order of its words."""
    spans = [
        (int(part.min()), int(part.max())) if len(part) else None for part in _present(codes, cuts)
    ]
    used = sorted({code for span in spans if span is not None for code in span})
    cells = dict(zip(used, words.take(integers(np.array(used, np.int64))).to_pylist(), strict=True))
    bounds = [None if span is None else (cells[span[0]], cells[span[1]]) for span in spans]
    return _string_zone_map(bounds, column_type, cuts)


def string_zone_map(values: pa.Array, column_type: DataType, cuts: BlockCuts) -> ZoneMap:
    """The zone map of strings or binaries."""
    bounds = []
    for start, stop in cuts.blocks():
        extremes = pc.min_max(values.slice(start, stop - start)).as_py()
        bounds.append(None if extremes["min"] is None else (extremes["min"], extremes["max"]))
    return _string_zone_map(bounds, column_type, cuts)


def _string_zone_map(
    bounds: Sequence[tuple[Any, Any] | None], column_type: DataType, cuts: BlockCuts
) -> ZoneMap:
    absent: Any = "" if column_type.is_text else b""
    lows = [absent if bound is None else bound[0] for bound in bounds]
    highs = [absent if bound is None else bound[1] for bound in bounds]
    mins = [truncate_down(low) for low in lows]
    maxs = [truncate_up(high) for high in highs]
    has_bounds = np.array(
        [b is not None and m is not None for b, m in zip(bounds, maxs, strict=True)], np.bool_
    )
    exact = has_bounds & np.array(
        [a == b and c == d for a, b, c, d in zip(lows, mins, highs, maxs, strict=True)], np.bool_
    )
    upper = object_array([absent if high is None else high for high in maxs])
    return _zone_map(column_type, cuts, object_array(mins), upper, has_bounds, exact=exact)


def _zone_map(
    column_type: DataType,
    cuts: BlockCuts,
    mins: npt.NDArray[Any],
    maxs: npt.NDArray[Any],
    has_bounds: Mask,
    has_nan: Mask | None = None,
    exact: Mask | None = None,
) -> ZoneMap:
    return ZoneMap(
        type=column_type,
        first_ordinals=cuts.first_ordinals,
        null_counts=cuts.null_counts,
        mins=mins,
        maxs=maxs,
        has_bounds=has_bounds,
        has_nan=np.zeros(len(cuts), np.bool_) if has_nan is None else has_nan,
        exact=has_bounds if exact is None else exact,
    )


def _present(values: npt.NDArray[Any], cuts: BlockCuts) -> Iterator[npt.NDArray[Any]]:
    """The values of each block without those of NULL slots."""
    return (_present_of(values, cuts, start, stop) for start, stop in cuts.blocks())


def _present_of(
    values: npt.NDArray[Any], cuts: BlockCuts, start: int, stop: int
) -> npt.NDArray[Any]:
    valid = cuts.validity_of(start, stop)
    return values[start:stop] if valid is None else values[start:stop][valid]


def truncate_down(cell: str | bytes) -> str | bytes:
    """A string not greater than `cell`, of at most `MAX_BOUND_BYTES` bytes."""
    if isinstance(cell, bytes):
        return cell[:MAX_BOUND_BYTES]
    encoded = cell.encode()
    if len(encoded) <= MAX_BOUND_BYTES:
        return cell
    return encoded[:MAX_BOUND_BYTES].decode(errors="ignore")


def truncate_up(cell: str | bytes) -> str | bytes | None:
    """A string not less than `cell`, of at most `MAX_BOUND_BYTES` bytes and a few; None if none."""
    prefix = truncate_down(cell)
    if prefix == cell:
        return cell
    if isinstance(prefix, bytes):
        prefix = prefix.rstrip(b"\xff")
        return prefix[:-1] + bytes((prefix[-1] + 1,)) if prefix else None
    prefix = prefix.rstrip(chr(_LAST_CODE_POINT))
    if not prefix:
        return None
    following = ord(prefix[-1]) + 1
    if following in _SURROGATES:
        following = _SURROGATES.stop
    return prefix[:-1] + chr(following)
