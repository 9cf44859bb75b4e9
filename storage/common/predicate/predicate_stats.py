"""Zone maps against predicates: may any row of a file or block match?

An answer of False is a promise; True promises nothing. Minimum and maximum are bounds and need not
occur (long strings are kept shortened); those of floating-point columns leave NaN out, for
which there is `has_nan`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.predicate.column_predicate import (
    NEVER,
    Among,
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Leaf,
    Like,
    Op,
    Or,
    Predicate,
)
from pykudu_sql.storage.common.predicate.integer_set import IntegerSet
from pykudu_sql.storage.common.types.types import Cell

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Statistics of one column in one file or block.

    Attributes:
        min, max: no non-NULL number or string lies outside; None when unknown.
        null_count: NULLs among the rows.
        row_count: rows.
        has_nan: whether a floating-point value may be NaN.
    """

    min: Cell
    max: Cell
    null_count: int
    row_count: int
    has_nan: bool = False


@dataclass(frozen=True)
class BlockStats:
    """Statistics of one column in each of n blocks; arrays of shape (n,).

    Attributes:
        mins, maxs: numbers, or an object array of strings; any value where unknown.
        has_bounds: whether the block has a minimum and a maximum.
        null_counts, row_counts: NULLs and rows.
        has_nan: whether the block may hold NaN.
    """

    mins: npt.NDArray[Any]
    maxs: npt.NDArray[Any]
    has_bounds: Mask
    null_counts: npt.NDArray[np.integer[Any]]
    row_counts: npt.NDArray[np.integer[Any]]
    has_nan: Mask

    @cached_property
    def present(self) -> Mask:
        """Whether the block has a value that is not NULL."""
        return np.asarray(self.null_counts < self.row_counts)

    @cached_property
    def unbounded(self) -> Mask:
        """Whether nothing is known of the block's values."""
        return ~self.has_bounds


def may_match(predicate: Predicate, stats: Callable[[int], ColumnStats | None]) -> bool:
    """Whether some row may match.

    `predicate`: of the scan; `stats`: a column's statistics by its id, None when there are none.
    """
    match predicate:
        case And(parts):
            return all(may_match(part, stats) for part in parts)
        case Or(parts):
            return any(may_match(part, stats) for part in parts)
    column_stats = stats(predicate.column_id)
    return True if column_stats is None else _leaf_may_match(predicate, column_stats)


def _leaf_may_match(leaf: Leaf, stats: ColumnStats) -> bool:
    if isinstance(leaf, IsNull):
        return stats.null_count > 0
    if stats.null_count >= stats.row_count:
        return False
    if isinstance(leaf, IsNotNull | Like) or stats.min is None or stats.max is None:
        return True
    if isinstance(leaf, Comparison):
        return _interval_may(leaf.op, leaf.value, stats)
    if isinstance(leaf, InList):
        values, has_nan = _numbers(leaf)
        return (has_nan and stats.has_nan) or _has_between(values, stats.min, stats.max)
    if isinstance(leaf, Among):
        assert isinstance(stats.min, int) and isinstance(stats.max, int)
        return leaf.members.has_between(stats.min, stats.max)
    prefix, low, high = _prefix_bounds(leaf.prefix, stats.min, stats.max)
    return bool(low <= prefix <= high)


def _interval_may(op: Op, value: Any, stats: ColumnStats) -> bool:
    if value is None:
        return False
    if value != value:  # NaN: greater than all, equal to itself
        return op in (Op.LT, Op.LE) or (stats.has_nan and op is not Op.GT)
    low: Any = stats.min
    high: Any = stats.max
    if op is Op.EQ:
        return bool(low <= value <= high)
    if op in (Op.LT, Op.LE):
        return bool(_COMPARE[op](low, value))
    return stats.has_nan or bool(_COMPARE[op](high, value))


# So few values are always trimmed: less is made of them.
_FEW_VALUES = 16


