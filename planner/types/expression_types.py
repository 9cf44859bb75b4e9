"""The type and the nullability of every expression of a bound query, derived on demand.

The type is the engine's name of it, or unknown: that of a parameter and of what the engine refuses.
Rules read it off the tree, through derived tables to what they show; where several decimals become
one value it is the type with all their digits behind the point, to which `united_decimals` casts
them. Of everything else the engine is asked, over NULLs of the types of columns. What is known
stands at the node and stays with it and its copies; a rewrite that changes the type of an
expression makes a new node of it. Nothing is derived before somebody asks.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import binding_of, columns_of, field_of
from pykudu_sql.planner.bind.relations import OutputColumn, Projections, Relation
from pykudu_sql.planner.functions.decimal_values import Digits, digits_of_number
from pykudu_sql.planner.functions.exact_literals import type_literals
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.planner.types.engine_types import (
    BOOLEAN,
    DOUBLE,
    NULL,
    common_name,
    digits_of_type,
    element_type,
    field_type,
    holds_decimal,
    stored_name,
    typed_null,
    widest_integer,
    written_name,
)
from pykudu_sql.planner.types.literal_types import fits_integer, literal_type, number
from pykudu_sql.planner.types.nullability import is_nullable, may_be_null
from pykudu_sql.planner.types.origins import (
    alternatives,
    field_name,
    is_variable,
    leaves,
    listed_by,
    origins,
    projections_of,
)
from pykudu_sql.planner.types.return_types import (
    OPERATORS,
    operator_type,
    quantile_type,
    return_type,
    sum_type,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DataError, NotSupportedError, ProgrammingError

_TYPE = "pykudu_type"  # in the meta of a node: the engine's name of its type, None if unknown
_HOLDS = "pykudu_holds_decimals"
_WRAPPERS = (
    *(exp.Neg, exp.Abs, exp.Filter, exp.Window, exp.IgnoreNulls),
    *(exp.Order, exp.Nullif),
)
_BEYOND = (DOUBLE, "UHUGEINT", "BIGNUM")  # types of literals that no DECIMAL has all values of
_ROWS = (exp.Query, exp.Comprehension)  # of which a list is made, where they are all it names
_KEEPING = (
    *(exp.Min, exp.Max, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue),
    *(exp.Lag, exp.Lead),
)


@dataclass(frozen=True, slots=True)
class ExpressionType:
    """What is known of an expression's values.

    Attributes:
        name: of their type, as the engine has it; None if it is not known.
        nullable: whether one may be NULL.
    """

    name: str | None
    nullable: bool

    def __str__(self) -> str:
        return (self.name or "unknown") + ("" if self.nullable else " NOT NULL")


class _NotDerivedError(Exception):
    """No rule derives the type of a node."""

    def __init__(self, node: exp.Expr) -> None:
        super().__init__()
        self.node = node


@dataclass(frozen=True, slots=True)
class ExpressionTypes:
    """The types of the expressions of one statement.

    Attributes:
        context: for asking the engine.
        prepare: makes an expression one that the engine understands.
        maybe_absent: see `BoundQuery`.
    """

    context: PlanContext
    prepare: Callable[[exp.Expr], exp.Expr]
    maybe_absent: frozenset[Relation] = frozenset()

    def of(self, node: exp.Expr) -> ExpressionType:
        """The type and the nullability of an expression."""
        return ExpressionType(self.name(node), is_nullable(node, self.maybe_absent))

    def name(self, node: exp.Expr) -> str | None:
        """The engine's name of an expression's type; None if it is not known."""
        if _TYPE not in node.meta:
            self.learn([node])
        name: str | None = node.meta[_TYPE]
        return name

    def rule_name(self, node: exp.Expr) -> str | None:
        """The same if rules derive it, else None; the engine is not asked."""
        try:
            return self._derive(node)
        except _NotDerivedError:
            return None

    def digits(self, node: exp.Expr) -> Digits | None:
        """The digits of a number; of one that is written, those that it needs."""
        written = number(node)
        return digits_of_type(self.name(node)) if written is None else digits_of_number(written)

    def learn(self, nodes: Iterable[exp.Expr]) -> None:
        """Note the types of expressions; those without a rule are asked of the engine together."""
        nodes = list(nodes)
        while nodes:
            unknown: list[exp.Expr] = []
            waiting = []
            for node in nodes:
                try:
                    self._derive(node)
                except _NotDerivedError as error:
                    waiting.append(node)
                    if not any(error.node is each for each in unknown):
                        unknown.append(error.node)
            for node, name in zip(
                unknown, self._engine_types(unknown) if unknown else (), strict=True
            ):
                node.meta[_TYPE] = name
            nodes = waiting

    def type_of_projections(self, projections: Projections) -> str | None:
        """The type of what shows some expressions or columns of relations; None if not known."""
        names = [
            stored_name(each.type) if isinstance(each, ColumnSchema) else self.name(each)
            for each in origins(projections)
        ]
        return common_name(names, [*map(digits_of_type, names)]) if names else None

    def of_column(self, column: OutputColumn) -> ExpressionType:
        """The type and the nullability of a query's column."""
        return ExpressionType(
            self.type_of_projections(column.projections),
            may_be_null(column.projections, self.maybe_absent),
        )

    def of_columns(self, query: exp.Expr) -> list[tuple[str, str | None]]:
        """The names and the types of a query's columns."""
        return [
            (column.name, self.type_of_projections(column.projections))
            for column in columns_of(query)
        ]

    def _derive(self, node: exp.Expr) -> str | None:
        """The type of an expression, which is noted.

        Raises:
            _NotDerivedError: the engine must be asked first, of this or of a part of it.
        """
        if _TYPE in node.meta:
            noted: str | None = node.meta[_TYPE]
            return noted
        name = node.meta[_TYPE] = self._rule(node)
        return name

    def _rule(self, node: exp.Expr) -> str | None:
        match node:
            case exp.Column() | exp.Identifier():
                return self._of_name(node)
            case exp.Query():
                columns = columns_of(node)
                return self._type_of_projections(columns[0].projections) if columns else None
            case exp.Placeholder() | exp.Star():
                return None
            case exp.Alias() | exp.Paren():
                return self._derive(node.this)
            case exp.Null():
                return NULL
            case exp.Literal():
                return literal_type(node)
            case exp.Neg(this=exp.Literal()) if literal_type(node.this) == "UHUGEINT":
                return "HUGEINT" if number(node) == -(1 << 127) else "BIGNUM"
            case exp.Boolean() | exp.Predicate() | exp.Connector() | exp.Not():
                return BOOLEAN
        name = self._of_operation(node)
        if name is None:
            for leaf in leaves(node):
                self._derive(leaf)
            raise _NotDerivedError(node)
        return name

    def _of_operation(self, node: exp.Expr) -> str | None:
        """The type of what is computed; None if no rule derives it."""
        match node:
            case exp.Cast():
                return written_name(node.to)
            case exp.Sum():
                return sum_type(self._derive(node.this))
            case exp.ApproxQuantile() if isinstance(node.args.get("quantile"), exp.Literal):
                return quantile_type(self._derive(node.this))
            case exp.Array() if not any(isinstance(each, _ROWS) for each in node.expressions):
                element = self._common(node.expressions)
                return None if element is None else f"{element}[]"
            case exp.Dot() | exp.Bracket() | exp.StructExtract() if field := field_name(node):
                return field_type(self._derive(node.this), field)
            case exp.Transform(expression=exp.Lambda() as function):
                item = self._derive(function.this)
                return None if item is None else f"{item}[]"
            case exp.Bracket() | exp.Explode() if (
                node.find(exp.Slice, exp.Kwarg, exp.PropertyEQ) is None
            ):
                return element_type(self._derive(node.this))
            case exp.Unnest():
                return element_type(self._derive(node.expressions[0]))
        if isinstance(node, OPERATORS):
            return self._of_operator(node)
        if alternatives(node):
            return self._common(alternatives(node))
        if isinstance(node, _WRAPPERS) or _keeps_type(node):
            return self._derive(node.this)
        return return_type(node, self._derive) if isinstance(node, exp.Func) else None

    def _of_operator(self, node: exp.Expr) -> str | None:
        left, right = self._derive(node.this), self._derive(node.expression)
        if fits_integer(node.expression, left):
            right = left
        elif fits_integer(node.this, right):
            left = right
        return operator_type(node, left, right)

    def _common(self, operands: Sequence[exp.Expr]) -> str | None:
        """The type of one of several values; parameters take it."""
        operands = [each for each in operands if not isinstance(each, exp.Placeholder)]
        names = [self._derive(each) for each in operands]
        others = [name for each, name in zip(operands, names, strict=True) if number(each) is None]
        widest = widest_integer(others) if others else None
        for position, each in enumerate(operands):
            names[position] = widest if fits_integer(each, widest) else names[position]
        digits = [
            digits_of_number(written)
            if name in _BEYOND and (written := number(each)) is not None
            else digits_of_type(name)
            for each, name in zip(operands, names, strict=True)
        ]
        return common_name(names, digits)

    def _of_name(self, node: exp.Expr) -> str | None:
        """The type of a column, of a struct's field, or of a variable for a list's elements."""
        stored = _stored(node)
        if stored is not None:
            return stored_name(stored)
        projections = projections_of(node)
        if projections:
            return self._type_of_projections(projections)
        listed = listed_by(node)
        if listed is not None:
            return element_type(self._derive(listed))
        field = field_of(node)
        if field is None:
            return None
        return reduce(
            field_type, (each.name for each in field.path), self._type_of_projections(field.struct)
        )

    def _type_of_projections(self, projections: Projections) -> str | None:
        """As `type_of_projections`, for what is derived from it."""
        for each in origins(projections):
            if isinstance(each, exp.Expr):
                self._derive(each)
        return self.type_of_projections(projections)

    def _engine_types(self, nodes: Sequence[exp.Expr]) -> list[str | None]:
        """The types by the engine, of expressions over NULLs of their columns' types.

        One that is another with a parameter of another type is not known before the run.
        """
        names = self._with_parameters(nodes, exp.Null())
        with_parameter = [
            position
            for position, node in enumerate(nodes)
            if digits_of_type(names[position]) is not None and node.find(exp.Placeholder)
        ]
        if not with_parameter:
            return names
        others = self._with_parameters([nodes[each] for each in with_parameter], typed_null(DOUBLE))
        for position, other in zip(with_parameter, others, strict=True):
            names[position] = names[position] if other in (None, names[position]) else None
        return names

    def _with_parameters(self, nodes: Sequence[exp.Expr], parameter: exp.Expr) -> list[str | None]:
        """The same with one value for every parameter."""
        prepared = [self._prepared(each, parameter) for each in nodes]
        items = [f"typeof({sql})" for sql in prepared if sql is not None]
        if not items:
            return [None] * len(nodes)
        try:
            answers = iter(self.context.evaluate(f"SELECT {', '.join(items)}"))
        except (DataError, ProgrammingError, NotSupportedError):
            if len(nodes) == 1:
                return [None]
            return [name for each in nodes for name in self._with_parameters([each], parameter)]
        return [None if sql is None else str(next(answers)) for sql in prepared]

    def _prepared(self, node: exp.Expr, parameter: exp.Expr) -> str | None:
        """The SQL of an expression without columns; None if the type of a part is not known."""
        holder = exp.Paren(this=node.copy())
        for leaf in list(leaves(holder.this)):
            name = leaf.meta.get(_TYPE)
            if isinstance(leaf, exp.Placeholder):
                leaf.replace(parameter.copy())
            elif name is not None:
                leaf.replace(typed_null(name))
            elif not isinstance(leaf, exp.Identifier):  # a variable of a list of unknown type
                return None
        try:
            return to_sql(type_literals(self.prepare(holder)))
        except (DataError, ProgrammingError, NotSupportedError):
            return None


