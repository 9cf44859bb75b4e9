"""Subqueries under IN that are computed before the scans of the query around them.

    SELECT .. FROM orders, lineitem WHERE o_orderkey = l_orderkey AND o_orderkey IN (
        SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)

HAVING mostly leaves few groups. Computed first, their values filter the scan of `orders` as the
rows of a small table would (`runtime_filters`), whose rows then filter `lineitem`; the query reads
the values as a relation in the subquery's place.

Such a subquery depends on nothing around it, reads stored tables only, and is a conjunct of WHERE
whose other side is a stored column of a scan that serves this mention alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import BoundQuery, relation_of
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.query_plans import (
    CodedColumn,
    EarlyForm,
    EarlySubquery,
    Query,
    SortedGroups,
)
from pykudu_sql.planner.pushdown.condition import conjuncts
from pykudu_sql.planner.pushdown.dictionary_grouping import coded_groups
from pykudu_sql.planner.pushdown.query_parts import part_of
from pykudu_sql.planner.pushdown.runtime_filters import in_subquery
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.planner.vocabulary.function_names import is_volatile

SortedGroupsOf = Callable[[Query], SortedGroups | None]
VALUE = "value"  # the one column of what a subquery gave
_META = "pykudu_early"


@dataclass(frozen=True, slots=True)
class EarlyMark:
    """A subquery that was noted in the tree.

    Attributes:
        name: of the relation of its values.
        scans: names of those that it reads.
        target: name of the scan that its values filter.
        target_id: id of the column that meets them.
    """

    name: str
    scans: frozenset[str]
    target: str
    target_id: int


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
    names = list(scans.values())
    marked: set[int] = set()
    for select in bound.selects:
        where = select.node.args.get("where")
        for node in conjuncts(where.this if where else None):
            subquery = in_subquery(node, bound)
            if subquery is None or subquery.target[0] not in select.scope.relations:
                continue
            inside, target = all_nodes(subquery.select), scans[subquery.target[0]]
            read = _read_alone(subquery.select, inside, bound)
            if read is None or names.count(target) > 1 or id(subquery.select) in marked:
                continue
            marked.update(map(id, inside))
            name = f"{SCAN_PREFIX}early_{first_scan}_{len(marks)}"
            subquery.select.meta[_META] = name
            read_scans = frozenset(scans[each] for each in read)
            marks.append(EarlyMark(name, read_scans, target, subquery.target[1]))
    return tuple(marks)


def _read_alone(
    select: exp.Select, nodes: Sequence[exp.Expr], bound: BoundQuery
) -> Sequence[TableReference] | None:
    """The mentions of tables that a subquery reads; None if it is not to be computed first."""
    if select.args.get("having") is None or any(map(is_volatile, nodes)):
        return None
    inside = set(map(id, nodes))
    within = [each for each in bound.selects if id(each.node) in inside]
    relations = {relation for each in within for relation in each.scope.relations}
    read = [each for each in relations if isinstance(each, TableReference)]
    if len(read) < len(relations) or any(isinstance(node, exp.With) for node in nodes):
        return None
    for node in nodes:
        relation = relation_of(node) if isinstance(node, exp.Column) else None
        if relation is not None and relation not in relations:
            return None
    return read


def early_form(query: Query, marks: Sequence[EarlyMark], groups_of: SortedGroupsOf) -> EarlyForm:
    """The form of a planned query in which marked subqueries are relations.

    Args:
        query: whose residual tree has the notes of `mark_early_subqueries`; it stays as it is.
        marks: of the subqueries.
        groups_of: the form of a subquery over groups that its scan makes.
    """
    coded_columns = () if query.coded is None else query.coded.columns
    if any(column.scan in mark.scans for mark in marks for column in coded_columns):
        coded_columns = ()
    selects = {node.meta[_META]: node for node in _marked(query.residual)}
    subqueries = tuple(
        EarlySubquery(
            mark.name,
            _subquery(query, mark, selects[mark.name], groups_of),
            mark.target,
            mark.target_id,
        )
        for mark in marks
        if mark.name in selects
    )
    return EarlyForm(subqueries, cache(partial(_around, query, coded_columns)))


def _around(query: Query, coded_columns: Sequence[CodedColumn]) -> Query:
    """The query around subqueries that were computed."""
    tree = query.residual.copy()
    for node in list(_marked(tree)):
        source = exp.to_table(node.meta[_META], quoted=True)
        node.replace(exp.select(exp.column(VALUE, quoted=True)).from_(source))
    part = part_of(query, tree)
    coded = coded_groups(tree, coded_columns, len(part.parameters)) if coded_columns else None
    return replace(part, coded=coded, early=None)


def _subquery(
    query: Query, mark: EarlyMark, select: exp.Select, groups_of: SortedGroupsOf
) -> Query:
    part = part_of(query, select.copy())
    inner = Query(
        part.sql,
        part.residual,
        tuple(scan for scan in part.scans if scan.name in mark.scans),
        part.parameters,
        (VALUE,),
        runtime_filters=tuple(
            each for each in query.runtime_filters if {each.source, each.target} <= mark.scans
        ),
        lists=part.lists,
        timestamp_parameters=query.timestamp_parameters,
        compared_types=part.compared_types,
    )
    return replace(inner, sorted_groups=groups_of(inner))


def _marked(tree: exp.Expr) -> Iterator[exp.Select]:
    for node in nodes_of(tree, exp.Select):
        if node.meta_get(_META) is not None:
            yield node
