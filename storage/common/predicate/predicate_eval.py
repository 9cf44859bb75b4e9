"""Evaluates predicates over batches of rows, one boolean mask without a loop over rows, or on one.

Fixed-width columns are compared on their stored values in numpy, strings by Arrow's kernels, and a
dictionary column once per word. A row whose cell is NULL is never true but for IS NULL.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.predicate.column_predicate import (
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
    StartsWith,
)
from pykudu_sql.storage.common.predicate.flag_lookup import flags_at
from pykudu_sql.storage.common.predicate.text_pattern import matches, matching
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import (
    cells_to_array,
    filled_numbers,
    fixed_view,
    validity,
)
from pykudu_sql.storage.common.types.from_buffers import true_flags_of
from pykudu_sql.storage.common.types.types import Cell, DataType

Mask = npt.NDArray[np.bool_]

_MAX_COMPARED_CODES = 6


def evaluate(
    predicate: Predicate, columns: Mapping[int, pa.Array], types: Mapping[int, DataType]
) -> Mask:
    """Which rows of a batch a predicate holds for.

    Args:
        columns: the batch by column id, at least one column, all of one length.
        types: the types of the columns the predicate names.

    Returns shape (rows,); False where it is false or NULL.
    """
    match predicate:
        case And(parts):
            if not parts:
                return np.ones(_length(columns), np.bool_)
            mask = evaluate(parts[0], columns, types)
            for part in parts[1:]:
                if not mask.any():
                    break
                mask &= evaluate(part, columns, types)
            return mask
        case Or(parts):
            if not parts:
                return np.zeros(_length(columns), np.bool_)
            mask = evaluate(parts[0], columns, types)
            for part in parts[1:]:
                if mask.all():
                    break
                mask |= evaluate(part, columns, types)
            return mask
    return _evaluate_leaf(predicate, columns[predicate.column_id], types[predicate.column_id])


def is_true(predicate: Predicate, cells: Mapping[int, Cell]) -> bool:
    """Whether a predicate holds for one row; False where it is false or NULL.

    `cells`: by column id, those that the predicate looks at among them.
    """
    match predicate:
        case And(parts):
            return all(is_true(part, cells) for part in parts)
        case Or(parts):
            return any(is_true(part, cells) for part in parts)
    cell = cells[predicate.column_id]
    if cell is None or isinstance(predicate, IsNull):
        return cell is None and isinstance(predicate, IsNull)
    match predicate:
        case Comparison(_, op, value):
            return compare_cells(cell, op, value)
        case InList(_, values):
            return any(compare_cells(cell, Op.EQ, value) for value in values if value is not None)
        case StartsWith(_, prefix):
            return cell[: len(prefix)] == prefix  # type: ignore[index]
        case Like(_, pattern):
            return isinstance(cell, str) and matches(cell, pattern)
        case Among(_, members):
            return bool(members.contains(np.array([cell], np.int64))[0])
    return True


def compare_cells(left: Any, op: Op, right: Any) -> bool:
    """Whether `left op right` holds for two cells of one type, none of them NULL."""
    if left != left or right != right:
        left, right = left != left, right != right
    answer: bool = OPERATORS[op](left, right)
    return answer


def _length(columns: Mapping[int, pa.Array]) -> int:
    return len(next(iter(columns.values())))


def _evaluate_leaf(leaf: Leaf, values: pa.Array, column_type: DataType) -> Mask:
    if pa.types.is_dictionary(values.type):
        return _evaluate_dictionary(leaf, values, column_type)
    valid = validity(values)
    if isinstance(leaf, IsNull | IsNotNull):
        present = np.ones(len(values), np.bool_) if valid is None else valid
        return ~present if isinstance(leaf, IsNull) else present
    if column_type.is_variable:
        return _evaluate_strings(leaf, values, column_type)
    mask = _evaluate_fixed(leaf, values, column_type)
    return mask if valid is None else mask & valid


def _evaluate_dictionary(leaf: Leaf, values: pa.DictionaryArray, column_type: DataType) -> Mask:
    """The answer for each word, then for NULL as the last entry, looked up by the codes."""
    words = _evaluate_leaf(leaf, values.dictionary, column_type)
    codes = filled_numbers(values.indices, len(words))
    if values.indices.null_count:  # else codes may be too narrow for one more
        words = np.append(words, isinstance(leaf, IsNull))
    return have_words(codes, words)


def have_words(codes: npt.NDArray[Any], words: Mask) -> Mask:
    """Which codes stand for words that a predicate holds for, bool[len(codes)].

    Args:
        codes: integers from 0 to len(words) - 1.
        words: whether it holds for each word.
    """
    mask = compared_codes(codes, words)
    return flags_at(words, codes) if mask is None else mask


def compared_codes(codes: npt.NDArray[Any], words: Mask) -> Mask | None:
    """The same by a few comparisons; None where it takes more than those.

    They are ten times as fast as a look-up. What a range of values matches of words that
    ascend lies side by side.
    """
    matching = np.flatnonzero(words)
    count = len(matching)
    if count == len(words):
        return np.ones(len(codes), np.bool_)
    if count > 1 and matching[-1] - matching[0] + 1 == count:
        return _lie_between(codes, matching[0], matching[-1], len(words))
    if count > _MAX_COMPARED_CODES:
        return None
    mask = np.zeros(len(codes), np.bool_)
    for code in matching.tolist():
        mask |= codes == codes.dtype.type(code)
    return mask


def _lie_between(codes: npt.NDArray[Any], first: int, last: int, words: int) -> Mask:
    """Which codes are first <= code <= last; one of the two is no bound of all words."""
    kind = codes.dtype.type
    if first == 0:
        return np.asarray(codes <= kind(last))
    if last == words - 1:
        return np.asarray(codes >= kind(first))
    unsigned = codes.view(f"u{codes.itemsize}")
    # Codes below the first one wrap around, to more than all others.
    above = unsigned - unsigned.dtype.type(first)
    flags = above.view(np.bool_) if above.itemsize == 1 else np.empty(len(above), np.bool_)
    np.less_equal(above, above.dtype.type(last - first), out=flags)
    return flags


def _evaluate_strings(leaf: Leaf, values: pa.Array, column_type: DataType) -> Mask:
    if len(values) == 0:
        return np.zeros(0, np.bool_)
    match leaf:
        case Comparison(_, op, value):
            scalar = cells_to_array([value], column_type)[0]
            mask = getattr(pc, ARROW_KERNELS[op])(values, scalar)
        case InList():
            mask = pc.is_in(values, value_set=cells_to_array(leaf.ascending, column_type))
        case StartsWith(_, prefix):
            mask = pc.starts_with(values, prefix)
        case Like(_, pattern):
            return matching(values, pattern)
    return true_flags_of(mask)


def _evaluate_fixed(leaf: Leaf, values: pa.Array, column_type: DataType) -> Mask:
    stored = fixed_view(values, column_type)
    match leaf:
        case Comparison(_, op, value):
            return _compare(stored, op, value, column_type)
        case InList():
            return _is_in(stored, leaf, column_type)
        case Among(_, members):
            return members.contains(stored)
    return np.zeros(len(values), np.bool_)


def _compare(stored: npt.NDArray[Any], op: Op, value: Cell, column_type: DataType) -> Mask:
    if column_type.is_floating:
        assert isinstance(value, float | int)
        return _compare_floats(stored, op, float(value))
    if column_type.width == 16:
        assert isinstance(value, int)
        return _compare_wide(stored, op, value)
    mask: Mask = OPERATORS[op](stored, value)
    return mask


def _compare_floats(stored: npt.NDArray[Any], op: Op, value: float) -> Mask:
    """Compares as doubles, so a FLOAT is not tested against a rounded constant."""
    mask: Mask
    if math.isnan(value):
        if op in (Op.EQ, Op.GE):
            mask = np.isnan(stored)
        elif op is Op.LT:
            mask = ~np.isnan(stored)
        else:
            mask = np.full(len(stored), op is Op.LE)
        return mask
    mask = OPERATORS[op](stored, np.float64(value))
    if op in (Op.GT, Op.GE):
        mask |= np.isnan(stored)
    return mask


def _compare_wide(stored: npt.NDArray[np.uint64], op: Op, value: int) -> Mask:
    """16-byte decimals by their signed high and unsigned low words."""
    high, low = stored[:, 1].view(np.int64), stored[:, 0]
    split = divmod(value, 1 << 64)
    value_high, value_low = np.int64(split[0]), np.uint64(split[1])
    level: Mask = high == value_high
    if op is Op.EQ:
        level &= low == value_low
        return level
    strict = Op.LT if op in (Op.LT, Op.LE) else Op.GT
    mask: Mask = OPERATORS[strict](high, value_high)
    mask |= level & OPERATORS[op](low, value_low)
    return mask


def _is_in(stored: npt.NDArray[Any], members: InList, column_type: DataType) -> Mask:
    if column_type.width == 16:
        mask = np.zeros(len(stored), np.bool_)
        for member in members.ascending:
            mask |= _compare(stored, Op.EQ, member, column_type)
        return mask
    if column_type.is_floating:
        numbers = np.array(members.ascending, np.float64)
        mask = np.asarray(np.isin(stored.astype(np.float64), numbers))
        if np.isnan(numbers).any():
            mask |= np.isnan(stored)
        return mask
    low, high = column_type.integer_range or (0, 1)
    integers = members.integers
    inside = integers[(integers >= low) & (integers <= high)]
    near = len(inside) and int(inside[-1]) - int(inside[0]) < _TABLE_SHARE * len(stored)
    if stored.dtype.kind == "i" and near and members.members is not None:
        return members.members.contains(stored)
    if len(inside) > 0 and len(stored) <= _SEARCHED_ROWS:
        ascending = inside.astype(stored.dtype)
        slots = np.minimum(ascending.searchsorted(stored), len(ascending) - 1)
        searched: Mask = ascending[slots] == stored
        return searched
    return np.isin(stored, inside.astype(stored.dtype))


# Flags of a set for each row that is looked up: to make them is not to take longer than that.
_TABLE_SHARE = 64
# As many are searched one by one; NumPy's way for many has 50 us of calls before it begins.
_SEARCHED_ROWS = 4096

OPERATORS: Mapping[Op, Callable[[Any, Any], Any]] = {
    Op.EQ: operator.eq,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
}
# By name, for the module that has them is loaded when the first one is called.
ARROW_KERNELS: Mapping[Op, str] = {
    Op.EQ: "equal",
    Op.LT: "less",
    Op.LE: "less_equal",
    Op.GT: "greater",
    Op.GE: "greater_equal",
}
