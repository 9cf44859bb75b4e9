"""Values that a statement about one row computes from its cells, without an engine.

What `UPDATE t SET n = n + 1 WHERE id = ?` sets is a few operations on a few cells, for which an
engine takes a hundred times as long as the rest of the statement. Offered is what has one answer,
whatever types the engine computes in: sums, differences and products of integers, sums and
differences of decimals of one type, arithmetic of doubles, texts joined, NOT, coalesce, and cells
of other columns. Where the answer depends on these types after all (a result too large for the
column's type, a number that is no double), `EngineRequiredError` is raised, and the statement runs
as the query that it is.
"""

import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.comparison import EngineRequiredError, exact_cell
from pykudu_sql.planner.operands.value import Parameter, ParameterValues, parameter_value
from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.predicate.predicate_eval import compare_cells
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, FixedCell
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

# Above it not every integer is a double.
_MOST_EXACT_INTEGER = 1 << 53


class ArithmeticOp(StrEnum):
    """What is done to two numbers; written as in SQL."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"


@dataclass(frozen=True, slots=True)
class ProposedCell:
    """The cell of a column in the row that an INSERT proposes: `excluded.column`."""

    column_id: int


@dataclass(frozen=True, slots=True)
class ParameterCell:
    """A parameter whose value must be one of its type's own, exactly."""

    parameter: Parameter


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right`. `type`: the widest of the columns in it, which has to hold the result."""

    left: "RowExpression"
    op: ArithmeticOp
    right: "RowExpression"
    type: DataType


@dataclass(frozen=True, slots=True)
class Concatenation:
    """`left || right`."""

    left: "RowExpression"
    right: "RowExpression"


@dataclass(frozen=True, slots=True)
class Negation:
    """`NOT part`."""

    part: "RowExpression"


@dataclass(frozen=True, slots=True)
class FirstNotNull:
    """`coalesce(parts)`."""

    parts: "tuple[RowExpression, ...]"


RowExpression = (
    ColumnCell | ProposedCell | FixedCell | ParameterCell
    | Arithmetic | Concatenation | Negation | FirstNotNull
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RowComparison:
    """`left op right`, of expressions of one type."""

    left: RowExpression
    op: Op
    right: RowExpression


@dataclass(frozen=True, slots=True)
class RowCells:
    """What expressions are computed from.

    Attributes:
        stored: cells of the row that is there, by column id.
        proposed: those of the row that an INSERT proposes.
        parameters: the cells of parameters.
    """

    stored: Mapping[int, Cell]
    proposed: Mapping[int, Cell]
    parameters: Mapping[ParameterCell, Cell]


def nodes(expression: RowExpression) -> Iterator[RowExpression]:
    """An expression and all that it consists of."""
    yield expression
    match expression:
        case Arithmetic(left, _, right) | Concatenation(left, right):
            yield from nodes(left)
            yield from nodes(right)
        case Negation(part):
            yield from nodes(part)
        case FirstNotNull(parts):
            for each in parts:
                yield from nodes(each)
        case _:
            pass


def parameter_cell(parameter: Parameter, parameters: ParameterValues) -> Cell:
    """The cell of a `ParameterCell`.

    Raises InterfaceError: the parameter has no value, or one that SQL has not;
    EngineRequiredError: it is of another kind than its type, or the type has no such value.
    """
    value, data_type = parameter_value(parameters, parameter.key, parameter.column), parameter.type
    if value is None:
        return None
    if type(value) not in _OWN_TYPES[data_type.kind]:
        raise EngineRequiredError
    if data_type.kind is Kind.DOUBLE:
        return double_cell(value)
    if data_type.kind is Kind.STRING:
        return to_cell(value, data_type)
    cell = exact_cell(data_type, value)
    if cell is None:
        raise EngineRequiredError
    return cell


def double_cell(value: float) -> float:
    """A number as a double. Raises EngineRequiredError: it is none, or infinite."""
    if abs(value) <= (_MOST_EXACT_INTEGER if type(value) is int else sys.float_info.max):
        return float(value)
    raise EngineRequiredError


def evaluate(expression: RowExpression, cells: RowCells) -> Cell:
    """The value of an expression; None is NULL.

    Raises EngineRequiredError: a result lies outside its type.
    """
    match expression:
        case ColumnCell(column_id):
            return cells.stored[column_id]
        case ProposedCell(column_id):
            return cells.proposed[column_id]
        case FixedCell(cell):
            return cell
        case ParameterCell():
            return cells.parameters[expression]
        case Arithmetic(left, op, right, data_type):
            return _computed(op, evaluate(left, cells), evaluate(right, cells), data_type)
        case Concatenation(left, right):
            return _joined(evaluate(left, cells), evaluate(right, cells))
        case Negation(part):
            flag = evaluate(part, cells)
            return None if flag is None else not flag
        case FirstNotNull(parts):
            values = [evaluate(part, cells) for part in parts]  # all of them: each may be refused
            return next((value for value in values if value is not None), None)


def is_true(comparison: RowComparison, cells: RowCells) -> bool:
    """Whether a comparison holds; False where it is NULL. Raises: as `evaluate`."""
    left, right = evaluate(comparison.left, cells), evaluate(comparison.right, cells)
    return left is not None and right is not None and compare_cells(left, comparison.op, right)


def _computed(op: ArithmeticOp, left: Any, right: Any, data_type: DataType) -> Cell:
    if left is None or right is None:
        return None
    result = _OPERATORS[op](left, right)
    low, high = _limits(data_type)
    if not low <= result <= high:  # so it is with NaN
        raise EngineRequiredError
    answer: Cell = result
    return answer


def _joined(left: Cell, right: Cell) -> str | None:
    return left + right if isinstance(left, str) and isinstance(right, str) else None


def _limits(data_type: DataType) -> tuple[float, float]:
    """The least and the greatest cell of a type of numbers; finite ones of doubles."""
    greatest = sys.float_info.max
    return data_type.integer_range or (-greatest, greatest)


_OWN_TYPES: Mapping[Kind, tuple[type, ...]] = {
    **dict.fromkeys((Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64), (int,)),
    Kind.DECIMAL: (int, Decimal),
    Kind.DOUBLE: (int, float),
    Kind.STRING: (str,),
}
_OPERATORS: Mapping[ArithmeticOp, Callable[[Any, Any], Any]] = {
    ArithmeticOp.ADD: operator.add,
    ArithmeticOp.SUBTRACT: operator.sub,
    ArithmeticOp.MULTIPLY: operator.mul,
}
