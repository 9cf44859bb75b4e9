"""The small statements: SET, maintenance, DROP TABLE, and the entries of all that need no sqlglot.

Modules that need sqlglot are imported where they are called.
"""

from pykudu_sql.planner.bind.named_table import existing_table, named_table
from pykudu_sql.planner.commands.foreign_settings import foreign_setting
from pykudu_sql.planner.commands.listing_commands import LISTINGS, describe, show
from pykudu_sql.planner.commands.statement import StatementEntry
from pykudu_sql.planner.commands.statistics_commands import (
    analyze,
    compute_stats,
    drop_stats,
    invalidate_metadata,
    refresh,
)
from pykudu_sql.planner.commands.transaction_commands import (
    begin,
    commit,
    release,
    rollback,
    savepoint,
    set_transaction,
)
from pykudu_sql.planner.ddl.history_commands import (
    create_snapshot,
    drop_snapshot,
    next_bound,
    undrop,
)
from pykudu_sql.planner.ddl.index_commands import create_index
from pykudu_sql.planner.ddl.index_commands import drop_index as plan_drop_index
from pykudu_sql.planner.ddl.namespace_commands import (
    alter_view,
    comment_on,
    create_database,
    create_view,
    drop_database,
    drop_view,
    use,
)
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.lexer import Token, TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.listing_plans import Show
from pykudu_sql.planner.plan.plan import (
    DropTables,
    Flush,
    Optimize,
    Plan,
    ResetStatements,
    SetDatabase,
    SetOption,
    Vacuum,
)
from pykudu_sql.storage.catalog.namespace import listed_views
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.errors import DependentObjectsError, SourceSpan, SyntaxError

_WORDS = {"TRUE": True, "ON": True, "FALSE": False, "OFF": False}
_OF_VACUUM = frozenset({"FULL", "FREEZE", "VERBOSE", "ANALYZE", "TABLE"})
_RESETS = frozenset({"DEFAULT", "NULL"})
OptionValue = bool | int | float | str | None


