"""SHOW and DESCRIBE: lists of objects, and the description of one.

Words and columns are Impala's for Kudu tables, with Kudu's own facts (tablets, rowsets) beside.
Under `SET as_of` definitions are those of then; what lies on disk is told of now.
"""

from collections.abc import Callable, Mapping

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.named_table import named_table
from pykudu_sql.planner.commands.foreign_settings import shown_setting
from pykudu_sql.planner.ddl.namespace_commands import (
    at_view,
    existing_database,
    named_relation,
    named_view,
)
from pykudu_sql.planner.ddl_grammar.table_options import refuse_word
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.lexer import TokenKind, quote_name, quote_string
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.listing_plans import (
    Describe,
    DescribeDatabase,
    DescribeFormatted,
    Show,
)
from pykudu_sql.planner.plan.plan import Plan
from pykudu_sql.storage.catalog.system_catalog import SYSTEM_SCHEMAS, readable_table
from pykudu_sql.storage.catalog.table_info import TableInfo

_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})

# From what SHOW lists to the plan of what stands behind these words.
PlanListing = Callable[[str, TokenStream, PlanContext], Plan]


@dataclass(frozen=True, slots=True)
class Listing:
    """An entry of what SHOW can list. `kind`: the words behind SHOW; `plan`: reads the rest."""

    kind: str
    plan: PlanListing


