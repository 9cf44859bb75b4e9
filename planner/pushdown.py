"""Conditions of a query that its scans can use: what WHERE and ON say about one table.

A scan may drop a row when no result can come of it. That holds for

- every conjunct of WHERE over one table's columns, which is applied after all joins; but where an
  outer join may have put NULLs for the table's rows, only for conjuncts that NULLs fail: dropping
  a row there can at most turn it into such a NULL row, which WHERE then drops;
- conjuncts of ON over the side that the join need not preserve: both sides of an inner join, the
  right of LEFT, SEMI and ANTI, the left of RIGHT, none of FULL.

Conditions are pushed as wide as needed and always applied again by the residual query.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

from pykudu_sql.planner.binder import BoundQuery
from pykudu_sql.planner.comparison import compare, mirrored, null_test, starts_with
from pykudu_sql.planner.constant import Constant, Hole, constant
from pykudu_sql.planner.context import PlanContext
from pykudu_sql.planner.sources import Frame, JoinStep, Source, TableReference
from pykudu_sql.planner.template import (
    ParameterComparison,
    ParameterInList,
    PredicateTemplate,
    all_of,
    any_of,
)
from pykudu_sql.planner.value import Parameter
from pykudu_sql.storage.common.column_predicate import ALWAYS, NEVER, Op
from pykudu_sql.storage.common.schema import ColumnSchema

_OPS: Mapping[type[exp.Expr], Op] = MappingProxyType(
    {exp.EQ: Op.EQ, exp.LT: Op.LT, exp.LTE: Op.LE, exp.GT: Op.GT, exp.GTE: Op.GE}
)
_WILDCARDS = "%_"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a boolean expression says about one table.

    Attributes:
        reference: the table.
        template: holds for every row of it that the expression can hold for.
        fails_null: whether the expression is not true when the table's columns are all NULL.
    """

    reference: TableReference
    template: PredicateTemplate
    fails_null: bool


Reader = Callable[[exp.Expr], Condition | None]


class ConditionReader:
    """Reads boolean expressions of one query as conditions of its tables."""

    def __init__(self, bound: BoundQuery, context: PlanContext) -> None:
        self._bound = bound
        self._context = context
        self._rules: tuple[Reader, ...] = (
            self._comparison,
            self._between,
            self._in_list,
            self._null_test,
            self._like,
            self._flag,
            self._both,
            self._either,
        )

    def read(self, node: exp.Expr) -> Condition | None:
        """The condition of an expression over one table; None when it gives none."""
        while isinstance(node, exp.Paren):
            node = node.this
        for rule in self._rules:
            found = rule(node)
            if found is not None:
                return found
        return None

    def conjuncts(self, node: exp.Expr | None) -> Iterator[Condition]:
        """The conditions among the AND-ed parts of an expression."""
        for part in conjuncts(node):
            found = self.read(part)
            if found is not None and found.template != ALWAYS:
                yield found

    def column(self, node: exp.Expr) -> tuple[TableReference, ColumnSchema] | None:
        """The stored column that an expression is, None if it is anything else."""
        while isinstance(node, exp.Paren):
            node = node.this
        if not isinstance(node, exp.Column):
            return None
        reference = self._bound.owner(node)
        return None if reference is None else (reference, reference.column(node.name.lower()))

    def constant(self, node: exp.Expr) -> Constant | Hole | None:
        """The constant that an expression is, None if it varies."""
        return constant(node, self._context)

    def _compare(self, column: exp.Expr, op: Op, value: exp.Expr) -> Condition | None:
        found = self.column(column)
        known = self.constant(value) if found else None
        if found is None or known is None:
            return None
        reference, schema = found
        template: PredicateTemplate
        if isinstance(known, Hole):
            hole = Parameter(known.key, schema.type, schema.name)
            template = ParameterComparison(schema, op, hole)
        else:
            template = compare(schema, op, known.value)
        return Condition(reference, template, fails_null=True)

    def _comparison(self, node: exp.Expr) -> Condition | None:
        op = _OPS.get(type(node))
        if op is None:
            return None
        left, right = node.this, node.expression
        return self._compare(left, op, right) or self._compare(right, mirrored(op), left)

    def _between(self, node: exp.Expr) -> Condition | None:
        if not isinstance(node, exp.Between) or node.args.get("symmetric"):
            return None
        lower = self._compare(node.this, Op.GE, node.args["low"])
        upper = self._compare(node.this, Op.LE, node.args["high"])
        return _joined([part for part in (lower, upper) if part], all_of)

    def _in_list(self, node: exp.Expr) -> Condition | None:
        if not isinstance(node, exp.In) or not node.expressions:
            return None
        found = self.column(node.this)
        if found is None:
            return None
        reference, schema = found
        values: list[object] = []
        for item in node.expressions:
            known = self.constant(item)
            if known is None:
                return None
            if isinstance(known, Hole):
                values.append(Parameter(known.key, schema.type, schema.name))
            else:
                values.append(known.value)
        template: PredicateTemplate = ParameterInList(schema, tuple(values))
        if not any(isinstance(value, Parameter) for value in values):
            template = any_of([compare(schema, Op.EQ, value) for value in values])
        return Condition(reference, template, fails_null=True)

    def _null_test(self, node: exp.Expr) -> Condition | None:
        negated = isinstance(node, exp.Not)
        test = node.this if negated else node
        while isinstance(test, exp.Paren):
            test = test.this
        if not isinstance(test, exp.Is) or not isinstance(test.expression, exp.Null):
            return None
        found = self.column(test.this)
        if found is None:
            return None
        reference, schema = found
        return Condition(reference, null_test(schema, not negated), fails_null=negated)

    def _like(self, node: exp.Expr) -> Condition | None:
        if not isinstance(node, exp.Like) or isinstance(node.parent, exp.Escape):
            return None
        if node.args.get("negate"):  # NOT LIKE is no Not around a Like
            return None
        found, known = self.column(node.this), self.constant(node.expression)
        if found is None or not isinstance(known, Constant) or not isinstance(known.value, str):
            return None
        reference, schema = found
        if not schema.type.is_text:
            return None
        pattern = known.value
        first = min((pattern.index(c) for c in _WILDCARDS if c in pattern), default=len(pattern))
        prefix = pattern[:first]
        if first == len(pattern):
            return Condition(reference, compare(schema, Op.EQ, prefix), fails_null=True)
        return Condition(reference, starts_with(schema, prefix), fails_null=True)

    def _flag(self, node: exp.Expr) -> Condition | None:
        """A bare BOOLEAN column, or NOT of one."""
        negated = isinstance(node, exp.Not)
        found = self.column(node.this if negated else node)
        if found is None:
            return None
        reference, schema = found
        return Condition(reference, compare(schema, Op.EQ, not negated), fails_null=True)

    def _both(self, node: exp.Expr) -> Condition | None:
        """AND inside OR: any one part is enough, since the query filters again."""
        if not isinstance(node, exp.And):
            return None
        parts = [part for part in map(self.read, flattened(node)) if part is not None]
        same = [part for part in parts if part.reference is parts[0].reference]
        found = _joined(same, all_of)
        if found is None:
            return None
        fails = any(part.fails_null for part in same)
        return Condition(found.reference, found.template, fails)

    def _either(self, node: exp.Expr) -> Condition | None:
        """OR: every branch must say something about the same table."""
        if not isinstance(node, exp.Or):
            return None
        parts: list[Condition] = []
        for branch in flattened(node):
            part = self.read(branch)
            if part is None or (parts and part.reference is not parts[0].reference):
                return None
            parts.append(part)
        return _joined(parts, any_of)


