"""Subqueries of few values that are computed before the scans of the query around them.

    SELECT .. FROM orders, lineitem WHERE o_orderkey = l_orderkey AND o_orderkey IN (
        SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
    SELECT * FROM readings WHERE at > (SELECT max(at) FROM readings) - INTERVAL 1 DAY

HAVING mostly leaves few groups, and aggregates and LIMIT give few rows. Computed first, their
values filter the scan of `orders` as the rows of a small table would (`runtime_filters`), whose
rows then filter `lineitem`; the query reads the values as a relation in the subquery's place. What
is compared with a column as one value is a condition of the column's scan, as a constant would be;
PostgreSQL calls such a subquery an InitPlan. Of what summarizes a table nothing is read.

Such a subquery depends on nothing around it, reads stored tables only, and is a conjunct of WHERE
whose other side is a stored column of a scan that serves this mention alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, partial

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import BoundQuery, relation_of
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.operands.comparison import mirrored
from pykudu_sql.planner.plan.query_plans import (
    CodedColumn,
    EarlyForm,
    EarlySubquery,
    Narrowing,
    Query,
    SortedGroups,
)
from pykudu_sql.planner.pushdown.condition import conjuncts, stored_column
from pykudu_sql.planner.pushdown.limit_pushdown import summaries_of
from pykudu_sql.planner.pushdown.query_parts import part_of
from pykudu_sql.planner.pushdown.runtime_filters import in_subquery
from pykudu_sql.planner.pushdown.table_condition import COMPARISONS
from pykudu_sql.planner.pushdown.words.dictionary_grouping import coded_groups
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.planner.vocabulary.function_names import is_volatile
from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.predicate.scan_spec import Summary

SortedGroupsOf = Callable[[Query], SortedGroups | None]
VALUE = "value"  # the one column of what a subquery gave
_META = "pykudu_early"


@dataclass(frozen=True, slots=True)
class EarlyMark:
    """A subquery that was noted in the tree, or what is computed of some.

    Attributes:
        name: of the relation of its values.
        scans: names of those that it reads.
        narrowing: the scan that its values filter; None of a part of another one.
        summary: what it says of a whole table; nothing where it says something else.
        parts: the subqueries that it is computed of, where all are summaries.
    """

    name: str
    scans: frozenset[str]
    narrowing: Narrowing | None
    summary: tuple[Summary, ...]
    parts: tuple["EarlyMark", ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class _Condition:
    """A condition of a column and what subqueries give.

    Attributes:
        values: a SELECT of few values behind IN, or an expression of one value.
        target: the mention of the column's table, and the column's id.
        op: see `Narrowing`.
    """

    values: exp.Expr
    target: tuple[TableReference, int]
    op: Op | None


def mark_early_subqueries(
    bound: BoundQuery, scans: Mapping[TableReference, str], first_scan: int
) -> tuple[EarlyMark, ...]:
    """Note the subqueries that are computed first in the tree.

    Args:
        bound: the query; its tree is as it was bound, but for the tables' names.
        scans: the name of each mention's scan.
        first_scan: the number of the query's first scan.
    """
    marks: list[EarlyMark] = []
    mentions = list(scans.values())
    marked: set[int] = set()
    for select in bound.selects:
        where = select.node.args.get("where")
        for node in conjuncts(where.this if where else None):
            condition = _condition(node, bound)
            if condition is None or condition.target[0] not in select.scope.relations:
                continue
            read = _read_alone(condition.values, bound)
            target = scans[condition.target[0]]
            if not read or mentions.count(target) > 1 or id(condition.values) in marked:
                continue
            name = f"{SCAN_PREFIX}early_{first_scan}_{len(marks)}"
            mark = EarlyMark(
                name,
                frozenset(scans[each] for each in read),
                Narrowing(target, condition.target[1], condition.op),
                _summary(condition.values, read, bound),
                _summarized_parts(condition.values, name, scans, bound),
            )
            marked.update(map(id, all_nodes(condition.values)))
            condition.values.meta[_META] = name
            for part, subquery in zip(mark.parts, _subqueries(condition.values), strict=False):
                subquery.meta[_META] = part.name
            marks.append(mark)
    return tuple(marks)


def _condition(node: exp.Expr, bound: BoundQuery) -> _Condition | None:
    """What a conjunct says of a column by subqueries; None where it is something else."""
    while isinstance(node, exp.Paren):
        node = node.this
    subquery = in_subquery(node, bound)
    if subquery is not None:
        gives_few = _gives_few(subquery.select)
        return _Condition(subquery.select, subquery.target, None) if gives_few else None
    op = COMPARISONS.get(type(node))
    if op is None:
        return None
    left, right = node.this, node.expression
    for side, value, direction in ((left, right, op), (right, left, mirrored(op))):
        column = stored_column(side, bound)
        if column is not None and _is_of_subqueries(value):
            return _Condition(value, (column[0], column[1].id), direction)
    return None


def _gives_few(select: exp.Select) -> bool:
    """Whether a SELECT mostly has few rows: a number of them, extremes of groups, some groups."""
    extreme = isinstance(select.expressions[0].unalias(), exp.Max | exp.Min)
    return extreme or bool(select.args.get("having") or select.args.get("limit"))


def _is_of_subqueries(node: exp.Expr) -> bool:
    """Whether an expression is a subquery, or a sum or difference of such and constants."""
    match node:
        case exp.Paren():
            return _is_of_subqueries(node.this)
        case exp.Subquery():
            return isinstance(node.this, exp.Select) and not node.args.get("with_")
        case exp.Add() | exp.Sub():
            sides = node.this, node.expression
            others = [side for side in sides if not _is_of_subqueries(side)]
            return len(others) < len(sides) and all(
                isinstance(each, exp.Literal | exp.Interval) for each in others
            )
    return False


def _subqueries(node: exp.Expr) -> Iterator[exp.Subquery]:
    """The subqueries that an expression is computed of, but for one that it is."""
    for child in node.iter_expressions():
        if isinstance(child, exp.Subquery):
            yield child
        elif isinstance(child, exp.Paren | exp.Add | exp.Sub):
            yield from _subqueries(child)


def _read_alone(values: exp.Expr, bound: BoundQuery) -> Sequence[TableReference]:
    """The mentions of tables that subqueries read; none if they are not to be computed first."""
    nodes = all_nodes(values)
    if any(map(is_volatile, nodes)):
        return ()
    inside = set(map(id, nodes))
    within = [each for each in bound.selects if id(each.node) in inside]
    relations = {relation for each in within for relation in each.scope.relations}
    read = [each for each in relations if isinstance(each, TableReference)]
    if len(read) < len(relations) or any(isinstance(node, exp.With) for node in nodes):
        return ()
    for node in nodes:
        relation = relation_of(node) if isinstance(node, exp.Column) else None
        if relation is not None and relation not in relations:
            return ()
    return read


def _summary(
    values: exp.Expr, read: Sequence[TableReference], bound: BoundQuery
) -> tuple[Summary, ...]:
    """What a subquery by itself summarizes of the one table that it reads."""
    select = values.this if isinstance(values, exp.Subquery) else values
    if not isinstance(select, exp.Select) or len(read) != 1:
        return ()
    return summaries_of(select, bound, read[0])


def _summarized_parts(
    values: exp.Expr, name: str, scans: Mapping[TableReference, str], bound: BoundQuery
) -> tuple[EarlyMark, ...]:
    """The marks of the subqueries that a value is computed of, if all are summaries."""
    if isinstance(values, exp.Query):
        return ()
    parts = []
    for number, subquery in enumerate(_subqueries(values)):
        read = _read_alone(subquery, bound)
        read_scans = frozenset(scans[each] for each in read)
        summary = _summary(subquery, read, bound)
        parts.append(EarlyMark(f"{name}_{number}", read_scans, None, summary))
    return tuple(parts) if all(part.summary for part in parts) else ()


def early_form(
    query: Query, marks: Sequence[EarlyMark], groups_of: SortedGroupsOf
) -> EarlyForm | None:
    """The form of a planned query in which marked subqueries are relations; None without one.

    Args:
        query: whose residual tree has the notes of `mark_early_subqueries`; it stays as it is.
        marks: of the subqueries; one that other rules took for a part of theirs is left to them.
        groups_of: the form of a subquery over groups that its scan makes.
    """
    places: dict[str, list[exp.Expr]] = {}
    for node in _marked(query.residual):
        places.setdefault(node.meta[_META], []).append(node)
    used = {
        mark: places[mark.name][0]
        for mark in marks
        if len(places.get(mark.name, ())) == 1 and _stands(places[mark.name][0], mark)
    }
    if not used:
        return None
    coded_columns = () if query.coded is None else query.coded.columns
    if any(column.scan in mark.scans for mark in used for column in coded_columns):
        coded_columns = ()
    subqueries = tuple(
        EarlySubquery(mark.name, _subquery(query, mark, values, groups_of), mark.narrowing)
        for mark, values in used.items()
    )
    names = frozenset(mark.name for mark in used)
    return EarlyForm(subqueries, cache(partial(_around, query, names, coded_columns)))


def _stands(values: exp.Expr, mark: EarlyMark) -> bool:
    """Whether a value is still compared with a column as it is, and not as a part of a rule."""
    if mark.narrowing is None or mark.narrowing.op is None:
        return True
    compared = values.parent
    while isinstance(compared, exp.Paren):
        compared = compared.parent
    if compared is None or type(compared) not in COMPARISONS:
        return False
    return isinstance(compared.this, exp.Column) or isinstance(compared.expression, exp.Column)


def _around(query: Query, names: Set[str], coded_columns: Sequence[CodedColumn]) -> Query:
    """The query around subqueries that were computed. `names`: of their relations."""
    tree = query.residual.copy()
    for node in list(_marked(tree)):
        if node.meta[_META] in names:
            source = exp.to_table(node.meta[_META], quoted=True)
            select = exp.select(exp.column(VALUE, quoted=True)).from_(source)
            node.replace(select if isinstance(node, exp.Select) else select.subquery())
    part = part_of(query, tree)
    coded = coded_groups(tree, coded_columns, len(part.parameters)) if coded_columns else None
    return replace(part, coded=coded, early=None)


def _subquery(query: Query, mark: EarlyMark, values: exp.Expr, groups_of: SortedGroupsOf) -> Query:
    tree = values.copy()
    del tree.meta[_META]
    part = part_of(query, tree if isinstance(tree, exp.Select) else exp.select(tree))
    inner = Query(
        part.sql,
        part.residual,
        tuple(scan for scan in part.scans if scan.name in mark.scans),
        part.parameters,
        (VALUE,),
        summary=mark.summary,
        runtime_filters=tuple(
            each for each in query.runtime_filters if {each.source, each.target} <= mark.scans
        ),
        lists=part.lists,
        timestamp_parameters=query.timestamp_parameters,
        compared_types=part.compared_types,
    )
    if mark.parts:
        return replace(inner, early=early_form(inner, mark.parts, groups_of))
    return replace(inner, sorted_groups=groups_of(inner))


def _marked(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in all_nodes(tree):
        if node.meta_get(_META) is not None:
            yield node