def trim(leaf: InList, stats: ColumnStats) -> Predicate:
    """An IN list without the values that no row has; as it is where these are few of many.

    The forms of a list for tests are made once, and those of a new list take as long as many tests.

    Args:
        leaf: its values ascend, as `predicate_simplify` leaves them.
        stats: of the rows it is evaluated on.
    """
    if stats.min is None or stats.max is None or isinstance(stats.min, float):
        return leaf
    values: Sequence[Any] = leaf.values
    first, last = bisect_left(values, stats.min), bisect_right(values, stats.max)
    left = last - first
    if left == len(values) or left > max(_FEW_VALUES, len(values) // 2):
        return leaf
    if left == 1:
        return Comparison(leaf.column_id, Op.EQ, leaf.values[first])
    return InList(leaf.column_id, leaf.values[first:last]) if first < last else NEVER


def _prefix_bounds(prefix: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Cut to the prefix's length, bounds and prefix compare as the whole strings do."""
    return prefix, low[: len(prefix)], high[: len(prefix)]


def may_match_blocks(
    predicate: Predicate, stats: Callable[[int], BlockStats | None], count: int
) -> Mask:
    """Which of `count` blocks may hold a matching row, shape (count,)."""
    match predicate:
        case And(parts):
            mask = np.ones(count, np.bool_)
            for part in parts:
                mask &= may_match_blocks(part, stats, count)
            return mask
        case Or(parts):
            mask = np.zeros(count, np.bool_)
            for part in parts:
                mask |= may_match_blocks(part, stats, count)
            return mask
    column_stats = stats(predicate.column_id)
    return (
        np.ones(count, np.bool_)
        if column_stats is None
        else _blocks_may_match(predicate, column_stats)
    )


def _blocks_may_match(leaf: Leaf, stats: BlockStats) -> Mask:
    if isinstance(leaf, IsNull):
        return np.asarray(stats.null_counts > 0)
    if isinstance(leaf, IsNotNull | Like):
        return stats.present.copy()
    if isinstance(leaf, Comparison):
        mask = _intervals_may(leaf.op, leaf.value, stats)
    elif isinstance(leaf, InList):
        mask = _hold_any(leaf, stats)
    elif isinstance(leaf, Among):
        mask = _hold_members(leaf.members, stats)
    else:
        mask = np.zeros(len(stats.present), np.bool_)
        for block in np.flatnonzero(stats.has_bounds).tolist():
            prefix, low, high = _prefix_bounds(leaf.prefix, stats.mins[block], stats.maxs[block])
            mask[block] = low <= prefix <= high
    mask = mask | stats.unbounded
    mask &= stats.present
    return mask


def _numbers(leaf: InList) -> tuple[Sequence[Any], bool]:
    """The values of a list without NaN, ascending, and whether it has NaN."""
    values = leaf.ascending
    has_nan = bool(values) and values[-1] != values[-1]
    return (values[:-1], True) if has_nan else (values, False)


def _has_between(ascending: Sequence[Any], low: Any, high: Any) -> bool:
    """Whether one of some values lies between two bounds, inclusive."""
    index = bisect_left(ascending, low)
    return index < len(ascending) and bool(ascending[index] <= high)


def _hold_any(leaf: InList, stats: BlockStats) -> Mask:
    """The blocks between whose bounds at least one value of a list lies."""
    values, has_nan = _numbers(leaf)
    mask = stats.has_nan.copy() if has_nan else np.zeros(len(stats.has_bounds), np.bool_)
    blocks = np.flatnonzero(stats.has_bounds)
    # Python's numbers compare exactly, where a FLOAT's bound would meet a rounded constant.
    ends = zip(stats.mins[blocks].tolist(), stats.maxs[blocks].tolist(), strict=True)
    for block, (low, high) in zip(blocks.tolist(), ends, strict=True):
        mask[block] |= _has_between(values, low, high)
    return mask


def _hold_members(members: IntegerSet, stats: BlockStats) -> Mask:
    """The blocks between whose bounds at least one member of a set lies."""
    mask = np.zeros(len(stats.has_bounds), np.bool_)
    for block in np.flatnonzero(stats.has_bounds).tolist():
        mask[block] = members.has_between(int(stats.mins[block]), int(stats.maxs[block]))
    return mask


def _intervals_may(op: Op, value: Any, stats: BlockStats) -> Mask:
    count = len(stats.has_bounds)
    if value is None:
        return np.zeros(count, np.bool_)
    if value != value:
        if op in (Op.LT, Op.LE):
            return np.ones(count, np.bool_)
        return stats.has_nan if op is not Op.GT else np.zeros(count, np.bool_)
    if isinstance(value, float):
        value = np.float64(value)  # a FLOAT's bounds must not meet a rounded constant
    elif isinstance(value, str | bytes):
        value = _boxed(value)
    mask: Mask
    if op is Op.EQ:
        mask = np.less_equal(stats.mins, value).astype(np.bool_)
        mask &= np.greater_equal(stats.maxs, value).astype(np.bool_)
        return mask
    if op in (Op.LT, Op.LE):
        return np.asarray(_COMPARE[op](stats.mins, value), np.bool_)
    return np.asarray(_COMPARE[op](stats.maxs, value), np.bool_) | stats.has_nan


def _boxed(value: str | bytes) -> npt.NDArray[np.object_]:
    """A string as an array of no dimension: numpy's own strings lose NULs at the end."""
    box = np.empty((), np.object_)
    box[()] = value
    return box


_COMPARE: Mapping[Op, Callable[[Any, Any], Any]] = {
    Op.LT: lambda left, right: left < right,
    Op.LE: lambda left, right: left <= right,
    Op.GT: lambda left, right: left > right,
    Op.GE: lambda left, right: left >= right,
}
