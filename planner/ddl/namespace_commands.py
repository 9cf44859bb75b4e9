"""Statements about views, databases and comments: CREATE VIEW, USE, DROP DATABASE, COMMENT ON.

A view's query is planned when the view is made, so a wrong one is refused with its place; what it
reads is looked up again whenever the view is read.
"""

from collections.abc import Sequence
from dataclasses import replace

from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.named_table import named_table
from pykudu_sql.planner.ddl.new_names import check_new_name
from pykudu_sql.planner.ddl.view_columns import planned_columns
from pykudu_sql.planner.ddl_grammar.table_options import refuse_word
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.lexer import TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DropDatabase,
    DropViews,
)
from pykudu_sql.planner.plan.plan import AlterTable, Plan, SetOption
from pykudu_sql.planner.vocabulary.catalog_name import check_catalog
from pykudu_sql.storage.catalog.alter import SetAttributes, SetTableComment, apply_steps
from pykudu_sql.storage.catalog.catalog import CREATE_DATABASE
from pykudu_sql.storage.catalog.namespace import (
    DEFAULT_DATABASE,
    DatabaseInfo,
    ViewInfo,
    new_id,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    ProgrammingError,
    SourceSpan,
    UndefinedTableError,
)

_IN_THE_DIRECTORY = "leave it out: a database lies in the directory that was opened"
_DATABASE_WORDS = frozenset({"DATABASE", "SCHEMA"})
_DATABASE_OPTIONS = {
    "LOCATION": _IN_THE_DIRECTORY,
    "MANAGEDLOCATION": _IN_THE_DIRECTORY,
    "CHARACTER": "leave it out: texts are UTF-8",
    "CHARSET": "leave it out: texts are UTF-8",
}
_COMMENTED = "Comment has been set."


def named_view(tokens: TokenStream, context: PlanContext) -> ViewInfo:
    """The view whose name comes next.

    Raises UndefinedTableError: there is none; the place is shown and a near name suggested;
    ProgrammingError: it is a table.
    """
    span = tokens.current.span
    return _view(tokens.table_name(), span, context)


def _view(name: str, span: SourceSpan, context: PlanContext) -> ViewInfo:
    with errors_at(span):
        return context.catalog.view(name)


def named_relation(tokens: TokenStream, context: PlanContext) -> TableInfo | ViewInfo:
    """The table or view whose name comes next. Raises as `named_table`."""
    if at_view(tokens, context):
        return named_view(tokens, context)
    return named_table(tokens, context)


def at_view(tokens: TokenStream, context: PlanContext) -> bool:
    """Whether the name that comes next is that of a view."""
    first = tokens.current
    if first.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        return False
    name = first.name
    if tokens.ahead(1).text == ".":
        name = f"{name}.{tokens.ahead(2).name}"
    return context.catalog.full_name(name) in context.catalog.views


def use(tokens: TokenStream, context: PlanContext) -> Plan:
    """`USE [DATABASE] db`: names without a database are of that one from now on."""
    tokens.expect("USE")
    if tokens.current.word in _DATABASE_WORDS and tokens.ahead(1).kind is TokenKind.WORD:
        tokens.take()
    name = existing_database(tokens, context)
    tokens.expect_end()
    return SetOption("database", name, "USE")


def existing_database(
    tokens: TokenStream, context: PlanContext, way_out: str = CREATE_DATABASE
) -> str:
    """The database whose name comes next.

    Args:
        tokens: at the name.
        context: with the databases.
        way_out: the hint where no name is near, with `{}` for the name.

    Raises UndefinedObjectError: there is none; the place is shown and a near name suggested.
    """
    token = tokens.current
    name = tokens.name("the name of a database")
    with errors_at(token.span):
        context.catalog.check_database(name, way_out)
    return name


def create_database(tokens: TokenStream, context: PlanContext) -> Plan:
    """`CREATE DATABASE | SCHEMA [IF NOT EXISTS] name [COMMENT 's']`."""
    tokens.take()
    tokens.take()
    if_not_exists = tokens.accept("IF", "NOT", "EXISTS")
    token = tokens.current
    name = tokens.name("the name of a database")
    comment = tokens.string() if tokens.accept("COMMENT") else ""
    refuse_word(tokens, _DATABASE_OPTIONS, "{} of a database")
    tokens.expect_end()
    database = DatabaseInfo(new_id(), name, comment)
    with errors_at(token.span):
        database.check()
    return CreateDatabase(database, if_not_exists)


