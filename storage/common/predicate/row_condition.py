"""Conditions on whole rows, as CHECK constraints state them: true, false, or NULL.

A predicate of a scan compares one column with constants, and takes NULL for false. A condition may
compare two columns and be negated, so it keeps the third truth value: a row is refused where its
condition is false, and passes where that is NULL. Cells are those of the columns' types.

As JSON a condition is a list that begins with what it is:

    ["=", operand, operand], and likewise "<", "<=", ">", ">="
    ["in", operand, [cells]], ["like", operand, pattern], ["null", operand]
    ["not", condition], ["and", [conditions]], ["or", [conditions]]

and an operand is ["column", id], ["length", id] or ["cell", cell].
"""

from collections.abc import Iterator
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.types.cells import cell_from_json, cell_to_json
from pykudu_sql.storage.common.types.types import Cell


@dataclass(frozen=True, slots=True)
class ColumnCell:
    """The cell of a column."""

    column_id: int


@dataclass(frozen=True, slots=True)
class TextLength:
    """How many characters the cell of a text column has."""

    column_id: int


@dataclass(frozen=True, slots=True)
class FixedCell:
    """A constant, never NULL."""

    cell: Cell


Operand = ColumnCell | TextLength
Side = Operand | FixedCell


@dataclass(frozen=True, slots=True)
class Compared:
    """`left op right`."""

    left: Operand
    op: Op
    right: Side


@dataclass(frozen=True, slots=True)
class OneOf:
    """`operand IN (cells)`."""

    operand: Operand
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """`column LIKE pattern`, whose `%` is any text and `_` one character."""

    operand: ColumnCell
    pattern: str


@dataclass(frozen=True, slots=True)
class Missing:
    """`column IS NULL`."""

    operand: ColumnCell


@dataclass(frozen=True, slots=True)
class Negated:
    """`NOT part`."""

    part: "RowCondition"


@dataclass(frozen=True, slots=True)
class AllOf:
    """The parts joined by AND, at least one."""

    parts: "tuple[RowCondition, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The parts joined by OR, at least one."""

    parts: "tuple[RowCondition, ...]"


RowCondition = Compared | OneOf | Matches | Missing | Negated | AllOf | AnyOf


def operands(condition: RowCondition) -> Iterator[Operand]:
    """What a condition looks at, left to right."""
    match condition:
        case Compared(left, _, right):
            yield left
            if not isinstance(right, FixedCell):
                yield right
        case Negated(part):
            yield from operands(part)
        case AllOf(parts) | AnyOf(parts):
            for each in parts:
                yield from operands(each)
        case _:
            yield condition.operand


def condition_to_json(condition: RowCondition) -> list[Any]:
    """A condition as JSON values."""
    match condition:
        case Compared(left, op, right):
            return [str(op), _side_to_json(left), _side_to_json(right)]
        case OneOf(operand, cells):
            return ["in", _side_to_json(operand), [cell_to_json(cell) for cell in cells]]
        case Matches(operand, pattern):
            return ["like", _side_to_json(operand), pattern]
        case Missing(operand):
            return ["null", _side_to_json(operand)]
        case Negated(part):
            return ["not", condition_to_json(part)]
        case AllOf(parts):
            return ["and", [condition_to_json(part) for part in parts]]
        case AnyOf(parts):
            return ["or", [condition_to_json(part) for part in parts]]


def condition_from_json(value: Any) -> RowCondition:
    """The inverse of `condition_to_json`.

    Raises ValueError, TypeError, KeyError: it is no condition; RecursionError: it is nested too
    deeply.
    """
    match value:
        case ["in", operand, list(cells)]:
            return OneOf(_operand(operand), tuple(cell_from_json(cell) for cell in cells))
        case ["like", ["column", int(column_id)], str(pattern)]:
            return Matches(ColumnCell(column_id), pattern)
        case ["null", ["column", int(column_id)]]:
            return Missing(ColumnCell(column_id))
        case ["not", part]:
            return Negated(condition_from_json(part))
        case ["and", [_, *_] as parts]:
            return AllOf(tuple(condition_from_json(part) for part in parts))
        case ["or", [_, *_] as parts]:
            return AnyOf(tuple(condition_from_json(part) for part in parts))
        case [str(op), left, ["cell", cell]]:
            return Compared(_operand(left), Op(op), FixedCell(cell_from_json(cell)))
        case [str(op), left, right]:
            return Compared(_operand(left), Op(op), _operand(right))
    raise ValueError(f"{value!r:.80} is no condition")


def _side_to_json(side: Side) -> list[Any]:
    match side:
        case ColumnCell(column_id):
            return ["column", column_id]
        case TextLength(column_id):
            return ["length", column_id]
        case FixedCell(cell):
            return ["cell", cell_to_json(cell)]


def _operand(value: Any) -> Operand:
    match value:
        case ["column", int(column_id)]:
            return ColumnCell(column_id)
        case ["length", int(column_id)]:
            return TextLength(column_id)
    raise ValueError(f"{value!r:.80} is no operand")
