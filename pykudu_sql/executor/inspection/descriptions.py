"""DESCRIBE in its forms, and SHOW TABLE STATS: one table, view or database at a time.

DESCRIBE has the columns of Impala's DESCRIBE of a Kudu table, and `immutable` behind them;
DESCRIBE FORMATTED has its three columns and its sections.
"""

from collections.abc import Iterable, Sequence

from pykudu_sql.executor.inspection.name_patterns import like
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.listing_plans import (
    Describe,
    DescribeDatabase,
    DescribeFormatted,
    Description,
)
from pykudu_sql.results.result import Header, Outcome, Row, RowResult, header_of
from pykudu_sql.storage.catalog.namespace import ViewInfo, database_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.commit.history import FOR_EVER
from pykudu_sql.storage.common.column_defaults import default_value
from pykudu_sql.storage.common.partition.partition_text import partition_by_sql
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.upkeep.introspection import inside

_DESCRIBE = header_of(
    "name text, type text, comment text, primary_key flag, key_unique flag, nullable flag, "
    "default_value text, encoding text, compression text, block_size number, immutable flag"
)
_VIEW = _FORMATTED = header_of("name text, type text, comment text")
_DATABASE = header_of("name text, location text, comment text")
_TABLE_STATS = header_of("#Rows number, #Partitions number, Size text, Format text, Location text")
_SIZES = (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10))


def describe(state: SessionState, plan: Description) -> Outcome:
    """Run a DESCRIBE."""
    match plan:
        case Describe(TableInfo() as table, pattern):
            columns, rows = _DESCRIBE, _matching(_column_rows(table), pattern)
        case Describe(ViewInfo() as view, pattern):
            rows = _matching([(c.name, c.type, c.comment) for c in view.columns], pattern)
            columns = _VIEW
        case DescribeFormatted(TableInfo() as table):
            columns, rows = _FORMATTED, _formatted_table(state, table)
        case DescribeFormatted(ViewInfo() as view):
            columns, rows = _FORMATTED, _formatted_view(view)
        case DescribeDatabase(name):
            database = state.read_catalog.databases.get(name)
            comment = "" if database is None else database.comment
            columns, rows = _DATABASE, [(name, state.store.path, comment)]
    return Outcome(RowResult(columns, rows), len(rows))


def _matching(rows: Sequence[Row], pattern: str | None) -> list[Row]:
    matches = like(pattern)
    return [row for row in rows if matches(row[0])]


def table_stats(state: SessionState, table: TableInfo) -> tuple[Header, list[Row]]:
    """SHOW TABLE STATS: always exact, so nothing needs to be computed before."""
    rows, size = _rows_and_bytes(state, table)
    return _TABLE_STATS, [(rows, len(table.tablets), _size(size), "KUDU", state.store.path)]


def _column_rows(table: TableInfo) -> list[Row]:
    schema = table.schema
    rows: list[Row] = []
    for column in schema.visible_columns:
        in_key = column.id in schema.key_ids
        key = (in_key, not schema.auto_incrementing if in_key else None)
        stored = (str(column.encoding), str(column.compression), column.block_size)
        values = (column.nullable, _default_text(column), *stored, column.immutable)
        rows.append((column.name, str(column.type), column.comment, *key, *values))
    return rows


def _default_text(column: ColumnSchema) -> str | None:
    value = default_value(column)
    return None if value is None else str(value)


def _formatted_table(state: SessionState, table: TableInfo) -> list[Row]:
    schema = table.schema
    rows, size = _rows_and_bytes(state, table)
    unique = "NON UNIQUE PRIMARY KEY" if schema.auto_incrementing else "PRIMARY KEY"
    key = ", ".join(column.name for column in schema.key_columns)
    clause = partition_by_sql(schema, table.partition_schema).removeprefix("PARTITION BY ")
    partitions = " ".join(line.strip() for line in clause.splitlines())
    age = state.store.history.age_of(table)
    return [
        *_columns_section((c.name, str(c.type), c.comment) for c in schema.visible_columns),
        *_information_section(table.name, "TABLE"),
        ("Format:", "KUDU", ""),
        ("Table Id:", table.id, ""),
        ("Comment:", table.comment, ""),
        ("Rows:", str(rows), ""),
        ("Size:", _size(size), ""),
        ("Tablets:", str(len(table.tablets)), ""),
        ("History:", "for ever" if age == FOR_EVER else f"{age} seconds", ""),
        ("", "", ""),
        ("# Key and Partitions", "", ""),
        (f"{unique}:", key, ""),
        ("Partitioning:", partitions or "none", ""),
        *((f"Index {name}:", _names(columns), "") for name, columns in schema.indexes.items()),
        *((f"Check {check.name}:", check.text(schema), "") for check in table.checks),
        ("", "", ""),
        ("# Table Parameters", "", ""),
        *((name, value, "") for name, value in sorted(table.properties.items())),
    ]


def _formatted_view(view: ViewInfo) -> list[Row]:
    return [
        *_columns_section((c.name, c.type, c.comment) for c in view.columns),
        *_information_section(view.name, "VIEW"),
        ("Comment:", view.comment, ""),
        ("Names are of:", view.database, ""),
        ("", "", ""),
        ("# View Information", "", ""),
        ("View Text:", view.query, ""),
    ]


def _columns_section(columns: Iterable[Row]) -> list[Row]:
    return [("# col_name", "data_type", "comment"), *columns, ("", "", "")]


def _information_section(name: str, kind: str) -> list[Row]:
    database = database_of(name)
    return [
        (f"# Detailed {kind.capitalize()} Information", "", ""),
        ("Database:", database, ""),
        ("Name:", name.removeprefix(f"{database}."), ""),
        ("Table Type:", kind, ""),
    ]


def _names(columns: Iterable[ColumnSchema]) -> str:
    return ", ".join(column.name for column in columns)


def _rows_and_bytes(state: SessionState, table: TableInfo) -> tuple[int, int]:
    """Rows that exist now, and bytes of the files that hold them and their history."""
    tablets = [inside(state.store.tablets[tablet.id]) for tablet in table.tablets]
    rows = sum(tablet.live_rows for tablet in tablets)
    return rows, sum(tablet.disk_bytes for tablet in tablets)


def _size(count: int) -> str:
    """Bytes as Impala writes them: `512B`, `1.50KB`."""
    for unit, least in _SIZES:
        if count >= least:
            return f"{count / least:.2f}{unit}"
    return f"{count}B"
