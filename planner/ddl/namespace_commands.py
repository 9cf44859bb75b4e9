"""Statements about views, databases and comments: CREATE VIEW, USE, DROP DATABASE, COMMENT ON.

A view's query is planned when the view is made, so a wrong one is refused with its place; what it
reads is looked up again whenever the view is read.
"""

from collections.abc import Sequence
from dataclasses import replace

from pykudu_sql.planner.bind.named_table import named_table
from pykudu_sql.planner.bind.names import undefined_column
from pykudu_sql.planner.parse.lexer import TokenKind, source_position
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DropDatabase,
    DropView,
)
from pykudu_sql.planner.plan.plan import AlterTable, Plan, SetOption
from pykudu_sql.storage.catalog.alter import SetAttributes, SetTableComment, apply_steps
from pykudu_sql.storage.catalog.namespace import (
    DEFAULT_DATABASE,
    DatabaseInfo,
    ViewColumn,
    ViewInfo,
    database_of,
    new_id,
)
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    NotSupportedError,
    ProgrammingError,
    SourcePosition,
    UndefinedObjectError,
    UndefinedTableError,
)


def named_view(tokens: TokenStream, context: PlanContext) -> ViewInfo:
    """The view whose name comes next.

    Raises:
        UndefinedTableError: there is none; the place is shown and a near name suggested.
        ProgrammingError: it is a table.
    """
    place = tokens.current
    name = tokens.table_name()
    try:
        return context.catalog.view(name)
    except ProgrammingError as error:
        error.position = source_position(tokens.text, place.start, len(place.text))
        raise


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
    """`USE db`: names without a database are of that one from now on."""
    tokens.expect("USE")
    name = known_database(tokens, context)
    tokens.expect_end()
    return SetOption("database", name)


def known_database(tokens: TokenStream, context: PlanContext) -> str:
    """The database whose name comes next.

    Raises:
        UndefinedObjectError: there is none; the place is shown and a near name suggested.
    """
    place = tokens.current
    name = tokens.name("the name of a database")
    try:
        context.catalog.check_database(name)
    except UndefinedObjectError as error:
        error.position = source_position(tokens.text, place.start, len(place.text))
        raise
    return name


def create_database(tokens: TokenStream, context: PlanContext) -> Plan:
    """`CREATE DATABASE | SCHEMA [IF NOT EXISTS] name [COMMENT 's']`."""
    tokens.take()
    tokens.take()
    if_not_exists = tokens.accept("IF", "NOT", "EXISTS")
    place = tokens.current
    name = tokens.name("the name of a database")
    comment = tokens.string() if tokens.accept("COMMENT") else ""
    tokens.expect_end()
    database = DatabaseInfo(new_id(), name, comment)
    try:
        database.check()
    except InvalidSchemaError as error:
        error.position = source_position(tokens.text, place.start, len(place.text))
        raise
    return CreateDatabase(database, if_not_exists)


