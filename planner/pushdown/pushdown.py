"""Predicate push-down: conditions of WHERE, ON and HAVING about one table, for its scan.

A scan may drop a row when no result can come of it. That holds for

- every conjunct of WHERE over one table's columns, which is applied after all joins; but where an
  outer join may have put NULLs for the table's rows, only for conjuncts that NULLs fail: dropping
  a row there can at most make it such a NULL row, which WHERE then drops;
- conjuncts of ON over the side that the join need not preserve: both sides of an inner join, the
  right of LEFT, SEMI and ANTI, the left of RIGHT, none of FULL;
- conjuncts of HAVING over columns that are keys of the groups.

The same conjuncts over a derived table (a subquery, a view, a WITH query) go on into the SELECTs
that its rows come from, where a filter on its columns is one on theirs (`planner.lineage`). What a
WITH query is mentioned for several times must serve all mentions: a row may be dropped that every
one of them would drop.

Conditions are pushed as wide as needed and applied again by the residual query. Only of a SELECT of
one table it is noted whether its scan decides the WHERE (`Pushed.decided`), so that there is
nothing to apply again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import BoundQuery, BoundSelect
from pykudu_sql.planner.bind.relations import (
    ColumnReferences,
    DerivedTable,
    JoinStep,
    Relation,
    Scope,
    TableReference,
)
from pykudu_sql.planner.operands.template import PredicateTemplate, all_of, any_of
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.condition import ConditionReader, conjuncts
from pykudu_sql.planner.pushdown.table_condition import Condition, conjunction
from pykudu_sql.storage.common.predicate.column_predicate import ALWAYS, NEVER

_MAX_WAYS = 500
Templates = dict[TableReference, PredicateTemplate]
Way = tuple[tuple[DerivedTable, Scope], ...]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What scans are given of the conditions of a query.

    Attributes:
        predicates: of each mention of a table that has one.
        decided: the mentions that are all that a SELECT reads, whose predicate keeps no row for
            which its WHERE is not true, whatever its HAVING asks for, if the values of parameters
            are compared exactly (`template.fill`).
    """

    predicates: Mapping[TableReference, PredicateTemplate] = field(default_factory=dict)
    decided: frozenset[TableReference] = frozenset()


@dataclass(frozen=True, slots=True)
class _Clause:
    """A condition of a SELECT that all its rows satisfy.

    `relations`: those it may be used for; `only`: the columns it may be used for; None for any.
    """

    node: exp.Expr
    relations: frozenset[Relation]
    only: ColumnReferences | None = None


def push_down(bound: BoundQuery, context: PlanContext) -> Pushed:
    """The conditions of a query for its scans."""
    descent = _Descent(bound, context)
    pushed: Templates = {}
    for scope in descent.scopes:
        pushed.update(descent.predicates_through(scope))
    predicates = {key: template for key, template in pushed.items() if template != ALWAYS}
    return Pushed(predicates, frozenset(descent.decided))