def drop_database(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP DATABASE | SCHEMA [IF EXISTS] name [CASCADE | RESTRICT]`."""
    tokens.take()
    tokens.take()
    if_exists = tokens.accept("IF", "EXISTS")
    token = tokens.current
    way_out = "DROP DATABASE IF EXISTS {} takes that for done"
    name = token.name if if_exists else existing_database(tokens, context, way_out)
    if if_exists:
        tokens.name("the name of a database")
    cascade = tokens.accept("CASCADE")
    if not cascade:
        tokens.accept("RESTRICT")
    tokens.expect_end()
    span = token.span
    if name == DEFAULT_DATABASE:
        raise ProgrammingError(
            f"database '{DEFAULT_DATABASE}' cannot be dropped", span=span, sqlstate="42501"
        )
    members = context.catalog.names_in(name)
    if members and not cascade:
        raise ProgrammingError(
            f"database '{name}' is not empty: it has {', '.join(members[:5])}",
            hint=f"DROP DATABASE {name} CASCADE drops them too",
            span=span,
            sqlstate="2BP01",
        )
    return DropDatabase(name, if_exists, cascade)


def create_view(tokens: TokenStream, context: PlanContext) -> Plan:
    """`CREATE [OR REPLACE] VIEW [IF NOT EXISTS] v [(column [COMMENT 's'], ...)] [COMMENT 's'] AS`.

    Raises InvalidSchemaError: names of columns are missing, too many or given twice;
    ProgrammingError: the view would read itself; the query is wrong; NotSupportedError: the query
    has parameters.
    """
    tokens.expect("CREATE")
    replaces = tokens.accept("OR", "REPLACE")
    tokens.expect("VIEW")
    if_not_exists = tokens.accept("IF", "NOT", "EXISTS")
    token = tokens.current
    name = context.catalog.full_name(tokens.table_name())
    span = token.span
    check_new_name(name, context, span)
    listed = _columns(tokens) if tokens.at_symbol("(") else ()
    comment = tokens.string() if tokens.accept("COMMENT") else ""
    old = context.catalog.views.get(name) if replaces else None
    view_id = new_id() if old is None else old.id
    view = _defined(tokens, context, ViewInfo(view_id, name, "", "", (), comment), listed, span)
    return CreateView(f"CREATE VIEW {view.name}", view, if_not_exists, replaces)


def alter_view(tokens: TokenStream, context: PlanContext) -> Plan:
    """`ALTER VIEW v [(column [COMMENT 's'], ...)] AS query`, `ALTER VIEW v RENAME TO w`.

    Raises UndefinedTableError: there is no such view; Error: as of `create_view`.
    """
    tokens.expect("ALTER", "VIEW")
    token = tokens.current
    view = named_view(tokens, context)
    if tokens.accept("RENAME", "TO"):
        token = tokens.current
        name = context.catalog.full_name(tokens.table_name())
        tokens.expect_end()
        span = token.span
        check_new_name(name, context, span)
        statement = f"ALTER VIEW {view.name} RENAME TO {name}"
        return CreateView(statement, replace(view, name=name), replaces=True)
    span = token.span
    listed = _columns(tokens) if tokens.at_symbol("(") else ()
    defined = _defined(tokens, context, view, listed, span)
    return CreateView(f"ALTER VIEW {view.name}", defined, replaces=True)


def _defined(
    tokens: TokenStream,
    context: PlanContext,
    view: ViewInfo,
    listed: Sequence[tuple[str, str]],
    span: SourceSpan,
) -> ViewInfo:
    """A view with the query that comes next and the columns listed for it."""
    tokens.expect("AS")
    name, source = view.name, tokens.rest
    columns = planned_columns(source, name, context)
    if listed and len(listed) != len(columns):
        raise InvalidSchemaError(
            f"view '{name}' names {noun_count(len(listed), 'column')}, "
            f"its query has {len(columns)}",
            span=span,
        )
    if listed:
        columns = tuple(
            replace(column, name=alias, comment=comment)
            for column, (alias, comment) in zip(columns, listed, strict=True)
        )
    query = source.text[source.start :].strip().rstrip(";").rstrip()
    view = replace(view, query=query, database=context.settings.database, columns=columns)
    with errors_at(span):
        view.check()
    return view


def _columns(tokens: TokenStream) -> tuple[tuple[str, str], ...]:
    """The names of a view's columns, each with its comment."""
    tokens.expect_symbol("(")
    columns = []
    while True:
        name = tokens.name("a column name")
        columns.append((name, tokens.string() if tokens.accept("COMMENT") else ""))
        if not tokens.accept_symbol(","):
            break
    tokens.expect_symbol(")")
    return tuple(columns)


def drop_view(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP VIEW [IF EXISTS] v [, ...]`."""
    tokens.expect("DROP", "VIEW")
    if_exists = tokens.accept("IF", "EXISTS")
    names: list[str] = []
    views: dict[str, ViewInfo] = {}
    while not names or tokens.accept_symbol(","):
        span = tokens.current.span
        name = tokens.table_name()
        names.append(context.catalog.full_name(name))
        try:
            view = _view(name, span, context)
        except UndefinedTableError:
            if not if_exists:
                raise
        else:
            views[view.id] = view
    tokens.expect_end()
    return DropViews(tuple(names), tuple(views.values()))


def comment_on(tokens: TokenStream, context: PlanContext) -> Plan:
    """`COMMENT ON TABLE t | COLUMN t.c | VIEW v | DATABASE d IS 'text' | NULL`."""
    tokens.expect("COMMENT", "ON")
    if tokens.accept("TABLE"):
        table = named_table(tokens, context)
        step = SetTableComment(_comment(tokens))
        return AlterTable(table, (step,), f"COMMENT ON TABLE {table.name}", message=_COMMENTED)
    if tokens.accept("VIEW"):
        view = named_view(tokens, context)
        return CommentOn(replace(view, comment=_comment(tokens)), f"VIEW {view.name}")
    if tokens.accept("DATABASE") or tokens.accept("SCHEMA"):
        name = existing_database(tokens, context, "")
        database = context.catalog.databases.get(name) or DatabaseInfo(new_id(), name)
        return CommentOn(replace(database, comment=_comment(tokens)), f"DATABASE {name}")
    if tokens.accept("COLUMN"):
        return _comment_on_column(tokens, context)
    raise tokens.error("TABLE, COLUMN, VIEW or DATABASE")


def _comment_on_column(tokens: TokenStream, context: PlanContext) -> Plan:
    token = tokens.current
    parts = [tokens.name("a table name")]
    while tokens.accept_symbol("."):
        parts.append(tokens.name("a column name"))
    comment = _comment(tokens)
    if len(parts) < 2:
        raise tokens.error("table.column", token)
    if len(parts) > 3:
        check_catalog(parts[:-1], token.span)
        parts = parts[-3:]
    with errors_at(token.span):
        owner = ".".join(parts[:-1])
        if context.catalog.full_name(owner) in context.catalog.views:
            view = _with_column_comment(context.catalog.view(owner), parts[-1], comment)
            return CommentOn(view, f"COLUMN {view.name}.{parts[-1]}")
        table = context.catalog.table(owner)
        step = SetAttributes(parts[-1], None, None, None, comment, None)
        apply_steps(table, (step,))
    statement = f"COMMENT ON COLUMN {table.name}.{parts[-1]}"
    return AlterTable(table, (step,), statement, message=_COMMENTED)


def _with_column_comment(view: ViewInfo, name: str, comment: str) -> ViewInfo:
    if name not in [column.name for column in view.columns]:
        raise undefined_column(name, [column.name for column in view.columns], None)
    columns = tuple(
        replace(column, comment=comment) if column.name == name else column
        for column in view.columns
    )
    return replace(view, columns=columns)


def _comment(tokens: TokenStream) -> str:
    tokens.expect("IS")
    text = "" if tokens.accept("NULL") else tokens.string()
    tokens.expect_end()
    return text
