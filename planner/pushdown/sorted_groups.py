"""GROUP BY over columns whose equal cells lie side by side: groups that a scan makes.

The rows of a rowset on disk are in the order of their key. Where a query groups one table by a
prefix of it, the rows of a group are neighbours, and one pass adds them up; an engine that does not
know the order builds a hash table of all groups. So of such a query there is a second form, over a
relation of groups in place of rows, with columns for what its aggregates are made of:

    SELECT k, sum(x) FROM t WHERE d > 5 GROUP BY k HAVING count(*) > 3
    SELECT k, sum_x FROM groups WHERE count > 3

PostgreSQL calls the two ways GroupAggregate and HashAggregate. The executor takes this one where
the rowsets that it reads allow it (`storage.scan.key_order`). Where they overlap, or the columns
are no prefix of the key, but runs of equal cells are long, the pass gives parts of groups, far
fewer than rows, and a third form puts these together:

    SELECT k, sum(sum_x) FROM groups GROUP BY k HAVING sum(count) > 3

SELECT DISTINCT of columns is read as GROUP BY of them. The forms are made of queries whose scan
decides the WHERE (`pushdown.Pushed.decided`) and which compute with nothing but keys, constants and
the aggregates COUNT, SUM, MIN, MAX and AVG of stored numbers and times, by operators that are on a
list here: nothing is taken for a scalar function that might be an aggregate. A mean is the quotient
of a sum and a count.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, partial

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import BoundQuery, relation_of
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.query_plans import (
    AggregateKind,
    GroupAggregate,
    Query,
    SortedGroups,
)
from pykudu_sql.planner.pushdown.condition import stored_column
from pykudu_sql.planner.pushdown.query_parts import part_of
from pykudu_sql.planner.pushdown.words.dictionary_grouping import GROUPING_SETS, select_entry
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind

_CLAUSES = frozenset(
    {"expressions", "from_", "where", "group", "having", "order", "limit", "offset", "distinct"}
)
_CALLS = (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg)
_EXTREMES: Mapping[type[exp.Expr], AggregateKind] = {
    exp.Min: AggregateKind.MIN,
    exp.Max: AggregateKind.MAX,
}
_OPERATORS = frozenset(
    {
        exp.Add, exp.Alias, exp.And, exp.Between, exp.Boolean, exp.Case, exp.Cast, exp.Coalesce,
        exp.DPipe,
        exp.DataType, exp.Div, exp.EQ, exp.GT, exp.GTE, exp.Having, exp.Identifier, exp.If, exp.In,
        exp.IntDiv, exp.Is, exp.LT, exp.LTE, exp.Literal, exp.Mod, exp.Mul, exp.NEQ, exp.Neg,
        exp.Not, exp.Null, exp.Nullif, exp.Or, exp.Order, exp.Ordered, exp.Paren, exp.Placeholder,
        exp.Sub,
        exp.TryCast,
    }
)  # fmt: skip


def sorted_groups(
    query: Query,
    bound: BoundQuery,
    decided: Set[TableReference],
    scans: Mapping[TableReference, str],
) -> SortedGroups | None:
    """The form of a query over groups that its scan makes; None if it has no such form.

    Args:
        query: planned, or a part of one; it stays as it is.
        bound: the query as it was bound.
        decided: the mentions of tables whose scan decides a WHERE.
        scans: the name of each mention's scan.
    """
    select = query.residual
    if not isinstance(select, exp.Select):
        return None
    reference = _only_table(select, query, scans)
    if reference is None or (select.args.get("where") is not None and reference not in decided):
        return None
    calls = _Calls(bound, reference)
    keys = _keys(select, calls)
    if keys is None:
        return None
    key_ids = tuple(column.id for column in keys)
    if not all(calls.are_plain(part, key_ids) for part in _parts(select)):
        return None
    return SortedGroups(
        key_ids,
        keys == calls.schema.key_columns[: len(keys)],
        tuple(calls.aggregates.values()),
        cache(partial(_form, query, calls)),
        cache(partial(_merging_form, query, calls)),
    )


def _only_table(
    select: exp.Select, query: Query, scans: Mapping[TableReference, str]
) -> TableReference | None:
    """The one mention of a table that a SELECT without subqueries reads."""
    if len(query.scans) != 1 or any(v for k, v in select.args.items() if v and k not in _CLAUSES):
        return None
    source, scan = select.args.get("from_"), query.scans[0]
    if source is None or not isinstance(source.this, exp.Table) or source.this.name != scan.name:
        return None
    if len(list(nodes_of(select, exp.Query))) > 1 or scan.limit is not None or scan.addressed:
        return None
    references = [reference for reference, name in scans.items() if name == scan.name]
    return references[0] if len(references) == 1 and references[0].is_plain else None


def _keys(select: exp.Select, calls: "_Calls") -> tuple[ColumnSchema, ...] | None:
    """The columns of the groups, in the order of the table's key; None of anything else."""
    columns: list[ColumnSchema] = []
    for item in _grouped_by(select):
        column = calls.column(item)
        if column is None or column in columns or not _is_comparable(column.type):
            return None
        columns.append(column)
    if not columns:
        return None
    places = {column_id: place for place, column_id in enumerate(calls.schema.key_ids)}
    return tuple(sorted(columns, key=lambda column: places.get(column.id, len(places))))


