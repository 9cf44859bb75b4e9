"""SHOW: facts of catalog and store as rows."""

from collections.abc import Callable, Mapping

from pykudu_sql.executor.inspection.descriptions import table_stats
from pykudu_sql.executor.inspection.history import dropped_table_rows, snapshot_rows
from pykudu_sql.executor.inspection.name_patterns import like
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.explain.predicate_text import value_text
from pykudu_sql.planner.explain.show_create import create_table_sql, create_view_sql
from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.planner.plan.plan import Show
from pykudu_sql.results.result import Header, Outcome, Row, RowResult, header, header_of
from pykudu_sql.settings import SETTINGS, Setting, SettingScope, find_setting
from pykudu_sql.storage.catalog.namespace import ViewInfo
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.partition.partition import schema_columns
from pykudu_sql.storage.common.partition.partition_key import partition_key_span
from pykudu_sql.storage.common.partition.partition_text import (
    hash_schema_text,
    listed_bounds,
    partition_text,
)
from pykudu_sql.storage.common.quoted_name import quoted_name
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import DataType, Kind

Listed = tuple[Header, list[Row]]
Lister = Callable[[SessionState, Show], Listed]

_TEXT = DataType(Kind.STRING)

_INDEXES = header_of("index text, column text, rowsets_with_it number, rowsets number")
_NAMES = header_of("name text")
_RESULT = header_of("result text")
_DATABASES = header_of("name text, comment text")
_PARTITIONS = header_of(
    "Start Key text, Stop Key text, Leader Replica text, #Replicas number, Partition text"
)
_TABLETS = header_of(
    "tablet number, partition text, rowsets number, rows number, bytes number, tablet_id text"
)
_ROWSETS = header_of(
    "tablet number, rowset number, kind text, rows number, bytes number, "
    "undo_records number, redo_records number, memory_deltas number, tablet_id text, "
    "first_key text, last_key text"
)
_COLUMN_FILES = header_of(
    "column text, encodings text, files number, blocks number, rows number, "
    "raw_bytes number, bytes number"
)
_ROW_ERRORS = header_of("position number, key text, status text, sqlstate text, message text")
_SETTINGS = header_of(
    "name text, value text, default text, type text, unit text, scope text, description text"
)


def show(state: SessionState, plan: Show) -> Outcome:
    """SHOW of something."""
    columns, rows = _LISTED[plan.kind](state, plan)
    return Outcome(RowResult(columns, rows), len(rows))


def _databases(state: SessionState, plan: Show) -> Listed:
    catalog = state.read_catalog
    rows: list[Row] = [
        (name, catalog.databases[name].comment if name in catalog.databases else "")
        for name in sorted(catalog.database_names)
    ]
    return _DATABASES, rows


def _functions(state: SessionState, plan: Show) -> Listed:
    """The functions that a query may call; docs/functions.md describes them."""
    from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS

    return _NAMES, [(name,) for name in sorted(FUNCTIONS)]


def _tables(state: SessionState, plan: Show) -> Listed:
    """The tables and views of a database, without the database's name."""
    database = plan.database or state.settings.database
    names = state.read_catalog.names_in(database)
    return _NAMES, [(name.removeprefix(f"{database}."),) for name in names]


def _views(state: SessionState, plan: Show) -> Listed:
    """The views of a database, without the database's name."""
    database = plan.database or state.settings.database
    catalog = state.read_catalog
    names = [name for name in catalog.names_in(database) if name in catalog.views]
    return _NAMES, [(name.removeprefix(f"{database}."),) for name in names]


def _create_table(state: SessionState, table: TableInfo) -> Listed:
    return _RESULT, [(create_table_sql(table, state.read_catalog.databases),)]


def _create_view(state: SessionState, view: ViewInfo) -> Listed:
    return _RESULT, [(create_view_sql(view),)]


