"""Statements about history: snapshots with names, dropped tables, and how long history is kept."""

from pykudu_sql.planner.constant_folding.snapshot_names import snapshot_bound
from pykudu_sql.planner.ddl.new_names import check_new_name
from pykudu_sql.planner.ddl_grammar.syntax import Expression
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.lexer import TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import CreateSnapshot, DropSnapshot, Plan, UndropTable
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import InvalidSchemaError


def create_snapshot(tokens: TokenStream, context: PlanContext) -> Plan:
    """`CREATE SNAPSHOT [IF NOT EXISTS] name [AS OF moment] [COMMENT 's']`."""
    tokens.expect("CREATE", "SNAPSHOT")
    if_not_exists = tokens.accept("IF", "NOT", "EXISTS")
    name = _snapshot_name(tokens)
    bound = None
    if tokens.accept("AS"):
        tokens.expect("OF")
        bound = next_bound(tokens, context)
    comment = tokens.string() if tokens.accept("COMMENT") else ""
    tokens.expect_end()
    return CreateSnapshot(name, if_not_exists, bound, comment)


def next_bound(tokens: TokenStream, context: PlanContext) -> SnapshotBound:
    """The bound of the moment that comes next: `SNAPSHOT name`, or a constant expression.

    Raises UndefinedObjectError: there is no snapshot of that name; InvalidValueError,
    InvalidSchemaError: the expression is no moment, or no constant; SnapshotInFutureError: it has
    not come yet.
    """
    from pykudu_sql.planner.constant_folding.moment import as_of_bound
    from pykudu_sql.planner.ddl.ddl_constants import value_of

    if tokens.accept("SNAPSHOT"):
        token = tokens.current
        name = _snapshot_name(tokens)
        span = token.span
        return snapshot_bound(name, context, span)
    if not tokens.accept("TIMESTAMP", "AS", "OF"):
        tokens.accept("VERSION", "AS", "OF")
    expression = _up_to_comment(tokens)
    span = expression.span
    try:
        value = value_of(expression, context)
    except InvalidSchemaError as error:
        if expression.text.isidentifier():
            error.hint = f"a snapshot is named SNAPSHOT {expression.text}"
        raise
    return as_of_bound(value, context, span)


def _snapshot_name(tokens: TokenStream) -> str:
    """The name that comes next, as a name or a string. Raises SyntaxError: there is none."""
    if tokens.current.kind is TokenKind.STRING and len(tokens.current.text) > len("''"):
        return tokens.string().lower()
    return tokens.name("the snapshot's name")


def _up_to_comment(tokens: TokenStream) -> Expression:
    first = last = tokens.current
    while not tokens.at_end() and not tokens.at("COMMENT"):
        last = tokens.take()
    if tokens.current is first:
        raise tokens.error("a moment")
    return Expression(tokens.text[first.start : last.end], first.start)


def drop_snapshot(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP SNAPSHOT [IF EXISTS] name`."""
    tokens.expect("DROP", "SNAPSHOT")
    if_exists = tokens.accept("IF", "EXISTS")
    name = _snapshot_name(tokens)
    tokens.expect_end()
    return DropSnapshot(name, if_exists)


def undrop(tokens: TokenStream, context: PlanContext) -> Plan:
    """`UNDROP TABLE t [AS new_name]`."""
    tokens.expect("UNDROP", "TABLE")
    name = context.catalog.full_name(tokens.table_name())
    renamed = tokens.accept("AS")
    new_name = None
    if renamed:
        span = tokens.current.span
        new_name = context.catalog.full_name(tokens.table_name())
        with errors_at(span):
            check_new_name(new_name, context)
    tokens.expect_end()
    return UndropTable(name, new_name)
