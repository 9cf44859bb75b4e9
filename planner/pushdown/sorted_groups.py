"""GROUP BY over leading columns of a key: groups that a scan makes of rows which lie side by side.

The rows of a rowset on disk are in the order of their key. Where a query groups one table by a
prefix of it, the rows of a group are neighbours, and one pass adds them up; an engine that does not
know the order builds a hash table of all groups. So of such a query there is a second form, over a
relation of groups in place of rows, with a column for each aggregate:

    SELECT k, sum(x) FROM t WHERE d > 5 GROUP BY k HAVING count(*) > 3
    SELECT k, sum_x FROM groups WHERE count > 3

PostgreSQL calls the two ways GroupAggregate and HashAggregate. The executor takes this one where
the rowsets that it reads allow it (`storage.scan.key_order`).

The form is made of queries whose scan decides the WHERE (`pushdown.Pushed.decided`) and which
compute with nothing but keys, constants and the aggregates COUNT, SUM, MIN, MAX and AVG of stored
numbers and times, by operators that are on a list here: nothing is taken for a scalar function that
might be an aggregate.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, partial

from sqlglot import exp

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
from pykudu_sql.planner.pushdown.dictionary_grouping import GROUPING_SETS, select_entry
from pykudu_sql.planner.pushdown.query_parts import part_of
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind

_CLAUSES = frozenset(
    {"expressions", "from_", "where", "group", "having", "order", "limit", "offset"}
)
_AGGREGATES: Mapping[type[exp.Expr], AggregateKind] = {
    exp.Sum: AggregateKind.SUM,
    exp.Min: AggregateKind.MIN,
    exp.Max: AggregateKind.MAX,
    exp.Avg: AggregateKind.AVG,
}
_ORDERED = frozenset({AggregateKind.MIN, AggregateKind.MAX})
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
    if not isinstance(select, exp.Select) or select.args.get("group") is None:
        return None
    reference = _only_table(select, query, scans)
    if reference is None or (select.args.get("where") is not None and reference not in decided):
        return None
    calls = _Calls(bound, reference)
    key_ids = _key_ids(select, calls)
    if key_ids is None or not all(calls.are_plain(part, key_ids) for part in _parts(select)):
        return None
    aggregates = tuple(calls.aggregates.values())
    return SortedGroups(key_ids, aggregates, cache(partial(_form, query, calls)))


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


def _key_ids(select: exp.Select, calls: "_Calls") -> tuple[int, ...] | None:
    """The columns of the groups, if they are the first ones of the table's key, and comparable."""
    group = select.args["group"]
    if any(group.args.get(name) for name in GROUPING_SETS):
        return None
    columns = [calls.column(select_entry(item, select)) for item in group.expressions]
    prefix = calls.schema.key_columns[: len(columns)]
    if not columns or any(column not in prefix for column in columns):
        return None
    if len(set(columns)) < len(columns) or not all(_is_comparable(c.type) for c in prefix):
        return None
    return tuple(column.id for column in prefix)


def _is_comparable(column_type: DataType) -> bool:
    return column_type.is_text or _has_one_word(column_type)


def _has_one_word(column_type: DataType) -> bool:
    """Whether cells are integers of 64 bits at most: numbers, decimals and times."""
    return column_type.integer_range is not None and column_type.width <= 8


def _parts(select: exp.Select) -> Iterator[exp.Expr]:
    """What a SELECT computes of its groups."""
    yield from select.expressions
    for name in ("having", "order"):
        if select.args.get(name) is not None:
            yield select.args[name]


class _Calls:
    """The aggregates of one table that a query calls.

    `aggregates`: each once, by what they are of.
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
                name = f"{SCAN_PREFIX}group_{len(self.aggregates)}"
                self.aggregates.setdefault(call, GroupAggregate(*call, name))
            elif type(node) in _OPERATORS or _is_exact_text(node):
                stack += node.iter_expressions()
            else:
                return False
        return True

    def call(self, node: exp.Expr) -> tuple[AggregateKind, int | None] | None:
        """The aggregate that an expression calls, and the column that it is of."""
        kind = AggregateKind.COUNT if isinstance(node, exp.Count) else _AGGREGATES.get(type(node))
        if kind is None or any(v for k, v in node.args.items() if k not in ("this", "big_int")):
            return None
        if kind is AggregateKind.COUNT and isinstance(node.this, exp.Star):
            return None if any(node.this.args.values()) else (kind, None)
        column = self.column(node.this)
        if column is None:
            return None
        if kind is AggregateKind.COUNT:
            return kind, column.id if column.may_show_null else None
        is_floating = column.type.is_floating
        is_number = is_floating or column.type.is_integer or column.type.kind is Kind.DECIMAL
        is_offered = is_number or kind in _ORDERED
        has_states = is_floating or _has_one_word(column.type)
        return (kind, column.id) if is_offered and has_states else None


def _is_exact_text(node: exp.Expr) -> bool:
    """Whether a call is part of how decimals are compared with all their digits."""
    return isinstance(node, exp.Anonymous) and node.name.lower() == "replace"


def _form(query: Query, calls: _Calls) -> Query:
    """The query over groups."""
    select = query.residual.copy()
    assert isinstance(select, exp.Select)
    alias = select.args["from_"].this.alias
    for part in list(_parts(select)):
        for node in list(nodes_of(part, exp.Count, *_AGGREGATES)):
            call = calls.call(node)
            assert call is not None
            node.replace(_value(calls, call, alias))
    having = select.args.get("having")
    select.set("where", None if having is None else exp.Where(this=having.this))
    select.set("having", None)
    select.set("group", None)
    return replace(
        part_of(query, select),
        coded=None,
        early=None,
        has_states=False,
        null_free=None,
        sorted_groups=None,
    )


def _value(calls: _Calls, call: tuple[AggregateKind, int | None], alias: str) -> exp.Expr:
    """An aggregate as the relation of the groups has it, in the type that the engine gives it."""
    kind, column_id = call
    value = exp.column(calls.aggregates[call].name, table=alias, quoted=True)
    if kind is not AggregateKind.SUM or column_id is None:
        return value
    if calls.schema.by_id[column_id].type.is_integer:
        return exp.cast(value, exp.DType.INT128)
    return value