def _create_database(state: SessionState, plan: Show) -> Listed:
    name = plan.database or state.settings.database
    database = state.read_catalog.databases.get(name)
    comment = "" if database is None else database.comment
    clause = f" COMMENT {quote_string(comment)}" if comment else ""
    return _RESULT, [(f"CREATE DATABASE {quoted_name(name)}{clause}",)]


def _partitions(state: SessionState, table: TableInfo) -> Listed:
    """Impala's columns, and what the keys mean behind them."""
    schema, scheme = table.schema, table.partition_schema
    rows: list[Row] = []
    for tablet in table.tablets:
        start, stop = partition_key_span(schema, scheme, tablet.partition)
        text = partition_text(schema, scheme, tablet.partition)
        rows.append((start.hex().upper(), stop.hex().upper(), "local", 1, text))
    return _PARTITIONS, rows


def _tablets(state: SessionState, table: TableInfo) -> Listed:
    rowsets = state.store.rowset_infos(table)
    rows: list[Row] = []
    for index, tablet in enumerate(table.tablets):
        mine = [rowset for rowset in rowsets if rowset.tablet == index]
        partition = partition_text(table.schema, table.partition_schema, tablet.partition)
        totals = (sum(rowset.rows for rowset in mine), sum(rowset.size for rowset in mine))
        rows.append((index, partition, len(mine), *totals, tablet.id))
    return _TABLETS, rows


def _ranges(state: SessionState, table: TableInfo) -> Listed:
    schema, partition_schema = table.schema, table.partition_schema
    columns = schema_columns(schema, partition_schema.range_column_ids)
    names = ", ".join(column.name for column in columns)
    spans = dict.fromkeys(tablet.partition.range for tablet in table.tablets)
    rows = [(listed_bounds(schema, partition_schema, span),) for span in spans]
    return header((f"RANGE ({names})", _TEXT)), rows if columns else []


def _hash_schema(state: SessionState, table: TableInfo) -> Listed:
    """A row for each range, with the hash dimensions that hold in it, as Impala lists them."""
    schema, scheme = table.schema, table.partition_schema
    hashed = [span for span in scheme.covering_ranges if scheme.hash_dimensions_of(span)]
    lines: list[Row] = [(hash_schema_text(schema, scheme, span),) for span in hashed]
    return header_of("HASH SCHEMA text"), lines


def _row_errors(state: SessionState, plan: Show) -> Listed:
    rows: list[Row] = [
        (error.position, error.key, error.status, error.sqlstate, error.message)
        for error in state.row_errors
    ]
    return _ROW_ERRORS, rows


def _rowsets(state: SessionState, table: TableInfo) -> Listed:
    rows: list[Row] = []
    for rowset in state.store.rowset_infos(table):
        deltas = (rowset.undo_records, rowset.redo_records, rowset.memory_deltas)
        counts = (rowset.rows, rowset.size, *deltas)
        ends = (_key_text(table.schema, key) for key in (rowset.min_key, rowset.max_key))
        named = (rowset.tablet, rowset.rowset_id, rowset.kind)
        rows.append((*named, *counts, rowset.tablet_id, *ends))
    return _ROWSETS, rows


def _key_text(schema: Schema, key: bytes) -> str:
    """An encoded key as it is written in SQL: a value, or a row of them."""
    columns = schema.key_columns
    cells = KeyEncoder(columns).decode_one(key)
    texts = [value_text(cell, column) for cell, column in zip(cells, columns, strict=True)]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _column_files(state: SessionState, table: TableInfo) -> Listed:
    """A row for each column: its files of all rowsets together."""
    column_files = state.store.column_file_infos(table)
    rows: list[Row] = []
    for column in table.schema.columns:
        files = [file for file in column_files if file.column == column.name]
        encodings = ", ".join(sorted({file.encoding for file in files}))
        counts = (sum(file.blocks for file in files), sum(file.rows for file in files))
        sizes = (sum(file.raw_bytes for file in files), sum(file.size for file in files))
        rows.append((column.name, encodings, len(files), *counts, *sizes))
    return _COLUMN_FILES, rows