def drop_database(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP DATABASE | SCHEMA [IF EXISTS] name [CASCADE | RESTRICT]`."""
    tokens.take()
    tokens.take()
    if_exists = tokens.accept("IF", "EXISTS")
    place = tokens.current
    name = place.name if if_exists else known_database(tokens, context)
    if if_exists:
        tokens.name("the name of a database")
    cascade = tokens.accept("CASCADE")
    if not cascade:
        tokens.accept("RESTRICT")
    tokens.expect_end()
    position = source_position(tokens.text, place.start, len(place.text))
    if name == DEFAULT_DATABASE:
        raise ProgrammingError(
            f"database '{DEFAULT_DATABASE}' cannot be dropped", position=position, sqlstate="42501"
        )
    held = context.catalog.names_in(name)
    if held and not cascade:
        raise ProgrammingError(
            f"database '{name}' is not empty: it has {', '.join(held[:5])}",
            hint=f"DROP DATABASE {name} CASCADE drops them too",
            position=position,
            sqlstate="2BP01",
        )
    return DropDatabase(name, if_exists, cascade)


def create_view(tokens: TokenStream, context: PlanContext) -> Plan:
    """`CREATE [OR REPLACE] VIEW [IF NOT EXISTS] v [(column [COMMENT 's'], ...)] [COMMENT 's'] AS`.

    Raises:
        InvalidSchemaError: names of columns are missing, too many or given twice.
        ProgrammingError: the view would read itself; the query is wrong.
        NotSupportedError: the query has parameters.
    """
    tokens.expect("CREATE")
    replaces = tokens.accept("OR", "REPLACE")
    tokens.expect("VIEW")
    if_not_exists = tokens.accept("IF", "NOT", "EXISTS")
    place = tokens.current
    name = context.catalog.full_name(tokens.table_name())
    position = source_position(tokens.text, place.start, len(place.text))
    check_not_system(name, position)
    context.catalog.check_database(database_of(name))
    listed = _columns(tokens) if tokens.at_symbol("(") else ()
    comment = tokens.string() if tokens.accept("COMMENT") else ""
    old = context.catalog.views.get(name) if replaces else None
    view_id = new_id() if old is None else old.id
    view = _defined(tokens, context, ViewInfo(view_id, name, "", "", (), comment), listed, position)
    return CreateView(view, if_not_exists, replaces)


def alter_view(tokens: TokenStream, context: PlanContext) -> Plan:
    """`ALTER VIEW v [(column [COMMENT 's'], ...)] AS query`, `ALTER VIEW v RENAME TO w`.

    Raises:
        UndefinedTableError: there is no such view.
        Error: as of `create_view`.
    """
    tokens.expect("ALTER", "VIEW")
    place = tokens.current
    view = named_view(tokens, context)
    if tokens.accept("RENAME", "TO"):
        place = tokens.current
        name = context.catalog.full_name(tokens.table_name())
        tokens.expect_end()
        position = source_position(tokens.text, place.start, len(place.text))
        check_not_system(name, position)
        context.catalog.check_database(database_of(name))
        return CreateView(replace(view, name=name), replaces=True)
    position = source_position(tokens.text, place.start, len(place.text))
    listed = _columns(tokens) if tokens.at_symbol("(") else ()
    return CreateView(_defined(tokens, context, view, listed, position), replaces=True)


def _defined(
    tokens: TokenStream,
    context: PlanContext,
    view: ViewInfo,
    listed: Sequence[tuple[str, str]],
    position: SourcePosition,
) -> ViewInfo:
    """A view with the query that comes next and the columns listed for it."""
    tokens.expect("AS")
    name, start = view.name, tokens.current.start
    columns = _planned(tokens.text, start, name, context)
    if listed and len(listed) != len(columns):
        raise InvalidSchemaError(
            f"view '{name}' names {len(listed)} columns, its query has {len(columns)}",
            position=position,
        )
    if listed:
        columns = tuple(
            replace(column, name=given, comment=comment)
            for column, (given, comment) in zip(columns, listed, strict=True)
        )
    query = tokens.text[start:].strip().rstrip(";").rstrip()
    view = replace(view, query=query, database=context.settings.database, columns=columns)
    try:
        view.check()
    except InvalidSchemaError as error:
        error.position = position
        raise
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


def _planned(text: str, start: int, name: str, context: PlanContext) -> tuple[ViewColumn, ...]:
    """The columns of a view's query, which is planned for that."""
    from pykudu_sql.planner.bind.binder import bind
    from pykudu_sql.planner.parse.dialect import parse
    from pykudu_sql.planner.query.query import plan_rows
    from pykudu_sql.planner.query.result_types import result_columns

    position = source_position(text, start)
    query = plan_rows(text, context, start)
    if query.parameters:
        raise NotSupportedError("a view cannot have parameters", position=position)
    if name in bind(parse(text, start), text, context).views:
        raise ProgrammingError(f"view '{name}' would read itself", position=position)
    return tuple(
        ViewColumn(shown.lower(), shown.lower(), str(column.type))
        for shown, column in zip(query.names, result_columns(query, context), strict=True)
    )


def drop_view(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP VIEW [IF EXISTS] v`."""
    tokens.expect("DROP", "VIEW")
    if_exists = tokens.accept("IF", "EXISTS")
    try:
        view = named_view(tokens, context)
    except UndefinedTableError:
        if not if_exists:
            raise
        return DropView(None)
    tokens.expect_end()
    return DropView(view)


def comment_on(tokens: TokenStream, context: PlanContext) -> Plan:
    """`COMMENT ON TABLE t | COLUMN t.c | VIEW v | DATABASE d IS 'text' | NULL`."""
    tokens.expect("COMMENT", "ON")
    if tokens.accept("TABLE"):
        table = named_table(tokens, context)
        return AlterTable(table, (SetTableComment(_comment(tokens)),))
    if tokens.accept("VIEW"):
        view = named_view(tokens, context)
        return CommentOn(replace(view, comment=_comment(tokens)))
    if tokens.accept("DATABASE") or tokens.accept("SCHEMA"):
        name = known_database(tokens, context)
        known = context.catalog.databases.get(name) or DatabaseInfo(new_id(), name)
        return CommentOn(replace(known, comment=_comment(tokens)))
    if tokens.accept("COLUMN"):
        return _comment_on_column(tokens, context)
    raise tokens.error("TABLE, COLUMN, VIEW or DATABASE")


def _comment_on_column(tokens: TokenStream, context: PlanContext) -> Plan:
    place = tokens.current
    parts = [tokens.name("a table name")]
    while tokens.accept_symbol("."):
        parts.append(tokens.name("a column name"))
    comment = _comment(tokens)
    if len(parts) not in (2, 3):
        raise tokens.error("table.column", place)
    try:
        owner = ".".join(parts[:-1])
        if context.catalog.full_name(owner) in context.catalog.views:
            return CommentOn(_with_column_comment(context.catalog.view(owner), parts[-1], comment))
        table = context.catalog.table(owner)
        step = SetAttributes(parts[-1], None, None, None, comment, None)
        apply_steps(table, (step,))
    except ProgrammingError as error:
        error.position = source_position(tokens.text, place.start, len(place.text))
        raise
    return AlterTable(table, (step,))


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