def _grouped_by(select: exp.Select) -> Sequence[exp.Expr]:
    """What the rows of a group are equal in; nothing of a SELECT of other groups or of none."""
    group, distinct = select.args.get("group"), select.args.get("distinct")
    if group is None:
        return [item.unalias() for item in select.expressions] if _is_distinct(select) else []
    if distinct is not None or any(group.args.get(name) for name in GROUPING_SETS):
        return []
    return [select_entry(item, select) for item in group.expressions]


def _is_distinct(select: exp.Select) -> bool:
    """Whether a SELECT is DISTINCT over rows, not over the group that HAVING or a call makes."""
    distinct, order = select.args.get("distinct"), select.args.get("order")
    if distinct is None or any(distinct.args.values()) or select.args.get("having") is not None:
        return False
    return order is None or not any(nodes_of(order, *_CALLS))


def _is_comparable(column_type: DataType) -> bool:
    return column_type.is_text or column_type.has_one_word


def _parts(select: exp.Select) -> Iterator[exp.Expr]:
    """What a SELECT computes of its groups."""
    yield from select.expressions
    for name in ("having", "order"):
        if select.args.get(name) is not None:
            yield select.args[name]


@dataclass(frozen=True, slots=True)
class _Call:
    """An aggregate that a query calls, of which column; None counts rows."""

    function: type[exp.Expr]
    column: ColumnSchema | None

    @property
    def parts(self) -> tuple[tuple[AggregateKind, int | None], ...]:
        """What it is made of: a mean of a sum and a count."""
        column = self.column
        if column is None:
            return ((AggregateKind.COUNT, None),)
        count = (AggregateKind.COUNT, column.id if column.may_show_null else None)
        if self.function is exp.Count:
            return (count,)
        if self.function is exp.Avg:
            is_decimal = column.type.kind is Kind.DECIMAL
            kind = AggregateKind.UNSCALED if is_decimal else AggregateKind.SUM
            return ((kind, column.id), count)
        return ((_EXTREMES.get(self.function, AggregateKind.SUM), column.id),)


