"""Evaluates conditions on rows: of a batch as masks, of one row on its cells.

Both forms give the same answer. A condition is neither true nor false where it is NULL, so a batch
has two masks. Values are ordered as the engine orders them: NaN equals NaN and is the greatest.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.predicate.column_predicate import Comparison, InList, Op
from pykudu_sql.storage.common.predicate.predicate_eval import (
    ARROW_KERNELS,
    OPERATORS,
    compare_cells,
    evaluate,
)
from pykudu_sql.storage.common.predicate.row_condition import (
    AllOf,
    AnyOf,
    Compared,
    FixedCell,
    Matches,
    Missing,
    Negated,
    OneOf,
    Operand,
    RowCondition,
    Side,
    TextLength,
)
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import fixed_view, plain, validity
from pykudu_sql.storage.common.types.from_buffers import true_flags_of
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

Mask = npt.NDArray[np.bool_]
Types = Mapping[int, DataType]

_INTEGER = DataType(Kind.INT64)
_ANY = 0  # an operand's column id, where a predicate is asked of it alone


class Truth(NamedTuple):
    """Where a condition is true and where it is false, bool[n]; elsewhere it is NULL."""

    true: Mask
    false: Mask


class _Values(NamedTuple):
    """An operand in all rows."""

    cells: pa.Array
    type: DataType

    @property
    def present(self) -> Mask:
        """Where it is not NULL."""
        valid = validity(self.cells)
        return np.ones(len(self.cells), np.bool_) if valid is None else valid


def truth(condition: RowCondition, columns: Mapping[int, pa.Array], types: Types) -> Truth:
    """What a condition is in the rows of a batch.

    Args:
        columns: of the batch by id, those that the condition looks at among them.
        types: of these columns.
    """
    match condition:
        case Negated(part):
            inner = truth(part, columns, types)
            return Truth(inner.false, inner.true)
        case AllOf(parts):
            each = [truth(part, columns, types) for part in parts]
            return Truth(_every([t.true for t in each]), _some([t.false for t in each]))
        case AnyOf(parts):
            each = [truth(part, columns, types) for part in parts]
            return Truth(_some([t.true for t in each]), _every([t.false for t in each]))
        case Missing():
            present = _values(condition.operand, columns, types).present
            return Truth(~present, present)
        case Compared(left, op, right) if not isinstance(right, FixedCell):
            return _between(_values(left, columns, types), op, _values(right, columns, types))
    operand = condition.left if isinstance(condition, Compared) else condition.operand
    values = _values(operand, columns, types)
    true = _hits(condition, values)
    return Truth(true, values.present & ~true)


def _every(masks: list[Mask]) -> Mask:
    joined: Mask = np.logical_and.reduce(masks)
    return joined


def _some(masks: list[Mask]) -> Mask:
    joined: Mask = np.logical_or.reduce(masks)
    return joined


def _values(operand: Operand, columns: Mapping[int, pa.Array], types: Types) -> _Values:
    cells = columns[operand.column_id]
    if isinstance(operand, TextLength):
        return _Values(pc.utf8_length(plain(cells)).cast(pa.int64()), _INTEGER)
    return _Values(cells, types[operand.column_id])


def _hits(condition: Compared | OneOf | Matches, values: _Values) -> Mask:
    """Where a comparison with constants is true."""
    columns, types = {_ANY: values.cells}, {_ANY: values.type}
    match condition:
        case OneOf(_, cells):
            return evaluate(InList(_ANY, cells), columns, types)
        case Matches(_, pattern):
            matches = pc.match_substring_regex(plain(values.cells), _regex_text(pattern))
            return true_flags_of(matches)
        case Compared(_, op, FixedCell(cell)):
            return evaluate(Comparison(_ANY, op, cell), columns, types)
    raise AssertionError(condition)


def _between(left: _Values, op: Op, right: _Values) -> Truth:
    """A comparison of two operands of one kind."""
    present = left.present & right.present
    if left.type.is_floating:
        numbers = [fixed_view(v.cells, v.type).astype(np.float64) for v in (left, right)]
        nans = [np.isnan(each) for each in numbers]
        true = OPERATORS[op](*numbers) | (OPERATORS[op](*nans) & (nans[0] | nans[1]))
    elif left.type.is_integer:
        true = OPERATORS[op](*[fixed_view(v.cells, v.type) for v in (left, right)])
    else:
        true = true_flags_of(getattr(pc, ARROW_KERNELS[op])(plain(left.cells), plain(right.cells)))
    true = true & present
    return Truth(true, present & ~true)


def holds(condition: RowCondition, cells: Mapping[int, Cell]) -> bool | None:
    """What a condition is in one row; None is NULL.

    `cells`: by column id, those that the condition looks at among them.
    """
    match condition:
        case Compared(left, op, right):
            a, b = _cell(left, cells), _cell(right, cells)
            return None if a is None or b is None else compare_cells(a, op, b)
        case OneOf(operand, members):
            cell = _cell(operand, cells)
            return (
                None
                if cell is None
                else any(compare_cells(cell, Op.EQ, member) for member in members)
            )
        case Matches(operand, pattern):
            text = cells[operand.column_id]
            return None if text is None else _regex(pattern).search(str(text)) is not None
        case Missing(operand):
            return cells[operand.column_id] is None
        case Negated(part):
            inner = holds(part, cells)
            return None if inner is None else not inner
        case AllOf(parts):
            answers = [holds(part, cells) for part in parts]
            return False if False in answers else None if None in answers else True
        case AnyOf(parts):
            answers = [holds(part, cells) for part in parts]
            return True if True in answers else None if None in answers else False


def _cell(side: Side, cells: Mapping[int, Cell]) -> Cell:
    match side:
        case FixedCell(cell):
            return cell
        case TextLength(column_id):
            text = cells[column_id]
            return len(text) if isinstance(text, str) else None
        case _:
            return cells[side.column_id]


def _regex_text(pattern: str) -> str:
    """A LIKE pattern as a regular expression, of Python's and of Arrow's kind alike."""
    return r"(?s)\A" + "".join(map(_regex_part, pattern)) + r"\z"


def _regex_part(character: str) -> str:
    if character == "%":
        return ".*"
    if character == "_":
        return "."
    plain_text = character.isalnum() or ord(character) > 127
    return character if plain_text else f"\\x{ord(character):02x}"


@lru_cache(maxsize=256)
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(_regex_text(pattern).removesuffix(r"\z") + r"\Z")
