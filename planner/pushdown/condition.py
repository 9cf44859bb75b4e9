"""What boolean expressions say about one table, as predicates of its scan.

A condition is as wide as needed: it holds for every row that the expression can hold for, and the
residual query filters again. It says itself whether it is wider, which nobody reads out of the
expression a second time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, relation_of, table_of
from pykudu_sql.planner.bind.relations import ColumnReferences, DerivedTable, Scope, TableReference
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, Typing, constant, constants
from pykudu_sql.planner.operands.comparison import (
    among,
    among_near,
    compare,
    compare_near,
    like,
    mirrored,
    null_test,
)
from pykudu_sql.planner.operands.template import (
    ParameterComparison,
    ParameterInList,
    all_of,
)
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.parse.long_list import LongList, long_list
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.table_condition import (
    COMPARISONS,
    Condition,
    conjunction,
    disjunction,
    lose_digits,
)
from pykudu_sql.planner.pushdown.time_condition import time_condition
from pykudu_sql.storage.common.predicate.column_predicate import NEVER, InList, Op
from pykudu_sql.storage.common.types.schema import ColumnSchema

# Calls of a column and a constant as the patterns of LIKE that they are.
_ITSELF = "{}"
_PATTERNS: Mapping[type[exp.Expr], str] = {
    exp.Like: _ITSELF,
    exp.StartsWith: "{}%",
    exp.EndsWith: "%{}",
    exp.Contains: "%{}%",
}
_WILDCARDS = frozenset("%_")
STRAIGHT: Mapping[DerivedTable, Scope] = {}


Reader = Callable[[exp.Expr], Condition | None]


class ConditionReader:
    """Reads boolean expressions of one query as conditions of its tables.

    A column of a derived table is read as the stored column that it is in one of the SELECTs its
    rows come from.
    """

    def __init__(
        self,
        bound: BoundQuery,
        context: PlanContext,
        way: Mapping[DerivedTable, Scope] = STRAIGHT,
        only: ColumnReferences | None = None,
    ) -> None:
        """A reader for one way through the derived tables.

        Args:
            bound: the query.
            context: for the values of constants.
            way: the SELECT that a derived table is read as.
            only: columns, as they are written, of which something may be said; None for any.
        """
        self._bound = bound
        self._context = context
        self._way = way
        self._only = only
        self._rules: tuple[Reader, ...] = (
            self._comparison,
            self._between,
            self._in_list,
            self._null_test,
            self._like,
            self._flag,
            self._of_time,
        )

    def read(self, node: exp.Expr) -> Sequence[Condition]:
        """What an expression requires: of each table at most one condition."""
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.And):
            return self._both(node)
        if isinstance(node, exp.Or):
            return self._either(node)
        for rule in self._rules:
            condition = rule(node)
            if condition is not None:
                return (condition,)
        return ()

    def column(self, node: exp.Expr) -> tuple[TableReference, ColumnSchema] | None:
        """The stored column that an expression is, None if it is anything else."""
        while isinstance(node, exp.Paren):
            node = node.this
        if not isinstance(node, exp.Column):
            return None
        relation, name = relation_of(node), node.name.lower()
        if self._only is not None and (relation, name) not in self._only:
            return None
        while isinstance(relation, DerivedTable):
            output_column, scope = relation.column(name), self._way.get(relation)
            branches = output_column.branches if output_column is not None else ()
            branch = next((b for b in branches if b.scope is scope), None)
            if branch is None:
                return None
            relation, name = branch.relation, branch.name
        return None if relation is None else (relation, relation.column(name))

    def constant(self, node: exp.Expr) -> Constant | Hole | None:
        """The constant that an expression is, None if it varies."""
        return constant(node, self._context)

    def constants(self, nodes: Sequence[exp.Expr]) -> Sequence[Constant | Hole] | None:
        """The constants that expressions are, None if one varies."""
        return constants(nodes, self._context)

    def _compare(self, column: exp.Expr, op: Op, value: exp.Expr) -> Condition | None:
        bound_column = self.column(column)
        constant = self.constant(value) if bound_column else None
        if bound_column is None or constant is None:
            return None
        return _compared(*bound_column, op, constant)

    def _comparison(self, node: exp.Expr) -> Condition | None:
        op = COMPARISONS.get(type(node))
        if op is None:
            return None
        left, right = node.this, node.expression
        return self._compare(left, op, right) or self._compare(right, mirrored(op), left)

    def _between(self, node: exp.Expr) -> Condition | None:
        if not isinstance(node, exp.Between) or node.args.get("symmetric"):
            return None
        bound_column = self.column(node.this)
        if bound_column is None:
            return None
        reference, schema = bound_column
        ends = ((Op.GE, self.constant(node.args["low"])), (Op.LE, self.constant(node.args["high"])))
        if lose_digits([end for _, end in ends]):
            near = [compare_near(schema, op, e.value) for op, e in ends if isinstance(e, Constant)]
            return Condition(reference, all_of(near), fails_null=True)
        parts = [_compared(reference, schema, op, end) for op, end in ends if end is not None]
        return conjunction(parts, len(parts) == 2) if parts else None

    def _in_list(self, node: exp.Expr) -> Condition | None:
        if not isinstance(node, exp.In):
            return None
        listed_values = long_list(node.args.get("query"))
        if listed_values is not None:
            return self._long_list(node.this, listed_values)
        if not node.expressions:
            return None
        bound_column = self.column(node.this)
        if bound_column is None:
            return None
        reference, schema = bound_column
        listed = constants(node.expressions, self._context)
        if listed is None:
            return None
        values: list[object] = [
            Parameter(each.key, schema.type, schema.name) if isinstance(each, Hole) else each.value
            for each in listed
        ]
        if lose_digits(listed):
            return Condition(reference, among_near(schema, values), fails_null=True)
        is_whole = all(
            isinstance(each, Hole) or each.is_whole_beside(schema.type) for each in listed
        )
        if any(isinstance(value, Parameter) for value in values):
            return Condition(reference, ParameterInList(schema, tuple(values)), True, is_whole)
        predicate, is_exact = among(schema, values)
        return Condition(reference, predicate, True, is_exact and is_whole)

    def _long_list(self, node: exp.Expr, long_list: LongList) -> Condition | None:
        bound_column = self.column(node)
        if bound_column is None:
            return None
        reference, schema = bound_column
        limits = schema.type.integer_range if schema.type.is_integer else None
        cells: tuple[int | str, ...] = tuple(dict.fromkeys(long_list.values))
        if limits is not None and not long_list.is_text:
            cells = tuple(cell for cell in cells if limits[0] <= int(cell) <= limits[1])
        elif not (schema.type.is_text and long_list.is_text):
            return None
        template = InList(schema.id, cells) if cells else NEVER
        return Condition(reference, template, fails_null=True)

    def _null_test(self, node: exp.Expr) -> Condition | None:
        negated = isinstance(node, exp.Not)
        test = node.this if negated else node
        while isinstance(test, exp.Paren):
            test = test.this
        if not isinstance(test, exp.Is) or not isinstance(test.expression, exp.Null):
            return None
        bound_column = self.column(test.this)
        if bound_column is None:
            return None
        reference, schema = bound_column
        return Condition(reference, null_test(schema, not negated), negated, True)

    def _like(self, node: exp.Expr) -> Condition | None:
        marks = _PATTERNS.get(type(node))
        if marks is None or isinstance(node.parent, exp.Escape):
            return None
        if node.args.get("negate"):  # NOT LIKE is no Not around a Like
            return None
        bound_column, constant = self.column(node.this), self.constant(node.expression)
        if (
            bound_column is None
            or not isinstance(constant, Constant)
            or not isinstance(constant.value, str)
        ):
            return None
        reference, schema = bound_column
        text = constant.value
        if not schema.type.is_text or (marks != _ITSELF and not _WILDCARDS.isdisjoint(text)):
            return None
        predicate, is_exact = like(schema, marks.format(text))
        return Condition(reference, predicate, True, is_exact)

    def _flag(self, node: exp.Expr) -> Condition | None:
        """A bare BOOLEAN column, or NOT of one."""
        negated = isinstance(node, exp.Not)
        bound_column = self.column(node.this if negated else node)
        if bound_column is None:
            return None
        reference, schema = bound_column
        predicate, is_exact = compare(schema, Op.EQ, not negated)
        return Condition(reference, predicate, True, is_exact)

    def _of_time(self, node: exp.Expr) -> Condition | None:
        return time_condition(node, self)

    def _both(self, node: exp.And) -> Sequence[Condition]:
        """AND inside OR: what any part requires holds, since the query filters again."""
        by_reference: dict[TableReference, list[Condition]] = {}
        is_whole = True
        for part in flattened(node):
            conditions = self.read(part)
            is_whole = is_whole and len(conditions) == 1
            for condition in conditions:
                by_reference.setdefault(condition.reference, []).append(condition)
        is_whole = is_whole and len(by_reference) == 1
        return [conjunction(parts, is_whole) for parts in by_reference.values()]

    def _either(self, node: exp.Or) -> Sequence[Condition]:
        """OR: a table has a condition when every branch has one of it."""
        branches = flattened(node)
        by_reference = {condition.reference: [condition] for condition in self.read(next(branches))}
        is_whole = len(by_reference) == 1
        for branch in branches:
            if not by_reference:
                break
            here = {condition.reference: condition for condition in self.read(branch)}
            is_whole = is_whole and len(here) == 1
            by_reference = {key: parts for key, parts in by_reference.items() if key in here}
            for key, parts in by_reference.items():
                parts.append(here[key])
        return [disjunction(parts, is_whole) for parts in by_reference.values()]


def _compared(
    reference: TableReference, schema: ColumnSchema, op: Op, constant: Constant | Hole
) -> Condition:
    """What a comparison of a column with a constant requires."""
    if isinstance(constant, Hole):
        hole = Parameter(constant.key, schema.type, schema.name)
        return Condition(reference, ParameterComparison(schema, op, hole), True, True)
    if constant.typing is Typing.HIDDEN:
        return Condition(reference, compare_near(schema, op, constant.value), fails_null=True)
    predicate, is_exact = compare(schema, op, constant.value)
    return Condition(reference, predicate, True, is_exact and constant.is_whole_beside(schema.type))


def stored_column(node: exp.Expr, bound: BoundQuery) -> tuple[TableReference, ColumnSchema] | None:
    """The column of a stored table, at one moment, that an expression is; None if it is no such."""
    read = read_column(node, bound)
    return read if read is not None and read[0].is_plain else None


def read_column(node: exp.Expr, bound: BoundQuery) -> tuple[TableReference, ColumnSchema] | None:
    """The column of any table or frame that an expression is, as `stored_column`."""
    reference = table_of(node) if isinstance(node, exp.Column) else None
    if reference is None or reference.history is not None:
        return None
    if reference in bound.maybe_absent and not node.args.get("table"):
        return None  # perhaps a column of USING, whose value then comes from the other side
    return reference, reference.column(node.name.lower())


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that must all hold."""
    stack = [] if node is None else [node]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.Paren) and isinstance(current.this, exp.And | exp.Paren):
            stack.append(current.this)
        elif isinstance(current, exp.And):
            stack.extend((current.expression, current.this))
        else:
            yield current


def shared_conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """Conjuncts, behind an OR those of all its branches too: `a AND b OR a AND c` says `a`."""
    for part in conjuncts(node):
        yield part
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, exp.Or):
            branches = flattened(part)
            common = dict.fromkeys(conjuncts(next(branches)))
            for branch in branches:
                if not common:
                    break
                here = set(conjuncts(branch))
                common = {each: None for each in common if each in here}
            yield from common


def flattened(node: exp.Connector) -> Iterator[exp.Expr]:
    """The operands of a chain of one connector, left to right."""
    stack: list[exp.Expr] = [node]
    while stack:
        current = stack.pop()
        if type(current) is type(node):
            stack.extend((current.expression, current.this))
        else:
            yield current