class _Calls:
    """The aggregates of one table that a query calls.

    `aggregates`: what they are made of, each once.
    """

    def __init__(self, bound: BoundQuery, reference: TableReference) -> None:
        self.schema = reference.table.schema
        self.aggregates: dict[tuple[AggregateKind, int | None], GroupAggregate] = {}
        self._bound = bound
        self._reference = reference

    def column(self, node: exp.Expr) -> ColumnSchema | None:
        """The column of the table that an expression is."""
        stored = stored_column(node, self._bound)
        return stored[1] if stored is not None and stored[0] is self._reference else None

    def are_plain(self, part: exp.Expr, key_ids: Sequence[int]) -> bool:
        """Whether a part of a query computes with keys and aggregates alone; notes these."""
        stack = [part]
        while stack:
            node = stack.pop()
            if isinstance(node, exp.Column):
                column = self.column(node)
                is_output = column is None and relation_of(node) is None and not node.table
                if not (is_output and isinstance(node.parent, exp.Ordered)) and (
                    column is None or column.id not in key_ids
                ):
                    return False
            elif (call := self.call(node)) is not None:
                for key in call.parts:
                    name = f"{SCAN_PREFIX}group_{len(self.aggregates)}"
                    self.aggregates.setdefault(key, GroupAggregate(*key, name))
            elif type(node) in _OPERATORS or _is_exact_text(node):
                stack += node.iter_expressions()
            else:
                return False
        return True

    def call(self, node: exp.Expr) -> _Call | None:
        """The aggregate that an expression calls."""
        if type(node) not in _CALLS:
            return None
        if any(v for k, v in node.args.items() if k not in ("this", "big_int")):
            return None
        is_count = isinstance(node, exp.Count)
        if is_count and isinstance(node.this, exp.Star):
            return None if any(node.this.args.values()) else _Call(exp.Count, None)
        column = self.column(node.this)
        if column is None or not (is_count or _is_offered(type(node), column.type)):
            return None
        return _Call(type(node), column)


def _is_offered(function: type[exp.Expr], column_type: DataType) -> bool:
    """Whether an aggregate of a type is computed: of numbers; the extremes of times too."""
    if column_type.is_floating:
        return True
    is_number = column_type.is_integer or column_type.kind is Kind.DECIMAL
    return column_type.has_one_word and (is_number or function in _EXTREMES)


def _is_exact_text(node: exp.Expr) -> bool:
    """Whether a call is part of how decimals are compared with all their digits."""
    return isinstance(node, exp.Anonymous) and node.name.lower() == "replace"


def _form(query: Query, calls: _Calls) -> Query:
    """The query over groups: HAVING filters them."""
    select = _with_values(query, calls, lambda kind, values: values)
    having = select.args.get("having")
    select.set("where", None if having is None else exp.Where(this=having.this))
    for clause in ("having", "group", "distinct"):
        select.set(clause, None)
    return _over_groups(query, select)


def _merging_form(query: Query, calls: _Calls) -> Query:
    """The query over parts of groups."""
    select = _with_values(query, calls, _merged)
    select.set("where", None)
    return _over_groups(query, select)


def _over_groups(query: Query, select: exp.Select) -> Query:
    return replace(
        part_of(query, select),
        coded=None,
        early=None,
        has_states=False,
        null_free=None,
        sorted_groups=None,
    )


_Combine = Callable[[AggregateKind, exp.Expr], exp.Expr]


def _with_values(query: Query, calls: _Calls, combine: _Combine) -> exp.Select:
    """A copy of the query with values of groups in place of its aggregates."""
    select = query.residual.copy()
    assert isinstance(select, exp.Select)
    alias = select.args["from_"].this.alias
    for part in list(_parts(select)):
        for node in list(nodes_of(part, *_CALLS)):
            call = calls.call(node)
            assert call is not None
            columns = [
                combine(key[0], exp.column(calls.aggregates[key].name, table=alias, quoted=True))
                for key in call.parts
            ]
            node.replace(_value(call, columns))
    return select


def _merged(kind: AggregateKind, values: exp.Expr) -> exp.Expr:
    """What an aggregate of parts of a group is of the whole."""
    match kind:
        case AggregateKind.COUNT:
            return exp.cast(exp.Sum(this=values), exp.DType.BIGINT)
        case AggregateKind.MIN:
            return exp.Min(this=values)
        case AggregateKind.MAX:
            return exp.Max(this=values)
    return exp.Sum(this=values)


def _value(call: _Call, values: Sequence[exp.Expr]) -> exp.Expr:
    """An aggregate, made of its parts, in the type that the engine gives it."""
    column = call.column
    if call.function is exp.Sum and column is not None and column.type.is_integer:
        return exp.cast(values[0], exp.DType.INT128)
    if call.function is not exp.Avg or column is None:
        return values[0]
    total, count = (exp.cast(each, exp.DType.DOUBLE) for each in values)
    digits = exp.cast(exp.Literal.number(10**column.type.scale), exp.DType.DOUBLE)
    return exp.paren(
        exp.Div(this=total, expression=exp.paren(exp.Mul(this=count, expression=digits)))
    )
