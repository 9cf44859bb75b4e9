"""The rows of the target that an UPDATE, DELETE or TRUNCATE changes, as a query.

FROM and WHERE of the statement become a SELECT, which yields each row to change once. It names them
by the addresses that the scan of the target gives (`ROW_ADDRESS`), so that the store need not find
them again; or by their keys where row errors are reported, and where the target is no plain item of
the FROM clause.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.correlation_name import CorrelationName, name_of_target
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.bind.target import mentioned_table
from pykudu_sql.planner.dml.change_query import one_match_each
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS


@dataclass(frozen=True, slots=True)
class TargetRows:
    """The rows a statement is about.

    Attributes:
        select: FROM and WHERE of the statement, without a SELECT list yet.
        target: the mention of the table to write in it.
        joined: whether other tables stand beside it.
    """

    select: exp.Select
    target: exp.Table
    table: TableInfo
    joined: bool

    @property
    def name(self) -> CorrelationName:
        """What the statement calls the target."""
        return name_of_target(self.target, self.table)

    def reference(self, bound: BoundQuery) -> TableReference:
        """The bound mention of the target."""
        return next(r for r in bound.references if r.node is self.target)

    def key_columns(self) -> list[exp.Expr]:
        """The target's key columns, qualified."""
        return [self.name.column(c.name) for c in self.table.schema.key_columns]

    def keys(self) -> list[tuple[int, exp.Expr]]:
        """The target's key columns by id."""
        return list(zip(self.table.schema.key_ids, self.key_columns(), strict=True))


def target_rows(
    tree: exp.Expr, named: exp.Table, others: list[exp.Expr], context: PlanContext
) -> TargetRows:
    """FROM and WHERE of a statement as a SELECT.

    Args:
        tree: the statement.
        named: the table that it names as its target.
        others: what FROM or USING has.

    The table named first may be an alias of one in the FROM clause, as Impala writes it:
    `UPDATE a SET ... FROM t a JOIN u b ON ...`. Raises UndefinedTableError: it is unknown;
    ProgrammingError: it cannot be written.
    """
    same = (node for node in _mentioned(others) if _refers_to(named, node, context))
    target = next(same, named)
    sources = others if target is not named else [named, *others]
    first, joins = sources[0], [exp.Join(this=source) for source in sources[1:]]
    hoisted = list(first.args.get("joins") or [])
    first.set("joins", None)
    select = exp.Select(from_=exp.From(this=first), joins=[*hoisted, *joins])
    for key in ("where", "with_"):
        select.set(key, tree.args.get(key))
    table = mentioned_table(target, context)
    rows = TargetRows(select, target, table, joined=len(sources) > 1 or bool(hoisted))
    if any(join.side for join in hoisted):  # the join may bring rows without one of the target
        is_present = exp.Not(this=exp.Is(this=rows.key_columns()[0], expression=exp.Null()))
        select.where(is_present, copy=False)
    return rows


def _mentioned(sources: Sequence[exp.Expr]) -> Iterator[exp.Table]:
    """The tables that a FROM clause names itself, not in a subquery."""
    for source in sources:
        for node in source.walk(prune=lambda node: isinstance(node, exp.Select | exp.SetOperation)):
            if isinstance(node, exp.Table):
                yield node


def _refers_to(named: exp.Table, node: exp.Table, context: PlanContext) -> bool:
    """Whether the name of the target means a table of the FROM clause.

    A bare name means an alias there. It means a table without alias if that is the very table, or
    if nothing else has the name: `DELETE FROM db.t USING u.t` is about two tables.
    """
    if named.alias or node.alias_or_name.lower() != named.name.lower():
        return False
    if node.alias:
        return not named.db
    full_name, tables = _full_name(named, context), context.catalog.tables
    return _full_name(node, context) == full_name or (not named.db and full_name not in tables)


def _full_name(node: exp.Table, context: PlanContext) -> str:
    name = f"{node.db}.{node.name}" if node.db else node.name
    return context.catalog.full_name(name.lower())


def bind_rows(rows: TargetRows, values: list[exp.Expr], context: PlanContext) -> BoundQuery:
    """The query for the rows of a statement and values for each, bound; each row comes once."""
    select = rows.select
    if not has_addresses(rows, values, context):
        keys = rows.key_columns()
        select.set("expressions", [*keys, *values])
        _take_once(rows, keys, values)
        return bind(select, context)
    # Nobody but the store can name the addresses, so they join the list when it is bound.
    select.set("expressions", values or [exp.Literal.number(0)])
    bound = bind(select, context)
    reference = rows.reference(bound)
    address = exp.column(ROW_ADDRESS.name, table=bound.engine_alias(reference))
    select.set("expressions", [address, *values])
    _take_once(rows, [address], values)
    names = (ROW_ADDRESS.name, *bound.names[: len(values)])
    return replace(bound, names=names, addressed=reference)


def has_addresses(rows: TargetRows, values: Sequence[exp.Expr], context: PlanContext) -> bool:
    """Whether the query can give the addresses of its rows, and whether these are enough."""
    select, target = rows.select, rows.target
    items = [select.args["from_"], *(select.args.get("joins") or ())]
    return (
        not context.settings.collects_row_errors
        and ROW_ADDRESS.name not in rows.table.schema.by_name
        and any(item.this is target for item in items)
        and not any(_shows_whole_rows(node, target) for node in (select, *values))
    )


def _shows_whole_rows(node: exp.Expr, target: exp.Table) -> bool:
    """Whether a subquery has `target.*`, and so would show the addresses."""
    alias = target.alias_or_name.lower()
    columns = nodes_of(node, exp.Column)
    return any(column.is_star and column.table.lower() == alias for column in columns)


def _take_once(rows: TargetRows, names: list[exp.Expr], values: list[exp.Expr]) -> None:
    """Let a row of the target come once, however many rows of other tables it joins."""
    if rows.joined and values:
        one_match_each(rows.select, names)
    elif rows.joined:
        rows.select.set("distinct", exp.Distinct())
