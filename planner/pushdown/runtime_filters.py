"""Runtime filters: equalities by which the rows of one scan filter another scan.

`FROM nation, supplier WHERE n_nationkey = s_nationkey AND n_name = 'CANADA'`: once the nation is
read, suppliers of other nations cannot matter. Impala sends Kudu a bloom filter of a join's small
side; here the values themselves are the filter.

A row may be dropped from the *target* of an equality when the *source* has no equal value, where

- the equality is a conjunct of WHERE, or of all branches of an OR that is one: whatever outer
  joins put in the row's place is NULL, and NULL equals nothing. The source may also stand in a
  query around the target's, for then the subquery is evaluated for rows of the source;
- it is a conjunct of ON, or what USING and NATURAL say, and the join need not preserve the target
  (see `pushdown`);
- it is `target IN (SELECT source ...)` as a conjunct of WHERE, and what the subquery gives is a
  column of one table as it is.

A scan that serves several mentions is filtered only by what holds for all of them.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import Relation, Scope, TableReference
from pykudu_sql.planner.plan.query_plans import RuntimeFilter
from pykudu_sql.planner.pushdown.condition import read_column, shared_conjuncts
from pykudu_sql.planner.pushdown.pushdown import filtered_sides
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema

# By what other tables at which moments a mention is filtered: their columns, each with its own.
FilterSources = frozenset[tuple[str, SnapshotBound | None, int, int]]
NO_SOURCES: FilterSources = frozenset()


@dataclass(frozen=True, slots=True)
class _End:
    """A column of a mention of a table."""

    reference: TableReference
    column: ColumnSchema


@dataclass(frozen=True, eq=False, slots=True)
class InSubquery:
    """`column IN (SELECT column ..)`.

    Attributes:
        select: the subquery, without parentheses.
        target: the mention whose column stands before IN, and the column's id.
    """

    select: exp.Select
    target: tuple[TableReference, int]


@dataclass(frozen=True, slots=True)
class Equality:
    """An equality by which the values of one mention of a table filter another mention.

    Attributes:
        source: the mention whose values are wanted, and the column's id.
        target: the mention that needs only rows with one of them, and the column's id.
    """

    source: tuple[TableReference, int]
    target: tuple[TableReference, int]


def join_equalities(bound: BoundQuery) -> tuple[Equality, ...]:
    """The equalities of a bound query that scans may use.

    To be called after `push_down`, which notes what outer joins may replace by NULLs.
    """
    equalities: dict[Equality, None] = {}
    if len(bound.references) < 2:
        return ()
    for select in bound.selects:
        scope = select.scope
        if any(step.join is not None and step.join.method == "ASOF" for step in scope.steps):
            continue  # the nearest row depends on the rows that do not match
        here = set(scope.relations)
        where = select.node.args.get("where")
        for source, target in _equalities(where.this if where else None, bound):
            if target.reference in here and _may_filter(source, target):
                equalities[_equality(source, target)] = None
        equalities.update(dict.fromkeys(_from_joins(scope, bound)))
    return tuple(equalities)


def filter_sources(equalities: tuple[Equality, ...]) -> Mapping[TableReference, FilterSources]:
    """The other tables whose rows may filter each mention. `equalities`: of `join_equalities`."""
    sources: dict[TableReference, FilterSources] = {}
    for equality in equalities:
        (source, source_id), (target, target_id) = equality.source, equality.target
        if source.table is not target.table:
            each = (source.table.id, source.bound, source_id, target_id)
            sources[target] = sources.get(target, NO_SOURCES) | {each}
    return sources


def in_subquery(node: exp.Expr, bound: BoundQuery) -> InSubquery | None:
    """The subquery whose values may filter a mention, if a condition is nothing else than that."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.In) or node.args.get("query") is None:
        return None
    select = _single_select(node.args["query"])
    target, source = _end(node.this, bound), _only_cells(select, bound)
    if select is None or target is None or source is None or not _may_filter(source, target):
        return None
    return InSubquery(select, (target.reference, target.column.id))


