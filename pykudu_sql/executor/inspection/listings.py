"""SHOW: facts of catalog and store as rows."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pykudu_sql.executor.inspection.descriptions import table_stats
from pykudu_sql.executor.inspection.history import dropped_table_rows, snapshot_rows
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.explain.show_create import create_table_sql, create_view_sql
from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.planner.plan.plan import Show
from pykudu_sql.results.result import Header, Outcome, Row, RowResult, header
from pykudu_sql.settings import SETTINGS, Scope, Setting
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.namespace import ViewInfo
from pykudu_sql.storage.common.partition.partition import schema_columns
from pykudu_sql.storage.common.partition.partition_key import partition_key_span
from pykudu_sql.storage.common.partition.partition_text import (
    hash_schema_text,
    listed_bounds,
    partition_text,
)
from pykudu_sql.storage.common.quoted_name import quoted_name
from pykudu_sql.storage.common.types.types import DataType, Kind

Listed = tuple[Header, list[Row]]
Lister = Callable[[SessionState, Show], Listed]

_TEXT = DataType(Kind.STRING)
_NUMBER = DataType(Kind.INT64)

_INDEXES = header(
    ("index", _TEXT), ("column", _TEXT), ("rowsets_with_it", _NUMBER), ("rowsets", _NUMBER)
)
_NAMES = header(("name", _TEXT))
_RESULT = header(("result", _TEXT))
_DATABASES = header(("name", _TEXT), ("comment", _TEXT))
_PARTITIONS = header(
    ("Start Key", _TEXT),
    ("Stop Key", _TEXT),
    ("Leader Replica", _TEXT),
    ("#Replicas", _NUMBER),
    ("Partition", _TEXT),
)
_TABLETS = header(
    ("tablet", _NUMBER),
    ("partition", _TEXT),
    ("rowsets", _NUMBER),
    ("rows", _NUMBER),
    ("bytes", _NUMBER),
    ("tablet_id", _TEXT),
)
_ROWSETS = header(
    ("tablet", _NUMBER),
    ("rowset", _NUMBER),
    ("kind", _TEXT),
    ("rows", _NUMBER),
    ("bytes", _NUMBER),
    ("undo_records", _NUMBER),
    ("redo_records", _NUMBER),
    ("memory_deltas", _NUMBER),
    ("tablet_id", _TEXT),
)
_COLUMN_FILES = header(
    ("column", _TEXT),
    ("encodings", _TEXT),
    ("files", _NUMBER),
    ("blocks", _NUMBER),
    ("rows", _NUMBER),
    ("raw_bytes", _NUMBER),
    ("bytes", _NUMBER),
)
_ROW_ERRORS = header(
    ("position", _NUMBER),
    ("key", _TEXT),
    ("status", _TEXT),
    ("sqlstate", _TEXT),
    ("message", _TEXT),
)
_SETTINGS = header(
    ("name", _TEXT),
    ("value", _TEXT),
    ("default", _TEXT),
    ("type", _TEXT),
    ("unit", _TEXT),
    ("scope", _TEXT),
    ("description", _TEXT),
)


def show(state: SessionState, plan: Show) -> Outcome:
    """SHOW of something."""
    columns, rows = _LISTED[plan.kind](state, plan)
    return Outcome(RowResult(columns, rows), len(rows))


def _databases(state: SessionState, plan: Show) -> Listed:
    catalog = state.store.catalog
    rows: list[Row] = [
        (name, catalog.databases[name].comment if name in catalog.databases else "")
        for name in sorted(catalog.database_names)
    ]
    return _DATABASES, rows


def _functions(state: SessionState, plan: Show) -> Listed:
    """What a query may call; docs/functions.md says what each does."""
    from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS

    return _NAMES, [(name,) for name in sorted(FUNCTIONS)]


def _tables(state: SessionState, plan: Show) -> Listed:
    """The tables and views of a database, without the database's name."""
    database = plan.database or state.settings.database
    names = state.store.catalog.names_in(database)
    return _NAMES, [(name.removeprefix(f"{database}."),) for name in names]


def _views(state: SessionState, plan: Show) -> Listed:
    """The views of a database, without the database's name."""
    database = plan.database or state.settings.database
    catalog = state.store.catalog
    names = [name for name in catalog.names_in(database) if name in catalog.views]
    return _NAMES, [(name.removeprefix(f"{database}."),) for name in names]


def _create_table(state: SessionState, table: TableInfo) -> Listed:
    return _RESULT, [(create_table_sql(table, state.store.catalog.databases),)]


def _create_view(state: SessionState, view: ViewInfo) -> Listed:
    return _RESULT, [(create_view_sql(view),)]


