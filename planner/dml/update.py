"""UPDATE, DELETE and TRUNCATE: key operations where the key is given, else a query for the rows.

An UPDATE of any WHERE becomes a SELECT of rows and their new values over the same FROM
(`target_rows`). Statements on one key with constants skip the engine. UPDATE IGNORE leaves the
cells of immutable columns alone; DELETE IGNORE is DELETE.
"""

import re
from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.named_table import target_table
from pykudu_sql.planner.bind.target import mention
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
from pykudu_sql.planner.dml.target_rows import TargetRows, bind_rows, has_addresses, target_rows
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
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan, SyntaxError

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
    rows = target_rows(tree, tree.this, [clause.this] if clause else [], context)
    volatile = volatile or sets_moment(tree, rows.table)
    assignments = read_assignments(tree.expressions, rows.table, rows.name, kind, context)
    returned = _returned_by_key(rows, tree, context)
    if returned is None and tree.args.get("returning") is not None:
        branch = setting(kind, rows.keys(), _set_anyway(assignments, kind))
        return _returning(rows, branch, tree, context)
    addressed = has_addresses(rows, [a.node for a in assignments], context)
    constants = [
        a for a in assignments if addressed and a.is_constant and is_large(a.value, a.column)
    ]
    computed = [a for a in assignments if a not in constants]
    rows.select.set("expressions", [_named_value(a) for a in computed])
    type_assigned_literals(rows.select, [a.column for a in computed], context)
    bound = bind_rows(rows, rows.select.expressions, context)
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
    rows = target_rows(tree, target, others, context)
    returned = _returned_by_key(rows, tree, context)
    if returned is None and tree.args.get("returning") is not None:
        branch = BranchDraft(RowOpKind.DELETE, rows.keys())
        return _returning(rows, branch, tree, context)
    bound = bind_rows(rows, [], context)
    row = _single_row(rows, bound, context)
    change = None if row is None else key_delete(row, bound, context, general, returned)
    if change is not None:
        return change
    if returned is not None:
        return plan_delete(source, context.without_key_access())
    return DeleteQuery(rows.table, finish(bound, context))


def _returning(
    rows: TargetRows, branch: BranchDraft, tree: exp.Expr, context: PlanContext
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
    rows = TargetRows(exp.Select(from_=exp.From(this=target)), target, table, False)
    world = context.within(DEFAULT_DATABASE, None)
    bound = bind_rows(rows, [], world)
    return DeleteQuery(table, finish(bound, world), "TRUNCATE TABLE")


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


def _returned_by_key(rows: TargetRows, tree: exp.Expr, context: PlanContext) -> Outputs | None:
    """What RETURNING shows if the statement may be about one row by its key; else None."""
    returning, where = tree.args.get("returning"), rows.select.args.get("where")
    if returning is None or rows.joined or not context.settings.key_access:
        return None
    if not may_name_key(where, rows.table):
        return None
    return returned_columns(returning.expressions, rows.table, rows.name)


def _single_row(rows: TargetRows, bound: BoundQuery, context: PlanContext) -> SingleRow | None:
    if rows.joined or len(bound.references) != 1 or rows.select.args.get("with_") is not None:
        return None
    where = rows.select.args.get("where")
    return single_row(where, bound, rows.reference(bound), context)
