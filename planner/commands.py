"""The small statements: SET, SHOW, DESCRIBE, maintenance, DROP.

None of them needs sqlglot, so what does is loaded where it is called.
"""

from collections.abc import Callable

from pykudu_sql.planner.context import PlanContext
from pykudu_sql.planner.history_commands import drop_snapshot, next_bound, undrop
from pykudu_sql.planner.index_commands import drop_index
from pykudu_sql.planner.lexer import TokenKind, source_position
from pykudu_sql.planner.namespace_commands import (
    at_view,
    comment_on,
    drop_database,
    drop_view,
    known_database,
    named_view,
    use,
)
from pykudu_sql.planner.namespace_plans import DescribeView, ShowCreateView
from pykudu_sql.planner.plan import (
    Describe,
    DropTable,
    Flush,
    NoOperation,
    Optimize,
    Plan,
    SetDatabase,
    SetOption,
    Show,
    ShowKind,
    Vacuum,
)
from pykudu_sql.planner.token_stream import TokenStream
from pykudu_sql.planner.transaction_commands import begin, commit, release, rollback, savepoint
from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.errors import UndefinedObjectError, UndefinedTableError
from pykudu_sql.storage.system_catalog import SYSTEM_SCHEMAS, check_not_system, readable_table

_WORDS = {"TRUE": True, "ON": True, "FALSE": False, "OFF": False}
_RESETS = frozenset({"DEFAULT", "NULL"})
_LISTS = (
    ShowKind.TABLES,
    ShowKind.VIEWS,
    ShowKind.DATABASES,
    ShowKind.SCHEMAS,
    ShowKind.SETTINGS,
    ShowKind.SNAPSHOTS,
    ShowKind.DROPPED_TABLES,
)
_OF_DATABASE = (ShowKind.TABLES, ShowKind.VIEWS)
OptionValue = bool | int | float | str | None


def named_table(tokens: TokenStream, context: PlanContext) -> TableInfo:
    """The table whose name comes next.

    Raises:
        UndefinedTableError: there is none; the place is shown and a near name suggested.
    """
    place = tokens.current
    name = tokens.table_name()
    position = source_position(tokens.text, place.start, len(place.text))
    check_not_system(name, position)
    try:
        return context.catalog.table(name)
    except UndefinedTableError as error:
        error.position = position
        raise