def _create_database(state: SessionState, plan: Show) -> Listed:
    name = plan.database or state.settings.database
    database = state.store.catalog.databases.get(name)
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
    found = state.store.rowset_infos(table)
    rows: list[Row] = []
    for place, tablet in enumerate(table.tablets):
        mine = [rowset for rowset in found if rowset.tablet == place]
        rows.append(
            (
                place,
                partition_text(table.schema, table.partition_schema, tablet.partition),
                len(mine),
                sum(rowset.rows for rowset in mine),
                sum(rowset.size for rowset in mine),
                tablet.id,
            )
        )
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
    return header(("HASH SCHEMA", _TEXT)), lines


def _row_errors(state: SessionState, plan: Show) -> Listed:
    rows: list[Row] = [
        (error.position, error.key, error.status, error.sqlstate, error.message)
        for error in state.row_errors
    ]
    return _ROW_ERRORS, rows


def _rowsets(state: SessionState, table: TableInfo) -> Listed:
    rows: list[Row] = [
        (
            rowset.tablet,
            rowset.rowset_id,
            rowset.kind,
            rowset.rows,
            rowset.size,
            rowset.undo_records,
            rowset.redo_records,
            rowset.memory_deltas,
            rowset.tablet_id,
        )
        for rowset in state.store.rowset_infos(table)
    ]
    return _ROWSETS, rows


def _column_files(state: SessionState, table: TableInfo) -> Listed:
    """A row for each column: its files of all rowsets together."""
    found = state.store.column_file_infos(table)
    rows: list[Row] = []
    for column in table.schema.columns:
        files = [file for file in found if file.column == column.name]
        rows.append(
            (
                column.name,
                ", ".join(sorted({file.encoding for file in files})),
                len(files),
                sum(file.blocks for file in files),
                sum(file.rows for file in files),
                sum(file.raw_bytes for file in files),
                sum(file.size for file in files),
            )
        )
    return _COLUMN_FILES, rows


def _indexes(state: SessionState, table: TableInfo) -> Listed:
    """A row for each column of an index, and how many of the rowsets on disk have it."""
    tablets = (state.store.tablets[tablet.id] for tablet in table.tablets)
    rowsets = [rowset for tablet in tablets for rowset in tablet.components.tree.rowsets]
    rows: list[Row] = [
        (
            name,
            column.name,
            sum(rowset.base.skip_index(column.id) is not None for rowset in rowsets),
            len(rowsets),
        )
        for name, columns in table.schema.indexes.items()
        for column in columns
    ]
    return _INDEXES, rows


def _settings(state: SessionState, plan: Show) -> Listed:
    rows: list[Row] = [
        (
            setting.name,
            _setting_text(_value_of(state, setting)),
            _setting_text(setting.default),
            setting.type,
            setting.unit,
            str(setting.scope),
            setting.summary,
        )
        for setting in SETTINGS.values()
    ]
    return _SETTINGS, rows


def _value_of(state: SessionState, setting: Setting) -> object:
    """The value in force."""
    match setting.scope:
        case Scope.DATABASE:
            return getattr(state.database_settings, setting.name)
        case Scope.SESSION | Scope.PROGRAM:
            return getattr(state.settings, setting.name)
        case Scope.REMEMBERED:
            return state.store.history.max_age


def _setting_text(value: object) -> str | None:
    return None if value is None else str(value).lower()


def _like(pattern: str | None) -> Callable[[str | None], bool]:
    """Whether a name matches a pattern of LIKE, whatever its case.

    As in Impala `*` is `%`, and `|` stands between patterns of which one is to match.
    """
    if pattern is None:
        return lambda name: True
    parts = {"%": ".*", "*": ".*", "_": ".", "|": "|"}
    regex = "".join(parts.get(c, re.escape(c)) for c in pattern)
    compiled = re.compile(regex, re.IGNORECASE | re.DOTALL)
    return lambda name: compiled.fullmatch(name or "") is not None


def _by_name(rows: Lister) -> Lister:
    """Of rows those whose first value matches the pattern, if there is one."""

    def matching(state: SessionState, plan: Show) -> Listed:
        columns, found = rows(state, plan)
        matches = _like(plan.pattern)
        return columns, [row for row in found if matches(row[0])]

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
_LISTED: Mapping[str, Lister] = MappingProxyType(
    {
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
        "SETTINGS": _by_name(_settings),
        "FUNCTIONS": _by_name(_functions),
        "SNAPSHOTS": _by_name(lambda state, plan: snapshot_rows(state)),
        "DROPPED TABLES": _by_name(lambda state, plan: dropped_table_rows(state)),
    }
)