class _Descent:
    """Follows conditions from where they are written to the tables they end at.

    `scopes`: of all SELECTs, and those that only rename a table's columns; `decided`: see `Pushed`.
    """

    def __init__(self, bound: BoundQuery, context: PlanContext) -> None:
        self._bound = bound
        self._context = context
        self._ways = 0
        self._clauses: dict[Scope, list[_Clause]] = {}
        self._uses: dict[Scope, list[tuple[DerivedTable, Scope]]] = {}
        self.decided: set[TableReference] = set()
        self.scopes = [select.scope for select in bound.selects]
        for select in bound.selects:
            scope = select.scope
            self._clauses[scope] = list(_clauses(select))
            derived = [s for s in scope.relations if isinstance(s, DerivedTable)]
            for use in derived:
                for read in use.scopes:
                    self._uses.setdefault(read, []).append((use, scope))
                    if not read.steps:
                        self.scopes.append(read)

    def predicates_through(self, scope: Scope, way: Way = ()) -> Templates:
        """What conditions in a SELECT and around it require of the tables at the end of `way`.

        `way`: the nested derived tables from `scope` down to the tables, each with the SELECT that
        it is read as. Returns the
        templates of tables about which something is said.
        """
        self._ways += 1
        if self._ways > _MAX_WAYS:
            return {}
        read_conditions = [self._conditions_of(scope, way)]
        around = [
            self.predicates_through(user, ((use, scope), *way))
            for use, user in self._uses.get(scope, ())
        ]
        if around:
            common = set.intersection(*(set(each) for each in around))
            read_conditions.append({key: any_of([each[key] for each in around]) for key in common})
        keys = dict.fromkeys(key for each in read_conditions for key in each)
        return {key: all_of([each[key] for each in read_conditions if key in each]) for key in keys}

    def _conditions_of(self, scope: Scope, way: Way) -> Templates:
        """What the conditions of one SELECT require of the tables at the end of `way`."""
        end = way[-1][1] if way else scope
        ends = {each for each in end.relations if isinstance(each, TableReference)}
        steps = dict(way)
        is_whole = not way and len(scope.relations) == 1
        conditions_of: dict[TableReference, list[Condition]] = {}
        for clause in self._clauses.get(scope, ()):
            if way and way[0][0] not in clause.relations:
                continue
            if clause.only is None and _is_false(clause.node):
                for reference in ends if way else ends & clause.relations:
                    never = Condition(reference, NEVER, fails_null=True)
                    conditions_of.setdefault(reference, []).append(never)
            reader = ConditionReader(self._bound, self._context, steps, clause.only)
            for part in conjuncts(clause.node):
                is_pushed = False
                for condition in reader.read(part):
                    reference = condition.reference
                    started = way[0][0] if way else reference
                    local = reference in ends and started in clause.relations
                    if local and self._survives(condition, way):
                        conditions_of.setdefault(reference, []).append(condition)
                        is_pushed = True
                is_whole = is_whole and (is_pushed or clause.only is not None)
        joined = [conjunction(parts, is_whole) for parts in conditions_of.values()]
        self.decided.update(condition.reference for condition in joined if condition.is_exact)
        return {condition.reference: condition.template for condition in joined}

    def _survives(self, condition: Condition, way: Way) -> bool:
        """Whether a condition may be evaluated before the outer joins on its way."""
        relations = (condition.reference, *(use for use, _ in way))
        return condition.fails_null or self._bound.maybe_absent.isdisjoint(relations)


def _clauses(select: BoundSelect) -> Iterator[_Clause]:
    """The conditions of a SELECT that scans may use."""
    node, scope = select.node, select.scope
    if any(step.join is not None and step.join.method == "ASOF" for step in scope.steps):
        return  # the nearest row depends on the rows that do not match
    everything = frozenset(scope.relations)
    where, having = node.args.get("where"), node.args.get("having")
    if where is not None:
        yield _Clause(where.this, everything)
    if having is not None and select.groups:
        keys = frozenset(key for key in select.groups if key[1] not in select.aliases)
        yield _Clause(having.this, everything, keys)
    for join, relations in filtered_sides(scope.steps):
        if join.args.get("on") is not None:
            yield _Clause(join.args["on"], frozenset(relations))


def filtered_sides(steps: Sequence[JoinStep]) -> Iterator[tuple[exp.Join, Sequence[Relation]]]:
    """Each join whose ON clause scans may use, with the relations it need not preserve."""
    before: list[Relation] = []
    for step in steps:
        join = step.join
        if join is not None and not step.nested and join.side != "FULL":
            right_only = join.side == "LEFT" or join.kind in ("SEMI", "ANTI")
            relations = step.relations if right_only else [*before, *step.relations]
            yield join, list(before) if join.side == "RIGHT" else relations
        before += step.relations


def _is_false(node: exp.Expr) -> bool:
    return any(isinstance(part, exp.Boolean) and not part.this for part in conjuncts(node))