def set_option(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SET [DATABASE] name = value`; DEFAULT as the value resets it, and so does `RESET name`."""
    reset = tokens.accept("RESET")
    if not reset:
        tokens.expect("SET")
    of_database = tokens.at("DATABASE") and tokens.ahead(1).kind is TokenKind.WORD
    if of_database:
        tokens.take()
    name = tokens.name("the name of a setting")
    value = None if reset else _chosen(tokens, name, context)
    tokens.expect_end()
    return SetDatabase(name, value) if of_database else SetOption(name, value)


def _chosen(tokens: TokenStream, name: str, context: PlanContext) -> OptionValue:
    """`= value`; None for the default."""
    if not tokens.accept_symbol("=") and not tokens.accept("TO"):
        raise tokens.error("=")
    if tokens.current.word in _RESETS:
        tokens.take()
        return None
    if name == "database":
        place = tokens.current
        chosen = str(_option_value(tokens)).lower()
        try:
            context.catalog.check_database(chosen)
        except UndefinedObjectError as error:
            error.position = source_position(tokens.text, place.start, len(place.text))
            raise
        return chosen
    if name == "as_of":
        return next_bound(tokens, context)
    return _option_value(tokens)


def _option_value(tokens: TokenStream) -> OptionValue:
    if tokens.current.kind is TokenKind.STRING:
        return tokens.string()
    sign = -1 if tokens.accept_symbol("-") else 1
    token = tokens.current
    if token.kind is TokenKind.NUMBER:
        tokens.take()
        number = token.text
        return sign * (int(number) if number.isdigit() else float(number))
    if token.kind is TokenKind.WORD and sign > 0:
        tokens.take()
        return _WORDS.get(token.word, token.text)
    raise tokens.error("a value")


def show(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SHOW TABLES | SNAPSHOTS [LIKE 'x']`, `SHOW CREATE TABLE t`, `SHOW TABLETS t`, ..."""
    tokens.expect("SHOW")
    for kind in _LISTS:
        if tokens.accept(*kind.value.split()):
            database = None
            if kind in _OF_DATABASE and (tokens.accept("IN") or tokens.accept("FROM")):
                database = known_database(tokens, context)
            pattern = tokens.string() if tokens.accept("LIKE") else None
            tokens.expect_end()
            return Show(kind, None, pattern, database)
    if tokens.accept("CREATE", "VIEW"):
        view = named_view(tokens, context)
        tokens.expect_end()
        return ShowCreateView(view)
    if tokens.accept(*ShowKind.ROW_ERRORS.value.split()):
        tokens.expect_end()
        return Show(ShowKind.ROW_ERRORS)
    for kind in ShowKind:
        if tokens.accept(*kind.value.split()):
            if not tokens.accept("FROM"):
                tokens.accept("IN")
            table = named_table(tokens, context)
            tokens.expect_end()
            return Show(kind, table)
    raise tokens.error(", ".join(ShowKind))


def describe(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DESCRIBE [TABLE] t`, `DESC t`."""
    tokens.take()
    tokens.accept("TABLE")
    if tokens.current.name in SYSTEM_SCHEMAS and tokens.ahead(1).text == ".":
        return _describe_system(tokens, context)
    if at_view(tokens, context):
        view = named_view(tokens, context)
        tokens.expect_end()
        return DescribeView(view)
    table = named_table(tokens, context)
    tokens.expect_end()
    return Describe(table)


def _describe_system(tokens: TokenStream, context: PlanContext) -> Plan:
    place = tokens.current
    name = tokens.table_name()
    tokens.expect_end()
    try:
        return Describe(readable_table(context.catalog, name))
    except UndefinedTableError as error:
        error.position = source_position(tokens.text, place.start, len(place.text))
        raise


def flush(tokens: TokenStream, context: PlanContext) -> Plan:
    """`FLUSH [[TABLE] t]`."""
    tokens.expect("FLUSH")
    tokens.accept("TABLE")
    table = None if tokens.at_end() else named_table(tokens, context)
    tokens.expect_end()
    return Flush(table)


def optimize(tokens: TokenStream, context: PlanContext) -> Plan:
    """`OPTIMIZE [TABLE] t [FULL]`."""
    tokens.expect("OPTIMIZE")
    tokens.accept("TABLE")
    table = named_table(tokens, context)
    full = tokens.accept("FULL")
    tokens.expect_end()
    return Optimize(table, full)


def restore(tokens: TokenStream, context: PlanContext) -> Plan:
    """`RESTORE TABLE t TO moment | SNAPSHOT name`."""
    from pykudu_sql.planner.restore import plan_restore

    return plan_restore(tokens, context)


def vacuum(tokens: TokenStream, context: PlanContext) -> Plan:
    """`VACUUM [[TABLE] t]`."""
    tokens.expect("VACUUM")
    tokens.accept("TABLE")
    table = None if tokens.at_end() else named_table(tokens, context)
    tokens.expect_end()
    return Vacuum(table)


def drop(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP TABLE [IF EXISTS] t`, `DROP SNAPSHOT s`, `DROP INDEX i`."""
    if tokens.at("DROP", "SNAPSHOT"):
        return drop_snapshot(tokens, context)
    if tokens.at("DROP", "VIEW"):
        return drop_view(tokens, context)
    if tokens.at("DROP", "DATABASE") or tokens.at("DROP", "SCHEMA"):
        return drop_database(tokens, context)
    tokens.expect("DROP")
    if tokens.at("INDEX"):
        return drop_index(tokens, context) or NoOperation("There was no such index.")
    if not tokens.accept("TABLE"):
        raise tokens.error("TABLE")
    if_exists = tokens.accept("IF", "EXISTS")
    place = tokens.current
    name = tokens.table_name()
    tokens.accept("PURGE")
    tokens.expect_end()
    check_not_system(name, source_position(tokens.text, place.start, len(place.text)))
    if not if_exists:
        try:
            context.catalog.table(name)
        except UndefinedTableError as error:
            error.position = source_position(tokens.text, place.start, len(place.text))
            raise
    return DropTable(context.catalog.full_name(name), if_exists)


Command = Callable[[TokenStream, PlanContext], Plan]
COMMANDS: dict[str, Command] = {
    "BEGIN": begin,
    "START": begin,
    "COMMIT": commit,
    "END": commit,
    "ROLLBACK": rollback,
    "SAVEPOINT": savepoint,
    "RELEASE": release,
    "SET": set_option,
    "RESET": set_option,
    "SHOW": show,
    "DESCRIBE": describe,
    "DESC": describe,
    "FLUSH": flush,
    "OPTIMIZE": optimize,
    "VACUUM": vacuum,
    "DROP": drop,
    "UNDROP": undrop,
    "RESTORE": restore,
    "USE": use,
    "COMMENT": comment_on,
}