def set_option(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SET [DATABASE] name = value`; DEFAULT as the value resets it, and so does `RESET name`.

    `SET` and `SET ALL` alone list the settings, as in Impala; other databases' forms are read by
    `foreign_settings`.
    """
    reset = tokens.accept("RESET")
    if not reset:
        tokens.expect("SET")
        if tokens.at_end() or (tokens.at("ALL") and tokens.ahead(1).kind is TokenKind.END):
            return Show("SETTINGS")
        if (done := foreign_setting(tokens)) is not None:
            return done
    of_database = tokens.at("DATABASE") and tokens.ahead(1).kind is TokenKind.WORD
    if of_database:
        tokens.take()
    name = tokens.name("the name of a setting")
    value = None if reset else _setting_value(tokens, name, context)
    tokens.expect_end()
    word = "RESET" if reset else "SET"
    return SetDatabase(name, value) if of_database else SetOption(name, value, word)


def reset_statements(tokens: TokenStream, context: PlanContext) -> ResetStatements:
    """`RESET STATEMENTS`: what sys.statements has counted is forgotten."""
    tokens.expect("RESET", "STATEMENTS")
    tokens.expect_end()
    return ResetStatements()


def _setting_value(tokens: TokenStream, name: str, context: PlanContext) -> OptionValue:
    """`= value`; None for the default."""
    if not tokens.accept_symbol("=") and not tokens.accept("TO"):
        raise tokens.error("=")
    if tokens.current.word in _RESETS:
        tokens.take()
        return None
    if name == "database":
        start_token = tokens.current
        value = str(_option_value(tokens)).lower()
        with errors_at(start_token.span):
            context.catalog.check_database(value)
        return value
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
        _check_no_unit(token, tokens)
        number = token.text
        return sign * (int(number) if number.isdigit() else float(number))
    if token.kind is TokenKind.WORD and sign > 0:
        tokens.take()
        return _WORDS.get(token.word, token.text)
    raise tokens.error("a value")


def _check_no_unit(number: Token, tokens: TokenStream) -> None:
    """Refuse a number with a unit behind it: `2g`, `5 min`. Raises SyntaxError: it has one."""
    unit = tokens.current
    if unit.kind is TokenKind.WORD:
        span = SourceSpan(number.start, unit.span.start + unit.span.length - number.start)
        raise SyntaxError(
            f"a value with the unit {unit.text:.20} is no number",
            hint="write it in quotes: '2 GB' is a size, '5 s' or '10 min' a time",
            span=span,
        )


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
    from pykudu_sql.planner.ddl.restore import plan_restore

    return plan_restore(tokens, context)


def vacuum(tokens: TokenStream, context: PlanContext) -> Plan:
    """`VACUUM [[TABLE] t]`, also with PostgreSQL's FULL and ANALYZE, or `(FULL, ANALYZE)`."""
    tokens.expect("VACUUM")
    if tokens.accept_symbol("("):
        while tokens.current.word in _OF_VACUUM:
            tokens.take()
            tokens.accept_symbol(",")
        tokens.expect_symbol(")")
    while tokens.current.word in _OF_VACUUM and tokens.ahead(1).text not in (".", ","):
        tokens.take()
    table = None if tokens.at_end() else named_table(tokens, context)
    tokens.expect_end()
    return Vacuum(table)


def summarize(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SUMMARIZE t`, `SUMMARIZE SELECT ..`."""
    from pykudu_sql.planner.commands.summarize import plan_summary

    return plan_summary(tokens, context)


def pragma(tokens: TokenStream, context: PlanContext) -> Plan:
    """`PRAGMA table_info(t)` and the like."""
    from pykudu_sql.planner.commands.pragmas import plan_pragma

    return plan_pragma(tokens, context)


def execute(tokens: TokenStream, context: PlanContext) -> Plan:
    """`EXECUTE name (value, ...)`."""
    from pykudu_sql.planner.commands.prepared_commands import execute as plan_execute

    return plan_execute(tokens, context)


def deallocate(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DEALLOCATE [PREPARE] name | ALL`, `DROP PREPARE name`."""
    from pykudu_sql.planner.commands.prepared_commands import deallocate as plan_deallocate

    return plan_deallocate(tokens, context)


def drop_index(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP INDEX [IF EXISTS] i [ON t]`."""
    tokens.expect("DROP")
    return plan_drop_index(tokens, context)


def drop_table(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP TABLE [IF EXISTS] t [, ...] [PURGE] [CASCADE | RESTRICT]`."""
    from pykudu_sql.planner.parse.unsupported import refuse_unsupported_statement

    refuse_unsupported_statement(tokens)
    tokens.expect("DROP")
    if not tokens.accept("TABLE"):
        raise tokens.error("TABLE")
    if_exists = tokens.accept("IF", "EXISTS")
    names: list[str] = []
    while not names or tokens.accept_symbol(","):
        place = tokens.current
        name = tokens.table_name()
        check_not_system(name, place.span)
        if not if_exists:
            existing_table(name, place.span, context)
        names.append(context.catalog.full_name(name))
    names = list(dict.fromkeys(names))
    tokens.accept("PURGE")
    behind = tokens.current
    cascades = tokens.accept("CASCADE")
    restricted = not cascades and tokens.accept("RESTRICT")
    tokens.expect_end()
    if not cascades and not restricted:
        return DropTables(tuple(names), if_exists)
    from pykudu_sql.planner.ddl.view_dependencies import dependent_views

    readers = {full: dependent_views(context.catalog, full) for full in names}
    read = next((full for full in names if readers[full]), None)
    if read is not None and restricted:
        raise DependentObjectsError(
            f"table '{read}' is read by {listed_views(readers[read])}",
            hint="DROP TABLE .. CASCADE drops them too; without RESTRICT they stay, unreadable",
            span=behind.span,
        )
    views = {view.id: view for each in readers.values() for view in each}
    return DropTables(tuple(names), if_exists, tuple(views.values()))


COMMANDS = (
    StatementEntry(("BEGIN",), begin, ("BEGIN",)),
    StatementEntry(("START",), begin),
    StatementEntry(("COMMIT",), commit, ("COMMIT",)),
    StatementEntry(("END",), commit),
    StatementEntry(("ROLLBACK",), rollback, ("ROLLBACK",)),
    StatementEntry(("ABORT",), rollback),
    StatementEntry(("SAVEPOINT",), savepoint, ("SAVEPOINT",)),
    StatementEntry(("RELEASE",), release, ("RELEASE SAVEPOINT",)),
    StatementEntry(("SET",), set_option, ("SET",)),
    StatementEntry(("SET", "TRANSACTION"), set_transaction, ("SET TRANSACTION",)),
    StatementEntry(("RESET",), set_option, ("RESET",)),
    StatementEntry(("RESET", "STATEMENTS"), reset_statements, ("RESET STATEMENTS",)),
    StatementEntry(("SHOW",), show, tuple(f"SHOW {listing.kind}" for listing in LISTINGS)),
    StatementEntry(("DESCRIBE",), describe, ("DESCRIBE", "DESCRIBE FORMATTED")),
    StatementEntry(("DESC",), describe),
    StatementEntry(("SUMMARIZE",), summarize, ("SUMMARIZE",)),
    StatementEntry(("PRAGMA",), pragma),
    StatementEntry(("FLUSH",), flush, ("FLUSH TABLE",)),
    StatementEntry(("OPTIMIZE",), optimize, ("OPTIMIZE TABLE",)),
    StatementEntry(("VACUUM",), vacuum, ("VACUUM",)),
    StatementEntry(("UNDROP",), undrop, ("UNDROP TABLE",)),
    StatementEntry(("RESTORE",), restore, ("RESTORE TABLE",)),
    StatementEntry(("USE",), use, ("USE",)),
    StatementEntry(("COMMENT",), comment_on, ("COMMENT ON",)),
    StatementEntry(("CREATE", "INDEX"), create_index, ("CREATE INDEX",)),
    StatementEntry(("CREATE", "UNIQUE"), create_index),
    StatementEntry(("CREATE", "VIEW"), create_view, ("CREATE VIEW",)),
    StatementEntry(("CREATE", "OR"), create_view, ("CREATE OR REPLACE VIEW",)),
    StatementEntry(("CREATE", "DATABASE"), create_database, ("CREATE DATABASE",)),
    StatementEntry(("CREATE", "SCHEMA"), create_database),
    StatementEntry(("CREATE", "SNAPSHOT"), create_snapshot, ("CREATE SNAPSHOT",)),
    StatementEntry(("ALTER", "VIEW"), alter_view, ("ALTER VIEW",)),
    StatementEntry(("DROP",), drop_table, ("DROP TABLE",)),
    StatementEntry(("DROP", "SNAPSHOT"), drop_snapshot, ("DROP SNAPSHOT",)),
    StatementEntry(("DROP", "VIEW"), drop_view, ("DROP VIEW",)),
    StatementEntry(("DROP", "DATABASE"), drop_database, ("DROP DATABASE",)),
    StatementEntry(("DROP", "SCHEMA"), drop_database),
    StatementEntry(("DROP", "INDEX"), drop_index, ("DROP INDEX",)),
    StatementEntry(("DROP", "STATS"), drop_stats),
    StatementEntry(("DROP", "INCREMENTAL", "STATS"), drop_stats),
    StatementEntry(("EXECUTE",), execute, ("EXECUTE",)),
    StatementEntry(("DEALLOCATE",), deallocate, ("DEALLOCATE",)),
    StatementEntry(("DROP", "PREPARE"), deallocate),
    StatementEntry(("ANALYZE",), analyze),
    StatementEntry(("COMPUTE",), compute_stats),
    StatementEntry(("INVALIDATE",), invalidate_metadata),
    StatementEntry(("REFRESH",), refresh),
)