def _keeps_type(node: exp.Expr) -> bool:
    """Whether a call gives one of the values of its only argument."""
    others = (node.expressions, node.args.get("expression"), node.args.get("count"))
    return isinstance(node, _KEEPING) and not any(others)


def _stored(node: exp.Expr) -> DataType | None:
    """The type of the one stored column that a node is; None of all else."""
    binding = binding_of(node)
    return None if binding is None or len(binding.origins) > 1 else binding.type


def holds_decimals(node: exp.Expr) -> bool:
    """Whether a DECIMAL is read or written in an expression; without one it is none."""
    holds: bool | None = node.meta_get(_HOLDS)
    if holds is None:
        holds = node.meta[_HOLDS] = any(map(_is_decimal_source, all_nodes(node)))
    return holds


def writes_decimal(node: exp.Expr) -> bool:
    """Whether a node is a number with a point, or the type DECIMAL."""
    if isinstance(node, exp.Literal):
        return not node.is_string and "." in str(node.this)
    return isinstance(node, exp.DataType) and node.is_type(exp.DType.DECIMAL)


def _is_decimal_source(node: exp.Expr) -> bool:
    match node:
        case exp.Literal() | exp.DataType():
            return writes_decimal(node)
        case exp.Identifier() if not is_variable(node):
            return False
        case exp.Column() if (stored := _stored(node)) is not None:
            return stored.kind is Kind.DECIMAL
        case exp.Column() | exp.Identifier():
            field = field_of(node)
            projections = projections_of(node) if field is None else field.struct
            listed = None if projections else listed_by(node)
            return have_decimals(projections) or (listed is not None and holds_decimals(listed))
        case exp.Query():
            return any(have_decimals(each.projections) for each in columns_of(node))
    return False


def have_decimals(projections: Projections) -> bool:
    """Whether what shows some expressions or columns of relations may show a DECIMAL."""
    return any(
        holds_decimal(stored_name(each.type))
        if isinstance(each, ColumnSchema)
        else holds_decimals(each)
        for each in origins(projections)
    )