def show(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SHOW TABLES | SNAPSHOTS [LIKE 'x']`, `SHOW CREATE TABLE t`, `SHOW TABLETS t`, ...

    `SHOW t` of a table or view describes it, `SHOW name` tells a setting, also some of PostgreSQL.
    """
    tokens.expect("SHOW")
    if tokens.current.word == "FULL" and tokens.ahead(1).word in ("TABLES", "COLUMNS"):
        tokens.take()
    for words, listing in _ALIASES.items():
        if tokens.accept(*words.split()):
            return listing.plan(listing.kind, tokens, context)
    for listing in LISTINGS:
        if tokens.accept(*listing.kind.split()):
            return listing.plan(listing.kind, tokens, context)
    if (setting := shown_setting(tokens, context.settings.database)) is not None:
        return _one_value(*setting, context)
    refuse_word(tokens, _LISTED_ELSEWHERE, "SHOW {}")
    if tokens.accept("CREATE"):
        raise tokens.error("TABLE, VIEW or DATABASE")
    if _at_relation(tokens, context.as_read):
        return _described(tokens, context)
    kinds = [listing.kind for listing in LISTINGS]
    word = tokens.current
    if word.word and tokens.ahead(1).kind is TokenKind.END and near(word.word, kinds) is None:
        return Show("SETTING", None, tokens.take().name)
    raise tokens.error(", ".join(kinds))


def _one_value(name: str, value: str, context: PlanContext) -> Plan:
    """A row of one value, its column of this name."""
    from pykudu_sql.planner.query.query import plan_query

    query = f"SELECT {quote_string(value)} AS {quote_name(name)}"
    return plan_query(SourceText(query), context)


def _at_relation(tokens: TokenStream, context: PlanContext) -> bool:
    """Whether nothing but the name of a table or view comes, as in DuckDB's `SHOW t`."""
    is_qualified = tokens.ahead(1).text == "."
    if tokens.ahead(3 if is_qualified else 1).kind is not TokenKind.END:
        return False
    name = f"{tokens.current.name}.{tokens.ahead(2).name}" if is_qualified else tokens.current.name
    full, catalog = context.catalog.full_name(name), context.catalog
    is_setting = hasattr(context.settings, name)
    return not is_setting and (full in catalog.tables or full in catalog.views)


def _layout(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    """`[FROM] table`, for what its definition says."""
    return _of_table(kind, tokens, context.as_read)


def _of_session(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    """Nothing more."""
    tokens.expect_end()
    return Show(kind)


def _by_name(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    """`[[LIKE] 'pattern']`, as Impala has it."""
    return _matching(kind, tokens, None)


def _of_database(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    """`[IN database] [[LIKE] 'pattern']`."""
    named = tokens.accept("IN") or tokens.accept("FROM")
    database = existing_database(tokens, context.as_read) if named else None
    return _matching(kind, tokens, database)


def _matching(kind: str, tokens: TokenStream, database: str | None) -> Plan:
    has_pattern = tokens.accept("LIKE") or tokens.current.kind is TokenKind.STRING
    pattern = tokens.string() if has_pattern else None
    tokens.expect_end()
    return Show(kind, None, pattern, database)


def _of_table(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    """`[FROM] table`."""
    _accept_from(tokens)
    table = named_table(tokens, context)
    tokens.expect_end()
    return Show(kind, table)


def _definition(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    """`[FROM] table`, or a view, as in Impala and MySQL."""
    _accept_from(tokens)
    context = context.as_read
    if at_view(tokens, context):
        return _of_view("CREATE VIEW", tokens, context)
    return _of_table(kind, tokens, context)


def _of_view(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    view = named_view(tokens, context.as_read)
    tokens.expect_end()
    return Show(kind, view)


def _named_database(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    name = existing_database(tokens, context.as_read)
    tokens.expect_end()
    return Show(kind, database=name)


def _columns(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    """`[FROM] table [LIKE 'pattern']`."""
    _accept_from(tokens)
    return _described(tokens, context)


def _column_stats(kind: str, tokens: TokenStream, context: PlanContext) -> Plan:
    from pykudu_sql.planner.commands.column_stats import plan_column_stats

    table = named_table(tokens, context)
    tokens.expect_end()
    return plan_column_stats(table, context)


LISTINGS = (
    Listing("TABLES", _of_database),
    Listing("VIEWS", _of_database),
    Listing("DATABASES", _by_name),
    Listing("SCHEMAS", _by_name),
    Listing("CREATE TABLE", _definition),
    Listing("TABLE STATS", _of_table),
    Listing("PARTITIONS", _layout),
    Listing("RANGE PARTITIONS", _layout),
    Listing("TABLETS", _of_table),
    Listing("ROWSETS", _of_table),
    Listing("COLUMN FILES", _of_table),
    Listing("INDEXES", _of_table),
    Listing("HASH SCHEMA", _layout),
    Listing("ROW ERRORS", _of_session),
    Listing("SETTINGS", _by_name),
    Listing("FUNCTIONS", _by_name),
    Listing("SNAPSHOTS", _by_name),
    Listing("DROPPED TABLES", _by_name),
    Listing("CREATE VIEW", _of_view),
    Listing("CREATE DATABASE", _named_database),
    Listing("COLUMNS", _columns),
    Listing("COLUMN STATS", _column_stats),
)
# MySQL's and PostgreSQL's words for some of them.
_BY_KIND = {listing.kind: listing for listing in LISTINGS}
_ALIASES: Mapping[str, Listing] = {
    "ALL": _BY_KIND["SETTINGS"],
    "VARIABLES": _BY_KIND["SETTINGS"],
    "FIELDS": _BY_KIND["COLUMNS"],
    "INDEX": _BY_KIND["INDEXES"],
    "KEYS": _BY_KIND["INDEXES"],
}


_RIGHTS = "who may read the files may read the database"
_LISTED_ELSEWHERE: Mapping[str, str] = {
    "PROCESSLIST": "the statements that ran are in sys.statements",
    "STATUS": "SELECT * FROM sys.metrics",
    "WARNINGS": "SHOW ROW ERRORS lists the rows that were left out",
    "ERRORS": "SHOW ROW ERRORS lists the rows that were left out",
    "ENGINES": "there is one; SHOW SETTINGS LIKE 'engine' says what computes queries",
    "GRANTS": _RIGHTS,
    "GRANT": _RIGHTS,
    "ROLES": _RIGHTS,
    "ROLE": _RIGHTS,
    "USERS": _RIGHTS,
    "PRIVILEGES": _RIGHTS,
    "CURRENT": _RIGHTS,
    "TRIGGERS": "there are none; CHANGES(t, a, b) lists what happened to a table",
    "PROCEDURE": "there are no procedures",
    "TBLPROPERTIES": "SHOW CREATE TABLE t has them",
    "SERVER_VERSION": "SELECT version()",
    "FILES": "SHOW COLUMN FILES t lists a table's",
}


def _accept_from(tokens: TokenStream) -> None:
    if not tokens.accept("FROM"):
        tokens.accept("IN")


def describe(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DESCRIBE [TABLE | FORMATTED | EXTENDED] t`, `DESC t`, `DESCRIBE DATABASE [FORMATTED] db`.

    Also `DESCRIBE SELECT ..`, and MySQL's `DESCRIBE t column`.
    """
    tokens.take()
    if tokens.accept("DATABASE"):
        if not tokens.accept("FORMATTED"):
            tokens.accept("EXTENDED")
        name = existing_database(tokens, context.as_read)
        tokens.expect_end()
        return DescribeDatabase(name)
    if tokens.accept("FORMATTED") or tokens.accept("EXTENDED"):
        item = named_relation(tokens, context)
        tokens.expect_end()
        return DescribeFormatted(item)
    if tokens.current.word in _QUERY_WORDS or tokens.at_symbol("("):
        return _described_query(tokens, context)
    tokens.accept("TABLE")
    return _described(tokens, context)


def _described_query(tokens: TokenStream, context: PlanContext) -> Plan:
    """DESCRIBE of the query that comes next: a row for each of its columns."""
    from pykudu_sql.planner.query.query import plan_query, plan_rows
    from pykudu_sql.planner.query.result_types import result_type_names

    query = plan_rows(tokens.rest, context)
    rows = ", ".join(
        f"({quote_string(name)}, {quote_string(type_name)})"
        for name, type_name in zip(query.names, result_type_names(query, context), strict=True)
    )
    return plan_query(
        SourceText(f"SELECT * FROM (VALUES {rows}) AS described(name, type)"), context
    )


def _described(tokens: TokenStream, context: PlanContext) -> Plan:
    """DESCRIBE of the table or view whose name comes next, and perhaps that of a column."""
    if tokens.current.name in SYSTEM_SCHEMAS and tokens.ahead(1).text == ".":
        return Describe(_system_table(tokens, context))
    item = named_relation(tokens, context.as_read)
    pattern = None
    if tokens.accept("LIKE") or tokens.current.kind is TokenKind.STRING:
        pattern = tokens.string()
    elif not tokens.at_end():
        pattern = tokens.name("the name of a column")
    tokens.expect_end()
    return Describe(item, pattern)


def _system_table(tokens: TokenStream, context: PlanContext) -> TableInfo:
    token = tokens.current
    name = tokens.table_name()
    tokens.expect_end()
    with errors_at(token.span):
        return readable_table(context.catalog, name)
