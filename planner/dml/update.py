"""UPDATE, DELETE and TRUNCATE: key operations where the key is given, else a query for the rows.

An UPDATE of any WHERE becomes a SELECT of rows and their new values over the same FROM; what it
yields are the rows to change, each once. It names them by the addresses that the scan of the target
gives (`ROW_ADDRESS`), so that the store need not find them again; or by their keys where row errors
are reported, with RETURNING, and where the target is no plain item of the FROM clause. Statements
on one key with constants skip the engine. UPDATE IGNORE leaves the cells of immutable columns
alone; DELETE IGNORE is DELETE.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.correlation_name import CorrelationName, name_of_target
from pykudu_sql.planner.bind.named_table import target_table
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.bind.target import mention, mentioned_table
from pykudu_sql.planner.constant_folding.moment import reads_current_time
from pykudu_sql.planner.dml.assigned_literals import type_assigned_literals
from pykudu_sql.planner.dml.assignments import Assignment, read_assignments
from pykudu_sql.planner.dml.change_query import (
    BranchDraft,
    draft,
    one_match_each,
    select_drafted,
    setting,
)
from pykudu_sql.planner.dml.default_values import depends_on_moment, sets_moment
from pykudu_sql.planner.dml.key_change import (
    Outputs,
    key_delete,
    key_update,
    may_name_key,
    returned_columns,
)
from pykudu_sql.planner.dml.large_constants import is_large
from pykudu_sql.planner.dml.returning import read_returning
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.headings import name_entry
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.change_plans import ChangeQuery
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import (
    DeleteQuery,
    KeyChange,
    KeyDelete,
    KeyUpdate,
    NoOperation,
    UpdateQuery,
)
from pykudu_sql.planner.pushdown.key_access import GeneralPlan, SingleRow, single_row
from pykudu_sql.planner.query.query import finish
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan, SyntaxError
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS

# `IGNORE` behind the first word, unless it is the table's name.
_IGNORE = re.compile(
    r"(UPDATE|DELETE)(\s+IGNORE)(?=\s+(?!SET\b|AS\b|WHERE\b|USING\b)[^\s;])", re.IGNORECASE
)
_UPDATE_CLAUSES = frozenset({"this", "expressions", "from_", "where", "with_", "returning"})
_DELETE_CLAUSES = frozenset({"this", "tables", "using", "where", "with_", "cluster", "returning"})
_ROW_CHOICES = frozenset({"ORDER", "LIMIT"})
_WRITTEN = {"ORDER": "ORDER BY"}
_CHOOSE_BY_KEY = (
    "choose the rows by their key: {} .. WHERE k IN (SELECT k FROM t ORDER BY .. LIMIT ..)"
)


@dataclass(frozen=True, slots=True)
class _TargetRows:
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


def plan_update(
    source: SourceText, context: PlanContext
) -> UpdateQuery | KeyUpdate | KeyChange | ChangeQuery:
    """Plan an UPDATE.

    Raises SyntaxError, NotSupportedError: a clause is wrong or not offered; UndefinedTableError,
    UndefinedColumnError: a name is unknown; ProgrammingError: a key column, or one column twice, is
    assigned; ImmutableColumnError: an immutable column is assigned; DataError: a constant does not
    fit its column.
    """
    general = GeneralPlan(partial(plan_update, source), context)
    body, kind = _without_ignore(source)
    tree = parse(body.text, body.start)
    if (
        not isinstance(tree, exp.Update)
        or not isinstance(tree.this, exp.Table)
        or not tree.expressions
    ):
        raise SyntaxError("UPDATE table SET column = value [FROM ...] [WHERE ...] is expected")
    _refuse_clauses(tree, _UPDATE_CLAUSES, body)
    volatile = reads_current_time(tree)
    clause = tree.args.get("from_")
    rows = _rows(tree, tree.this, [clause.this] if clause else [], context)
    volatile = volatile or sets_moment(tree, rows.table)
    assignments = read_assignments(tree.expressions, rows.table, rows.name, kind, context)
    returned = _returned_by_key(rows, tree, context)
    if returned is None and tree.args.get("returning") is not None:
        branch = setting(kind, rows.keys(), _set_anyway(assignments, kind))
        return _returning(rows, branch, tree, context)
    addressed = _has_addresses(rows, [a.node for a in assignments], context)
    constants = [
        a for a in assignments if addressed and a.is_constant and is_large(a.value, a.column)
    ]
    computed = [a for a in assignments if a not in constants]
    rows.select.set("expressions", [_named_value(a) for a in computed])
    type_assigned_literals(rows.select, [a.column for a in computed], context)
    bound = _bound(rows, rows.select.expressions, context)
    bound = bound.with_volatility(volatile)
    pairs = tuple((a.column.id, a.value) for a in constants)
    row = _single_row(rows, bound, context)
    if row is not None:
        # What names the rows comes before the values.
        reversed_values = zip(computed[::-1], rows.select.expressions[::-1], strict=False)
        values = {assignment.column.id: node for assignment, node in reversed_values}
        set_anyway = _set_anyway(assignments, kind)
        change = key_update(row, set_anyway, values, bound, context, general, returned)
        if change is not None:
            return change
    if returned is not None:
        return plan_update(source, context.without_key_access())
    query = finish(bound, context)
    column_ids = tuple(a.column.id for a in computed)
    return UpdateQuery(rows.table, column_ids, query, pairs)


def _named_value(assignment: Assignment) -> exp.Expr:
    """The value for a SELECT list, headed as its column: no heading has to be made of its text."""
    node = assignment.as_node()
    name_entry(node, assignment.column.name)
    return node


def _set_anyway(assignments: Sequence[Assignment], kind: RowOpKind) -> list[Assignment]:
    """The columns that an UPDATE really sets: *_IGNORE leaves immutable ones alone."""
    return [a for a in assignments if not (kind.ignores and a.column.immutable)]


def plan_delete(
    source: SourceText, context: PlanContext
) -> DeleteQuery | KeyDelete | KeyChange | ChangeQuery:
    """Plan a DELETE.

    Raises SyntaxError, NotSupportedError: a clause is wrong or not offered; UndefinedTableError,
    UndefinedColumnError: a name is unknown.
    """
    general = GeneralPlan(partial(plan_delete, source), context)
    body, _ = _without_ignore(source)
    tree = parse(body.text, body.start)
    if not isinstance(tree, exp.Delete):
        raise SyntaxError("DELETE FROM table [USING ...] [WHERE ...] is expected")
    _refuse_clauses(tree, _DELETE_CLAUSES, body)
    named = tree.args.get("tables") or []
    if len(named) > 1:
        raise NotSupportedError("DELETE from several tables at once is not supported")
    others = list(tree.args.get("using") or []) if isinstance(tree.args.get("using"), list) else []
    if named and isinstance(tree.this, exp.Table):
        others.append(tree.this)
    target = named[0] if named else tree.this
    rows = _rows(tree, target, others, context)
    returned = _returned_by_key(rows, tree, context)
    if returned is None and tree.args.get("returning") is not None:
        branch = BranchDraft(RowOpKind.DELETE, rows.keys())
        return _returning(rows, branch, tree, context)
    bound = _bound(rows, [], context)
    row = _single_row(rows, bound, context)
    change = None if row is None else key_delete(row, bound, context, general, returned)
    if change is not None:
        return change
    if returned is not None:
        return plan_delete(source, context.without_key_access())
    return DeleteQuery(rows.table, finish(bound, context))


def _returning(
    rows: _TargetRows, branch: BranchDraft, tree: exp.Expr, context: PlanContext
) -> ChangeQuery:
    """An UPDATE or DELETE that shows the rows it changed."""
    returning_items = tree.args["returning"].expressions
    volatile = depends_on_moment(tree, rows.table)
    returned = read_returning(returning_items, rows.select, rows.target, context)
    drafted = draft(exp.Literal.number(0), [branch], rows.table, rows.name, returned)
    select_drafted(rows.select, drafted, rows.table, context)
    if rows.joined:
        one_match_each(rows.select, rows.key_columns())
    bound = bind(rows.select, context)
    bound = bound.with_volatility(volatile)
    query = finish(bound, context)
    statement = tree.key.upper()
    return ChangeQuery(rows.table, query, drafted.branches, statement, drafted.returning)


def plan_truncate(tokens: TokenStream, context: PlanContext) -> DeleteQuery | NoOperation:
    """Plan a TRUNCATE from its first word on: a deletion of all rows; none of no table IF EXISTS.

    Raises SyntaxError: it does not follow the grammar; UndefinedTableError: the table is unknown.
    """
    tokens.expect("TRUNCATE")
    tokens.accept("TABLE")
    if_exists = tokens.accept("IF", "EXISTS")
    token = tokens.current
    name = tokens.table_name()
    if tokens.at_symbol(","):
        raise NotSupportedError(
            "TRUNCATE of several tables is not supported",
            hint="write a TRUNCATE for each, between BEGIN and COMMIT",
            span=tokens.current.span,
        )
    tokens.expect_end()
    if if_exists and context.catalog.full_name(name) not in context.catalog.tables:
        return NoOperation("Table does not exist.")
    table = target_table(name, token, context)
    # The table is named as the catalog stores it, whatever the session's database is.
    target = mention(table.name, "target")
    rows = _TargetRows(exp.Select(from_=exp.From(this=target)), target, table, False)
    world = context.within(DEFAULT_DATABASE, None)
    bound = _bound(rows, [], world)
    return DeleteQuery(table, finish(bound, world), "TRUNCATE TABLE")


def _bound(rows: _TargetRows, values: list[exp.Expr], context: PlanContext) -> BoundQuery:
    """The query for the rows of a statement and values for each, bound; each row comes once."""
    select = rows.select
    if not _has_addresses(rows, values, context):
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


def _has_addresses(rows: _TargetRows, values: Sequence[exp.Expr], context: PlanContext) -> bool:
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


def _take_once(rows: _TargetRows, names: list[exp.Expr], values: list[exp.Expr]) -> None:
    """Let a row of the target come once, however many rows of other tables it joins."""
    if rows.joined and values:
        one_match_each(rows.select, names)
    elif rows.joined:
        rows.select.set("distinct", exp.Distinct())


def _without_ignore(source: SourceText) -> tuple[SourceText, RowOpKind]:
    """The statement with IGNORE blanked out, so that positions stay, and the effect of UPDATE."""
    match = _IGNORE.match(source.text, source.start)
    if match is None:
        return source, RowOpKind.UPDATE
    return source.overwritten(*match.span(2)), RowOpKind.UPDATE_IGNORE


def _refuse_clauses(tree: exp.Expr, supported: frozenset[str], body: SourceText) -> None:
    for name, value in tree.args.items():
        if value and name not in supported:
            word, statement = name.rstrip("_").upper(), tree.key.upper()
            span = node_span(value if isinstance(value, exp.Expr) else tree)
            is_cut = word in _ROW_CHOICES
            raise NotSupportedError(
                f"{_WRITTEN.get(word, word)} in {statement} is not supported",
                hint=_CHOOSE_BY_KEY.format(statement) if is_cut else None,
                span=_word_before(word, span, body) if is_cut else span,
            )


def _word_before(word: str, span: SourceSpan | None, body: SourceText) -> SourceSpan | None:
    """Where the word stands that begins a clause of which only the rest has a span."""
    start = -1 if span is None else body.text.upper().rfind(word, 0, span.start)
    return span if start < 0 else SourceSpan(start, len(word))


def _rows(
    tree: exp.Expr, named: exp.Table, others: list[exp.Expr], context: PlanContext
) -> _TargetRows:
    """FROM and WHERE of a statement as a SELECT.

    The table named first may be an alias of one in the FROM clause, as Impala writes it:
    `UPDATE a SET ... FROM t a JOIN u b ON ...`.
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
    rows = _TargetRows(select, target, table, joined=len(sources) > 1 or bool(hoisted))
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


def _returned_by_key(rows: _TargetRows, tree: exp.Expr, context: PlanContext) -> Outputs | None:
    """What RETURNING shows if the statement may be about one row by its key; else None."""
    returning, where = tree.args.get("returning"), rows.select.args.get("where")
    if returning is None or rows.joined or not context.settings.key_access:
        return None
    if not may_name_key(where, rows.table):
        return None
    return returned_columns(returning.expressions, rows.table, rows.name)


def _single_row(rows: _TargetRows, bound: BoundQuery, context: PlanContext) -> SingleRow | None:
    if rows.joined or len(bound.references) != 1 or rows.select.args.get("with_") is not None:
        return None
    where = rows.select.args.get("where")
    return single_row(where, bound, rows.reference(bound), context)
