"""CHECK constraints of a table: a name and a condition that no row of it makes false.

A condition names columns by id, so it follows a column that is renamed; its text is made with the
names of the moment.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.partition.range_bound import literal
from pykudu_sql.storage.common.predicate.column_predicate import Op
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
    condition_from_json,
    condition_to_json,
    operands,
)
from pykudu_sql.storage.common.quoted_name import quoted_name
from pykudu_sql.storage.common.types.cell_check import is_cell_of
from pykudu_sql.storage.common.types.identifiers import check_identifier
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.common.types.value_text import with_article
from pykudu_sql.storage.errors import DuplicateObjectError

_TEXT, _INTEGER = DataType(Kind.STRING), DataType(Kind.INT64)


@dataclass(frozen=True)
class CheckConstraint:
    """A rule that every row of a table keeps.

    Attributes:
        name: lower case, unique within the table.
        condition: what may not be false.
    """

    name: str
    condition: RowCondition

    @cached_property
    def column_ids(self) -> frozenset[int]:
        """The columns it looks at."""
        return frozenset(operand.column_id for operand in operands(self.condition))

    def text(self, schema: Schema) -> str:
        """The condition as SQL, with the names of a schema."""
        return _text(self.condition, schema)

    def to_json(self) -> dict[str, Any]:
        """The constraint as plain JSON values."""
        return {"name": self.name, "condition": condition_to_json(self.condition)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "CheckConstraint":
        """The inverse of `to_json`. Raises: as `condition_from_json`."""
        return cls(value["name"], condition_from_json(value["condition"]))

    def check(self, schema: Schema) -> None:
        """See that it is about columns of a schema and constants of their types.

        Raises ValueError, InvalidSchemaError: it is not.
        """
        check_identifier(self.name, "constraint")
        if not self.column_ids <= set(schema.by_id):
            raise ValueError(f"CHECK constraint '{self.name}' names a column that is not there")
        _check_cells(self.condition, schema)


def check_names(checks: Sequence[CheckConstraint]) -> None:
    """See that the names of a table's constraints are names, each of one.

    Raises InvalidSchemaError, DuplicateObjectError: they are not.
    """
    names = set()
    for check in checks:
        check_identifier(check.name, "constraint")
        if check.name in names:
            raise DuplicateObjectError(
                f"constraint '{check.name}' exists already",
                hint="give it another name: CONSTRAINT name CHECK (...)",
                sqlstate="42710",
            )
        names.add(check.name)


def _check_cells(condition: RowCondition, schema: Schema) -> None:
    match condition:
        case Negated(part):
            _check_cells(part, schema)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                _check_cells(part, schema)
        case Compared(left, _, FixedCell(cell)):
            _check_cell(cell, left, schema)
        case OneOf(operand, cells):
            for cell in cells:
                _check_cell(cell, operand, schema)


def _check_cell(cell: Cell, operand: Operand, schema: Schema) -> None:
    column_type = _type_of(operand, schema)
    # A text may be longer than those of the column, which are compared with it all the same.
    fitting = _TEXT if column_type.is_text else column_type
    if cell is None or not is_cell_of(cell, fitting):
        raise ValueError(f"a CHECK compares {with_article(str(column_type))} with {cell!r:.80}")


def _type_of(operand: Operand, schema: Schema) -> DataType:
    is_length = isinstance(operand, TextLength)
    return _INTEGER if is_length else schema.by_id[operand.column_id].type


def _text(condition: RowCondition, schema: Schema) -> str:
    match condition:
        case Compared(left, op, right):
            return _comparison(left, str(op), right, schema)
        case OneOf(operand, cells):
            return f"{_name(operand, schema)} IN {_listed(operand, cells, schema)}"
        case Matches(operand, pattern):
            return f"{_name(operand, schema)} LIKE {literal(pattern, _TEXT)}"
        case Missing(operand):
            return f"{_name(operand, schema)} IS NULL"
        case Negated(Compared(left, Op.EQ, right)):
            return _comparison(left, "<>", right, schema)
        case Negated(OneOf(operand, cells)):
            return f"{_name(operand, schema)} NOT IN {_listed(operand, cells, schema)}"
        case Negated(Matches(operand, pattern)):
            return f"{_name(operand, schema)} NOT LIKE {literal(pattern, _TEXT)}"
        case Negated(Missing(operand)):
            return f"{_name(operand, schema)} IS NOT NULL"
        case Negated(part):
            return f"NOT ({_text(part, schema)})"
        case AllOf(parts):
            return " AND ".join(_part(part, schema) for part in parts)
        case AnyOf(parts):
            return " OR ".join(_part(part, schema) for part in parts)


def _part(part: RowCondition, schema: Schema) -> str:
    text = _text(part, schema)
    return f"({text})" if isinstance(part, AllOf | AnyOf) else text


def _comparison(left: Operand, op: str, right: Side, schema: Schema) -> str:
    if isinstance(right, FixedCell):
        operand_text = literal(right.cell, _type_of(left, schema))
    else:
        operand_text = _name(right, schema)
    return f"{_name(left, schema)} {op} {operand_text}"


def _listed(operand: Operand, cells: tuple[Cell, ...], schema: Schema) -> str:
    column_type = _type_of(operand, schema)
    return f"({', '.join(literal(cell, column_type) for cell in cells)})"


def _name(operand: Operand, schema: Schema) -> str:
    name = quoted_name(schema.by_id[operand.column_id].name)
    return f"length({name})" if isinstance(operand, TextLength) else name
