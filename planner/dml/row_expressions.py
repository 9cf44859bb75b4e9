"""Assigned values as expressions over the cells of one row, where these give what the engine gives.

An expression is read for the column that takes its value. Numbers of columns and constants are
combined only within one family of types: integers of any width, decimals of the column's own type,
doubles. So no operand is cast but to a type that has its value, and the result is that of the
engine or is refused when it is computed (`operands/row_expression`).
"""

from dataclasses import replace
from decimal import Decimal
from typing import Protocol

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, Typing
from pykudu_sql.planner.operands.comparison import EngineRequiredError, exact_cell
from pykudu_sql.planner.operands.row_expression import (
    Arithmetic,
    ArithmeticOp,
    Concatenation,
    FirstNotNull,
    Negation,
    ParameterCell,
    ProposedCell,
    RowComparison,
    RowExpression,
    double_cell,
)
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.pushdown.condition import ConditionReader, conjuncts
from pykudu_sql.planner.pushdown.table_condition import COMPARISONS
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, FixedCell
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DataError

_OPERATIONS: dict[type[exp.Expr], ArithmeticOp] = {
    exp.Add: ArithmeticOp.ADD,
    exp.Sub: ArithmeticOp.SUBTRACT,
    exp.Mul: ArithmeticOp.MULTIPLY,
}
_WIDTHS = {
    kind: width for width, kind in enumerate((Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64))
}
_DIGITS = 15  # of decimals: with so few, dividing by a power of ten gives the nearest double


class RowSource(Protocol):
    """The rows whose cells expressions are over."""

    def cell(self, node: exp.Column) -> tuple[ColumnCell | ProposedCell, ColumnSchema] | None:
        """The cell that a name means, and its column; None of another name."""

    def constant(self, node: exp.Expr) -> Constant | Hole | None:
        """The constant that an expression is, None if it varies."""


@dataclass(frozen=True, slots=True)
class BoundRow:
    """The row of the only table of a bound query."""

    reader: ConditionReader

    def cell(self, node: exp.Column) -> tuple[ColumnCell, ColumnSchema] | None:
        """The cell that a name means, and its column."""
        read = self.reader.column(node)
        return None if read is None else (ColumnCell(read[1].id), read[1])

    def constant(self, node: exp.Expr) -> Constant | Hole | None:
        """The constant that an expression is, None if it varies."""
        return self.reader.constant(node)


def row_expression(node: exp.Expr, column: ColumnSchema, source: RowSource) -> RowExpression | None:
    """The expression that gives a column its value; None where the engine has to compute it."""
    return _Reader(column, source).read(node)


def row_comparisons(node: exp.Expr | None, source: RowSource) -> tuple[RowComparison, ...] | None:
    """Comparisons that hold together where a condition does; None if only the engine can tell."""
    comparisons: list[RowComparison] = []
    for part in conjuncts(node):
        comparison = _comparison(part, source)
        if comparison is None:
            return None
        comparisons.append(comparison)
    return tuple(comparisons)


