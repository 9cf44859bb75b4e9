"""CHECK constraints from syntax to conditions that the storage evaluates.

A condition looks at one row: comparisons of columns with constants and with each other, joined by
AND, OR and NOT. Whatever else a query may say is refused here, with the list of what may stand.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count

from sqlglot import exp

from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, constant
from pykudu_sql.planner.constant_folding.moment import reads_current_time
from pykudu_sql.planner.ddl.ddl_constants import expression_tree
from pykudu_sql.planner.ddl_grammar.syntax import CheckClause
from pykudu_sql.planner.functions.listed_values import write_as_listed
from pykudu_sql.planner.operands.comparison import (
    EngineRequiredError,
    compare,
    exact_cell,
    mirrored,
)
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.condition import flattened
from pykudu_sql.planner.pushdown.table_condition import COMPARISONS
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.namespace import database_of, own_name
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op
from pykudu_sql.storage.common.predicate.row_condition import (
    AllOf,
    AnyOf,
    ColumnCell,
    Compared,
    FixedCell,
    Matches,
    Missing,
    Negated,
    OneOf,
    Operand,
    RowCondition,
    TextLength,
)
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    DataError,
    InvalidSchemaError,
    NotSupportedError,
    UndefinedColumnError,
)

_SUPPORTED_HINT = (
    "it may compare a column, or length(column), with a constant or another column of its kind "
    "(=, <>, <, <=, >, >=, IN, BETWEEN), and have LIKE, IS [NOT] NULL, AND, OR, NOT"
)
_LENGTH = ColumnSchema(0, "length", DataType(Kind.INT64))


def check_constraints(
    clauses: Iterable[CheckClause],
    name: str,
    schema: Schema,
    existing: Iterable[CheckConstraint],
    context: PlanContext,
) -> tuple[CheckConstraint, ...]:
    """The constraints that clauses define, in their order.

    Args:
        clauses: as written; one without a name gets PostgreSQL's, `table_column_check`.
        name: of the table.
        schema: of the table.
        existing: constraints that it has already.

    Raises NotSupportedError: a condition has what none may have; UndefinedColumnError: it names a
    column that is not there; InvalidSchemaError: it is the same for all rows.
    """
    defined = list(clauses)
    names = {check.name for check in existing} | {c.name for c in defined if c.name is not None}
    constraints: list[CheckConstraint] = []
    for clause in defined:
        condition = _ConditionReader(name, schema, context).condition(clause)
        constraint_name = clause.name
        if constraint_name is None:
            unnamed = CheckConstraint("", condition)
            constraint_name = _free_name(
                name, [schema.by_id[i].name for i in unnamed.column_ids], names
            )
            names.add(constraint_name)
        constraints.append(CheckConstraint(constraint_name, condition))
    return tuple(constraints)


def _free_name(table: str, columns: Sequence[str], reserved_names: set[str]) -> str:
    own = table.removeprefix(f"{database_of(table)}.")
    stem = f"{own}_{columns[0]}_check" if len(columns) == 1 else f"{own}_check"
    return next(name for name in _candidates(stem) if name not in reserved_names)


def _candidates(stem: str) -> Iterator[str]:
    return chain([stem], (f"{stem}{number}" for number in count(1)))


class _ConditionReader:
    """Reads the expression of one CHECK of a table."""

    def __init__(self, table: str, schema: Schema, context: PlanContext) -> None:
        """`table`: its name, which may qualify columns; `context`: for the values of constants."""
        self._table = table
        self._schema = schema
        self._context = context

    def condition(self, clause: CheckClause) -> RowCondition:
        """The condition of a clause; see `check_constraints` for what it raises."""
        with errors_at(clause.expression.span):
            tree = write_as_listed(expression_tree(clause.expression, "condition"), None)
            if reads_current_time(tree):
                raise NotSupportedError(
                    "a CHECK constraint cannot ask for the time or the session",
                    hint="a row that passes must pass always; compare with a constant, or store "
                    "the time in a column",
                )
            return self._read(tree)

    def _read(self, node: exp.Expr) -> RowCondition:
        node = _plain(node)
        op = COMPARISONS.get(type(node))
        if op is not None:
            return self._comparison(node, node.this, op, node.expression)
        match node:
            case exp.And():
                return AllOf(tuple(map(self._read, flattened(node))))
            case exp.Or():
                return AnyOf(tuple(map(self._read, flattened(node))))
            case exp.Not():
                return Negated(self._read(node.this))
            case exp.NEQ():
                return Negated(self._comparison(node, node.this, Op.EQ, node.expression))
            case exp.Between() if not node.args.get("symmetric"):
                low = self._comparison(node, node.this, Op.GE, node.args["low"])
                return AllOf((low, self._comparison(node, node.this, Op.LE, node.args["high"])))
            case exp.In() if node.expressions and not node.args.get("query"):
                return self._one_of(node)
            case exp.Like():
                return self._matches(node)
            case exp.Is(expression=exp.Null()):
                operand = self._operand(node.this)
                if isinstance(operand, ColumnCell):
                    return Missing(operand)
            case exp.Column():
                operand = self._operand(node)
                if operand is not None and self._column_of(operand).type.kind is Kind.BOOL:
                    return Compared(operand, Op.EQ, FixedCell(True))
        raise _unsupported(node)

    def _comparison(self, node: exp.Expr, left: exp.Expr, op: Op, right: exp.Expr) -> RowCondition:
        a, b = self._operand(left), self._operand(right)
        if a is not None and b is not None:
            if not _are_alike(self._column_of(a).type, self._column_of(b).type):
                raise NotSupportedError(
                    f"a CHECK constraint cannot compare {self._column_of(a).type} with "
                    f"{self._column_of(b).type}",
                    hint="columns of one type can be compared, and integers with each other",
                    span=node_span(node),
                )
            return Compared(a, op, b)
        if a is not None:
            return self._with_constant(a, op, right)
        if b is not None:
            return self._with_constant(b, mirrored(op), left)
        raise _unsupported(node)

    def _with_constant(self, operand: Operand, op: Op, node: exp.Expr) -> Compared:
        column = self._column_of(operand)
        constant_value = self._constant(node)
        value = constant_value.value
        with errors_at(node_span(node)):
            if not constant_value.is_whole_beside(column.type):
                raise _unlike(column, value)
            if column.type.is_floating:
                return Compared(operand, op, FixedCell(_float_cell(column, value)))
            try:
                cell = exact_cell(column.type, value)
            except EngineRequiredError:
                raise _unlike(column, value) from None
            if cell is not None:
                return Compared(operand, op, FixedCell(cell))
            bound = compare(column, op, value).predicate
            if isinstance(bound, Comparison):
                return Compared(operand, bound.op, FixedCell(bound.value))
            raise InvalidSchemaError(
                f"every value of {column.type} compares with {value} in the same way",
                hint="compare with a value of the column's type",
            )

    def _constant(self, node: exp.Expr) -> Constant:
        """A constant that is not NULL."""
        folded = constant(node, self._context)
        if isinstance(folded, Hole):
            raise NotSupportedError(
                "a CHECK constraint cannot have parameters",
                hint="write the value as a literal",
                span=node_span(node),
            )
        if not isinstance(folded, Constant):
            raise _unsupported(node)
        if folded.value is None:
            raise InvalidSchemaError(
                "a comparison with NULL is never true or false, so a CHECK always passes it",
                hint="write IS NULL or IS NOT NULL",
                span=node_span(node),
            )
        return folded

    def _one_of(self, node: exp.In) -> OneOf:
        operand = self._operand(node.this)
        if operand is None:
            raise _unsupported(node)
        members = [self._with_constant(operand, Op.EQ, each) for each in node.expressions]
        cells = [each.right.cell for each in members if isinstance(each.right, FixedCell)]
        return OneOf(operand, tuple(dict.fromkeys(cells)))

    def _matches(self, node: exp.Like) -> RowCondition:
        operand, pattern = self._operand(node.this), constant(node.expression, self._context)
        if not isinstance(operand, ColumnCell) or not isinstance(pattern, Constant):
            raise _unsupported(node)
        column_type = self._column_of(operand).type
        is_text = column_type.is_text and isinstance(pattern.value, str)
        if not is_text or not pattern.is_whole_beside(column_type):
            raise _unsupported(node)
        matches = Matches(operand, str(pattern.value))
        return Negated(matches) if node.args.get("negate") else matches

    def _operand(self, node: exp.Expr) -> Operand | None:
        """The column, or the length of one, that an expression is; None if it is anything else."""
        node = _plain(node)
        if isinstance(node, exp.Length) and set(_arguments_set(node)) == {"this"}:
            inner = self._operand(node.this)
            if isinstance(inner, ColumnCell) and self._column_of(inner).type.is_text:
                return TextLength(inner.column_id)
            return None
        if not isinstance(node, exp.Column) or node.is_star:
            return None
        with errors_at(node_span(node)):
            own = CorrelationName(own_name(self._table), database_of(self._table))
            if not own.is_named_by(node):
                raise UndefinedColumnError(
                    f"a CHECK constraint of table '{self._table}' cannot look at another table",
                    hint="name columns of the table itself",
                )
            column = self._schema.column(node.name.lower())
            if self._schema.is_hidden(column):
                raise _unsupported(node)
            return ColumnCell(column.id)

    def _column_of(self, operand: Operand) -> ColumnSchema:
        """The column that an operand is, or one like it."""
        is_length = isinstance(operand, TextLength)
        return _LENGTH if is_length else self._schema.by_id[operand.column_id]


def _plain(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _arguments_set(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value]


def _are_alike(left: DataType, right: DataType) -> bool:
    if left.kind is Kind.DECIMAL:
        return right.kind is Kind.DECIMAL and left.scale == right.scale
    return (
        left.kind is right.kind
        or (left.is_integer and right.is_integer)
        or (left.is_floating and right.is_floating)
        or (left.is_text and right.is_text)
    )


def _float_cell(column: ColumnSchema, value: object) -> float:
    try:
        cell = to_cell(value, column.type) if not isinstance(value, str | bool) else None
    except DataError:
        cell = None
    if not isinstance(cell, float) or not math.isfinite(cell):
        raise _unlike(column, value)
    return cell


def _unlike(column: ColumnSchema, value: object) -> NotSupportedError:
    text = repr(value) if isinstance(value, str | bytes) else str(value)
    cast = "" if column.type.is_floating else f", or CAST(.. AS {column.type})"
    return NotSupportedError(
        f"a CHECK constraint cannot compare '{column.name}' of type {column.type} with {text}: "
        "it is of another type",
        hint=f"write a literal{cast}",
    )


def _unsupported(node: exp.Expr) -> NotSupportedError:
    return NotSupportedError(
        "this cannot stand in a CHECK constraint", hint=_SUPPORTED_HINT, span=node_span(node)
    )
