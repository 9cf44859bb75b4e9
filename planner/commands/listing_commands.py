"""SHOW and DESCRIBE: what there is, and what it is like.

Words and columns are Impala's for Kudu tables, with Kudu's own facts (tablets, rowsets) beside.
"""

from pykudu_sql.planner.bind.named_table import named_table
from pykudu_sql.planner.ddl.namespace_commands import at_view, known_database, named_view
from pykudu_sql.planner.parse.lexer import quote_string, source_position
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.listing_plans import (
    Describe,
    DescribeDatabase,
    DescribeFormatted,
    Show,
    ShowKind,
)
from pykudu_sql.planner.plan.namespace_plans import DescribeView, ShowCreateView
from pykudu_sql.planner.plan.plan import Plan
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.system_catalog import SYSTEM_SCHEMAS, readable_table
from pykudu_sql.storage.errors import UndefinedTableError

_LISTS = (
    ShowKind.TABLES,
    ShowKind.VIEWS,
    ShowKind.DATABASES,
    ShowKind.SCHEMAS,
    ShowKind.SETTINGS,
    ShowKind.FUNCTIONS,
    ShowKind.SNAPSHOTS,
    ShowKind.DROPPED_TABLES,
)
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
_OF_DATABASE = (ShowKind.TABLES, ShowKind.VIEWS)


def show(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SHOW TABLES | SNAPSHOTS [LIKE 'x']`, `SHOW CREATE TABLE t`, `SHOW TABLETS t`, ..."""
    tokens.expect("SHOW")
    for kind in _LISTS:
        if tokens.accept(*kind.value.split()):
            return _list(kind, tokens, context)
    if tokens.accept("CREATE", "VIEW"):
        view = named_view(tokens, context)
        tokens.expect_end()
        return ShowCreateView(view)
    if tokens.accept(*ShowKind.ROW_ERRORS.value.split()):
        tokens.expect_end()
        return Show(ShowKind.ROW_ERRORS)
    if tokens.accept("COLUMNS"):
        _accept_from(tokens)
        return _described(tokens, context)
    if tokens.accept("COLUMN", "STATS"):
        from pykudu_sql.planner.query.column_stats import plan_column_stats

        table = named_table(tokens, context)
        tokens.expect_end()
        return plan_column_stats(table, context)
    for kind in ShowKind:
        if tokens.accept(*kind.value.split()):
            _accept_from(tokens)
            table = named_table(tokens, context)
            tokens.expect_end()
            return Show(kind, table)
    raise tokens.error(", ".join((*ShowKind, "CREATE VIEW", "COLUMNS", "COLUMN STATS")))


def _list(kind: ShowKind, tokens: TokenStream, context: PlanContext) -> Plan:
    """What stands behind `SHOW TABLES` and the like."""
    database = None
    if kind in _OF_DATABASE and (tokens.accept("IN") or tokens.accept("FROM")):
        database = known_database(tokens, context)
    pattern = tokens.string() if tokens.accept("LIKE") else None
    tokens.expect_end()
    return Show(kind, None, pattern, database)


def _accept_from(tokens: TokenStream) -> None:
    if not tokens.accept("FROM"):
        tokens.accept("IN")


def describe(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DESCRIBE [TABLE | FORMATTED | EXTENDED] t`, `DESC t`, `DESCRIBE DATABASE [FORMATTED] db`.

    Also `DESCRIBE SELECT ..`.
    """
    tokens.take()
    if tokens.accept("DATABASE"):
        if not tokens.accept("FORMATTED"):
            tokens.accept("EXTENDED")
        name = known_database(tokens, context)
        tokens.expect_end()
        return DescribeDatabase(name)
    if tokens.accept("FORMATTED") or tokens.accept("EXTENDED"):
        item = (
            named_view(tokens, context)
            if at_view(tokens, context)
            else named_table(tokens, context)
        )
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

    query = plan_rows(tokens.text, context, tokens.current.start)
    rows = ", ".join(
        f"({quote_string(name)}, {quote_string(type_name)})"
        for name, type_name in zip(query.names, result_type_names(query, context), strict=True)
    )
    return plan_query(f"SELECT * FROM (VALUES {rows}) AS described(name, type)", context)


def _described(tokens: TokenStream, context: PlanContext) -> Plan:
    """DESCRIBE of the table or view whose name comes next."""
    if tokens.current.name in SYSTEM_SCHEMAS and tokens.ahead(1).text == ".":
        return Describe(_system_table(tokens, context))
    if at_view(tokens, context):
        view = named_view(tokens, context)
        tokens.expect_end()
        return DescribeView(view)
    table = named_table(tokens, context)
    tokens.expect_end()
    return Describe(table)


def _system_table(tokens: TokenStream, context: PlanContext) -> TableInfo:
    place = tokens.current
    name = tokens.table_name()
    tokens.expect_end()
    try:
        return readable_table(context.catalog, name)
    except UndefinedTableError as error:
        error.position = source_position(tokens.text, place.start, len(place.text))
        raise