def push_down(bound: BoundQuery, context: PlanContext) -> dict[int, PredicateTemplate]:
    """The predicate of each table reference that has one, by the reference's identity."""
    reader = ConditionReader(bound, context)
    found: dict[int, list[PredicateTemplate]] = {}
    for select, frame in bound.frames:
        _mark_absent(frame.steps)
        if any(step.join is not None and step.join.method == "ASOF" for step in frame.steps):
            continue  # the nearest row depends on the rows that do not match
        where = select.args.get("where")
        for condition in reader.conjuncts(where.this if where else None):
            reference = condition.reference
            if _belongs(reference, frame) and (condition.fails_null or not reference.maybe_absent):
                found.setdefault(id(reference), []).append(condition.template)
        if where is not None and _is_false(where.this):
            for source in frame.sources.values():
                found.setdefault(id(source), []).append(NEVER)
        for condition in _from_joins(frame.steps, reader):
            found.setdefault(id(condition.reference), []).append(condition.template)
    pushed = {key: all_of(templates) for key, templates in found.items()}
    return {key: template for key, template in pushed.items() if template != ALWAYS}


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


def flattened(node: exp.Connector) -> Iterator[exp.Expr]:
    """The operands of a chain of one connector, left to right."""
    stack: list[exp.Expr] = [node]
    while stack:
        current = stack.pop()
        if type(current) is type(node):
            stack.extend((current.expression, current.this))
        else:
            yield current


def _joined(
    parts: Sequence[Condition],
    join: Callable[[Sequence[PredicateTemplate]], PredicateTemplate],
) -> Condition | None:
    if not parts:
        return None
    fails = all(part.fails_null for part in parts)
    return Condition(parts[0].reference, join([part.template for part in parts]), fails)


def _mark_absent(steps: Sequence[JoinStep]) -> None:
    """Note the tables that some outer join may replace by NULLs."""
    everything = [source for step in steps for source in step.sources]
    before: list[Source] = []
    for step in steps:
        side = step.join.side if step.join is not None else ""
        absent: list[Source] = []
        if side in ("LEFT", "FULL"):
            absent += step.sources
        if side in ("RIGHT", "FULL"):
            absent += everything if step.nested else before
        for source in absent:
            if isinstance(source, TableReference):
                source.maybe_absent = True
        before += step.sources


def filtered_sides(steps: Sequence[JoinStep]) -> Iterator[tuple[exp.Join, Sequence[Source]]]:
    """Each join whose ON clause scans may use, with the sources it need not preserve."""
    before: list[Source] = []
    for step in steps:
        join = step.join
        if join is not None and not step.nested and join.side != "FULL":
            right_only = join.side == "LEFT" or join.kind in ("SEMI", "ANTI")
            sources = step.sources if right_only else [*before, *step.sources]
            yield join, list(before) if join.side == "RIGHT" else sources
        before += step.sources


def _from_joins(steps: Sequence[JoinStep], reader: ConditionReader) -> Iterator[Condition]:
    """The conditions of ON clauses that scans may use."""
    for join, sources in filtered_sides(steps):
        for condition in reader.conjuncts(join.args.get("on")):
            reference = condition.reference
            usable = condition.fails_null or not reference.maybe_absent
            if usable and any(source is reference for source in sources):
                yield condition


def _belongs(reference: TableReference, frame: Frame) -> bool:
    return any(source is reference for source in frame.sources.values())


def _is_false(node: exp.Expr) -> bool:
    return any(isinstance(part, exp.Boolean) and not part.this for part in conjuncts(node))