def _indexes(state: SessionState, table: TableInfo) -> Listed:
    """A row for each column of an index, and how many of the rowsets on disk have it."""
    tablets = (state.store.tablets[tablet.id] for tablet in table.tablets)
    rowsets = [rowset for tablet in tablets for rowset in tablet.components.tree.rowsets]
    rows: list[Row] = []
    for name, columns in table.schema.indexes.items():
        for column in columns:
            indexed = sum(rowset.base.skip_index(column.id) is not None for rowset in rowsets)
            rows.append((name, column.name, indexed, len(rowsets)))
    return _INDEXES, rows


def _settings(state: SessionState, plan: Show) -> Listed:
    rows: list[Row] = []
    for one in SETTINGS.values():
        values = (_setting_text(_value_of(state, one)), _setting_text(one.default))
        rows.append((one.name, *values, one.type, one.unit, str(one.scope), one.summary))
    return _SETTINGS, rows


def _setting(state: SessionState, plan: Show) -> Listed:
    """The row of one setting. Raises ProgrammingError: there is none of that name."""
    one = find_setting(plan.pattern or "")
    heading, rows = _settings(state, plan)
    return heading, [row for row in rows if row[0] == one.name]


def _value_of(state: SessionState, setting: Setting) -> object:
    """The value in force."""
    match setting.scope:
        case SettingScope.DATABASE:
            return getattr(state.database_settings, setting.name)
        case SettingScope.SESSION | SettingScope.PROGRAM:
            return getattr(state.settings, setting.name)
        case SettingScope.REMEMBERED:
            return state.store.history.max_age


def _setting_text(value: object) -> str | None:
    return None if value is None else str(value).lower()


def _by_name(rows: Lister) -> Lister:
    """Of rows those whose first value matches the pattern, if there is one."""

    def matching(state: SessionState, plan: Show) -> Listed:
        columns, listed = rows(state, plan)
        matches = like(plan.pattern)
        return columns, [row for row in listed if matches(row[0])]

    return matching


def _of_table(rows: Callable[[SessionState, TableInfo], Listed]) -> Lister:
    def listed(state: SessionState, plan: Show) -> Listed:
        assert isinstance(plan.item, TableInfo)
        return rows(state, plan.item)

    return listed


def _of_view(rows: Callable[[SessionState, ViewInfo], Listed]) -> Lister:
    def listed(state: SessionState, plan: Show) -> Listed:
        assert isinstance(plan.item, ViewInfo)
        return rows(state, plan.item)

    return listed


# By the words behind SHOW, as `planner/commands/listing_commands` reads them.
_LISTED: Mapping[str, Lister] = {
    "TABLES": _by_name(_tables),
    "VIEWS": _by_name(_views),
    "DATABASES": _by_name(_databases),
    "SCHEMAS": _by_name(_databases),
    "CREATE TABLE": _of_table(_create_table),
    "CREATE VIEW": _of_view(_create_view),
    "CREATE DATABASE": _create_database,
    "TABLE STATS": _of_table(table_stats),
    "PARTITIONS": _of_table(_partitions),
    "RANGE PARTITIONS": _of_table(_ranges),
    "TABLETS": _of_table(_tablets),
    "ROWSETS": _of_table(_rowsets),
    "COLUMN FILES": _of_table(_column_files),
    "INDEXES": _of_table(_indexes),
    "HASH SCHEMA": _of_table(_hash_schema),
    "ROW ERRORS": _row_errors,
    "SETTING": _setting,
    "SETTINGS": _by_name(_settings),
    "FUNCTIONS": _by_name(_functions),
    "SNAPSHOTS": _by_name(lambda state, plan: snapshot_rows(state)),
    "DROPPED TABLES": _by_name(lambda state, plan: dropped_table_rows(state)),
}