def runtime_filters(
    equalities: tuple[Equality, ...], scan_names: Mapping[TableReference, str]
) -> tuple[RuntimeFilter, ...]:
    """Equalities of mentions as filters of scans.

    `equalities`: of `join_equalities`; `scan_names`: the scan of each mention.
    """
    mentions: dict[str, set[TableReference]] = {}
    for mention, name in scan_names.items():
        mentions.setdefault(name, set()).add(mention)
    targets: dict[RuntimeFilter, set[TableReference]] = {}
    for equality in equalities:
        (source, source_id), (target, target_id) = equality.source, equality.target
        filter_ = RuntimeFilter(scan_names[source], source_id, scan_names[target], target_id)
        if filter_.source != filter_.target:
            targets.setdefault(filter_, set()).add(target)
    return tuple(each for each, filtered in targets.items() if filtered == mentions[each.target])


def _from_joins(scope: Scope, bound: BoundQuery) -> Iterator[Equality]:
    for join, usable in filtered_sides(scope.steps):
        for source, target in (*_equalities(join.args.get("on"), bound), *_using(join, scope)):
            if any(side is target.reference for side in usable) and _may_filter(source, target):
                yield _equality(source, target)


def _using(join: exp.Join, scope: Scope) -> Iterator[tuple[_End, _End]]:
    """Sources and targets of a join's USING. Of a column that several relations before it have,
    only behind inner joins, where all of these are equal."""
    before: list[Relation] = []
    are_inner = True
    for step in scope.steps:
        if step.join is join:
            for column in join.args.get("using") or ():
                left = _owners(column.name.lower(), before)
                right = _owners(column.name.lower(), step.relations)
                if len(right) == 1 and left and (len(left) == 1 or are_inner):
                    yield left[0], right[0]
                    yield right[0], left[0]
            return
        if step.is_comma:
            before = []
        before += [each for each in step.relations if each not in scope.hidden]
        are_inner = are_inner and (step.join is None or not step.join.side)


def _owners(name: str, relations: Sequence[Relation]) -> list[_End]:
    """The columns of a name; none where one of them is no column of a table."""
    owners = [each for each in relations if name in each.all_names()]
    tables = [each for each in owners if isinstance(each, TableReference) and not each.history]
    return [_End(each, each.column(name)) for each in tables] if tables == owners else []


def _equalities(node: exp.Expr | None, bound: BoundQuery) -> Iterator[tuple[_End, _End]]:
    """Sources and targets among the conjuncts of a condition, each equality both ways."""
    for part in shared_conjuncts(node):
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, exp.EQ):
            left, right = _end(part.this, bound), _end(part.expression, bound)
            if left is not None and right is not None:
                yield left, right
                yield right, left
        elif isinstance(part, exp.In) and part.args.get("query") is not None:
            select = _single_select(part.args["query"])
            target, source = _end(part.this, bound), _only_column(select, bound)
            if target is not None and source is not None:
                yield source, target


def _single_select(query: exp.Expr) -> exp.Select | None:
    """The SELECT that a subquery is without parentheses; None where it is more than one."""
    while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("with_"):
        query = query.this
    return query if isinstance(query, exp.Select) else None


def _only_column(select: exp.Select | None, bound: BoundQuery) -> _End | None:
    """The stored column that a SELECT gives, as it is."""
    item = _only_item(select)
    return None if item is None else _end(item, bound)


def _only_cells(select: exp.Select | None, bound: BoundQuery) -> _End | None:
    """The stored column that a SELECT gives some cells of: as it is, or the extremes of groups."""
    item = _only_item(select)
    if isinstance(item, exp.Max | exp.Min) and not item.expressions:
        item = item.this
    return None if item is None else _end(item, bound)


def _only_item(select: exp.Select | None) -> exp.Expr | None:
    """The one entry of a SELECT list; None of several."""
    if select is None or len(select.expressions) != 1:
        return None
    item: exp.Expr = select.expressions[0].unalias()
    return item


def _end(node: exp.Expr, bound: BoundQuery) -> _End | None:
    while isinstance(node, exp.Paren):
        node = node.this
    column = read_column(node, bound)
    return None if column is None else _End(*column)


def _may_filter(source: _End, target: _End) -> bool:
    """Whether the values of one column are among the cells of the other, if they are equal.

    Only scans of stored tables are filtered; the values may be those of any relation.
    Numbers of other kinds meet by rounding, so their cells say little of each other.
    """
    one, other = source.column.type, target.column.type
    if source.reference is target.reference or not target.reference.is_plain:
        return False
    return (one.is_text and other.is_text) or (one.is_integer and other.is_integer)


def _equality(source: _End, target: _End) -> Equality:
    return Equality((source.reference, source.column.id), (target.reference, target.column.id))