def _comparison(node: exp.Expr, source: RowSource) -> RowComparison | None:
    op = COMPARISONS.get(type(node))
    if op is None:
        return None
    for side in (node.this, node.expression):
        cell = source.cell(side) if isinstance(side, exp.Column) else None
        if cell is not None:
            reader = _Reader(replace(cell[1], name="", nullable=True), source)
            left, right = reader.operand(node.this), reader.operand(node.expression)
            return None if left is None or right is None else RowComparison(left, op, right)
    return None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one value for a column."""

    column: ColumnSchema
    source: RowSource

    def read(self, node: exp.Expr) -> RowExpression | None:
        kind = self.column.type.kind
        while isinstance(node, exp.Paren | exp.Alias):
            node = node.this
        match node:
            case exp.Column():
                return self._cell(node)
            case exp.Coalesce():
                return self._first_not_null([node.this, *node.expressions])
            case exp.DPipe() if kind is Kind.STRING:
                left, right = self.operand(node.this), self.operand(node.expression)
                return None if left is None or right is None else Concatenation(left, right)
            case exp.Not() if kind is Kind.BOOL:
                part = self.read(node.this)
                return None if part is None else Negation(part)
            case exp.Add() | exp.Sub() | exp.Mul():
                return self._arithmetic(node)
        return None

    def operand(self, node: exp.Expr, like: DataType | None = None) -> RowExpression | None:
        """A part of an expression, which may be a constant; of type `like` where that is one."""
        return self.read(node) or self._constant(node, like or self.column.type)

    def _cell(self, node: exp.Column) -> ColumnCell | ProposedCell | None:
        named = self.source.cell(node)
        if named is None:
            return None
        data_type, receiver = named[1].type, self.column.type
        is_like = data_type == receiver or {data_type.kind, receiver.kind} <= _WIDTHS.keys()
        return named[0] if is_like else None

    def _first_not_null(self, parts: list[exp.Expr]) -> FirstNotNull | None:
        operands = [self.operand(part) for part in parts]
        present = tuple(operand for operand in operands if operand is not None)
        return FirstNotNull(present) if len(present) == len(operands) else None

    def _arithmetic(self, node: exp.Binary) -> Arithmetic | None:
        op, kind = _OPERATIONS[type(node)], self.column.type.kind
        if not (kind in _WIDTHS or kind is Kind.DOUBLE or self._adds_decimals(op)):
            return None
        data_type = self._widest(node)
        if data_type is None:
            return None
        left = self.operand(node.this, data_type)
        right = self.operand(node.expression, data_type)
        if left is None or right is None:
            return None
        return Arithmetic(left, op, right, data_type)

    def _adds_decimals(self, op: ArithmeticOp) -> bool:
        """Whether decimals are added or subtracted; the product of two has more digits."""
        is_sum = op is not ArithmeticOp.MULTIPLY
        return is_sum and self.column.type.kind is Kind.DECIMAL

    def _widest(self, node: exp.Expr) -> DataType | None:
        """The widest type of the columns in an expression; None where it has none."""
        if self.column.type.kind not in _WIDTHS:
            return self.column.type
        cells = [self.source.cell(column) for column in node.find_all(exp.Column)]
        types = [cell[1].type for cell in cells if cell is not None]
        if len(types) < len(cells) or not types or any(t.kind not in _WIDTHS for t in types):
            return None
        return max(types, key=lambda data_type: _WIDTHS[data_type.kind])

    def _constant(self, node: exp.Expr, data_type: DataType) -> FixedCell | ParameterCell | None:
        value = self.source.constant(node)
        if isinstance(value, Hole):
            if data_type.kind not in _OF_PARAMETERS:
                return None
            return ParameterCell(Parameter(value.key, data_type, self.column.name))
        if value is None or value.typing is Typing.HIDDEN:
            return None
        cell = _cell_of(value, data_type)
        return None if cell is None else FixedCell(cell)


_OF_PARAMETERS = frozenset({*_WIDTHS, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING})


def _cell_of(constant: Constant, data_type: DataType) -> int | float | str | None:
    """A constant of the family of a type as its cell; None if it is of another, or none equals."""
    value, kind = constant.value, data_type.kind
    try:
        if kind is Kind.STRING and type(value) is str:
            text = to_cell(value, data_type)
            return text if isinstance(text, str) else None
        if kind is Kind.DOUBLE and type(value) in (int, float, Decimal):
            return _double(value)
        is_number = kind in _WIDTHS and type(value) is int
        if is_number or (kind is Kind.DECIMAL and type(value) in (int, Decimal)):
            cell = exact_cell(data_type, value)
            return cell if isinstance(cell, int) else None
    except (EngineRequiredError, DataError):
        return None
    return None


def _double(value: object) -> float | None:
    if isinstance(value, Decimal):
        digits = value.as_tuple()
        is_short = len(digits.digits) <= _DIGITS and -_DIGITS <= value.adjusted() <= _DIGITS
        return float(value) + 0.0 if is_short else None  # SQL has no decimal -0.0
    return double_cell(value) if isinstance(value, int | float) else None
