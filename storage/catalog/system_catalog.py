"""The tables of `sys` and `information_schema`: metadata of the database, for any SELECT.

Their columns are fixed here; `system_tables` and `information_schema` fill them. They are no tables
of the catalog: nothing of them is stored, they cannot be written, and those of `sys` show the
present, whatever moment a session reads at. Names and facts of `sys` follow the pages of Kudu's web
UI and its metrics, those of `information_schema` the SQL standard, as PostgreSQL and DuckDB have
it.
"""

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import RESERVED_DATABASES, database_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.types.hybrid_time import HYBRID_TIME
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import ProgrammingError, SourceSpan, UndefinedTableError

SCHEMA = "sys"
INFORMATION_SCHEMA = "information_schema"
SYSTEM_SCHEMAS = RESERVED_DATABASES

_TYPES = MappingProxyType(
    {
        "text": DataType(Kind.STRING),
        "number": DataType(Kind.INT64),
        "real": DataType(Kind.DOUBLE),
        "flag": DataType(Kind.BOOL),
        "moment": DataType(Kind.UNIXTIME_MICROS),
        "bytes": DataType(Kind.BINARY),
        "hybrid_time": HYBRID_TIME,
    }
)
_IN_TABLET = "table_name text, tablet number"
_IN_ROWSET = f"{_IN_TABLET}, rowset_id number"


def listed_columns(columns: str) -> list[tuple[str, DataType]]:
    """Names and types of columns given as `name type, ...`; types are words of `_TYPES`."""
    pairs = (column.rpartition(" ") for column in columns.split(", "))
    return [(name, _TYPES[word]) for name, _, word in pairs]


def _table(name: str, comment: str, columns: str, key: str, owner: str = SCHEMA) -> TableInfo:
    """A system table of columns as `listed_columns` takes them."""
    schema = create_schema(
        [ColumnSchema(0, *column) for column in listed_columns(columns)], key.split(", ")
    )
    full_name = f"{owner}.{name}"
    return TableInfo(full_name, full_name, schema, PartitionSchema(), (), comment)


_ALL = (
    _table("tables", "every table, with what it holds, and every view",
        "name text, database_name text, kind text, tablets number, rowsets number, "
        "live_rows number, disk_bytes number, memory_bytes number, comment text, table_id text",
        "name"),
    _table("columns", "the columns of every table and view",
        "table_name text, name text, position number, type text, nullable flag, key_position "
        "number, immutable flag, hidden flag, default_value text, encoding text, "
        "compression text, block_size number, comment text",
        "table_name, name"),
    _table("indexes", "the columns of every index",
        "table_name text, name text, column_name text, column_position number",
        "table_name, name, column_name"),
    _table("partitions", "how rows are spread over tablets",
        f"{_IN_TABLET}, partition text, buckets text, range text, tablet_id text",
        "table_name, tablet"),
    _table("tablets", "every tablet, with how well its rowsets are compacted",
        f"{_IN_TABLET}, rowsets number, live_rows number, disk_bytes number, undo_bytes number, "
        "memory_bytes number, log_bytes number, average_rowset_height real, tablet_id text",
        "table_name, tablet"),
    _table("rowsets", "every rowset in memory and on disk",
        f"{_IN_ROWSET}, kind text, rows number, live_rows number, bytes number, base_bytes number, "
        "undo_files number, undo_records number, redo_files number, redo_records number, "
        "memory_deltas number, low real, high real, min_key bytes, max_key bytes, tablet_id text",
        "table_name, tablet, rowset_id"),
    _table("column_files", "the CFiles of every rowset on disk",
        f"{_IN_ROWSET}, column_name text, encoding text, blocks number, rows number, "
        "raw_bytes number, bytes number",
        "table_name, tablet, rowset_id, column_name"),
    _table("delta_files", "the UNDO and REDO files of every rowset on disk",
        f"{_IN_ROWSET}, file_number number, kind text, records number, updates number, "
        "deletes number, reinserts number, bytes number, min_timestamp hybrid_time, "
        "max_timestamp hybrid_time",
        "table_name, tablet, rowset_id, file_number"),
    _table("maintenance", "maintenance that runs, is due or waiting, and was done lately",
        "state text, operation text, table_name text, tablet_id text, score real, "
        "ram_bytes number, log_bytes number, data_bytes number, started moment, seconds real, "
        "written_bytes number, freed_bytes number, error text",
        "state, operation, table_name, tablet_id"),
    _table("snapshots", "every snapshot that has a name",
        "name text, moment moment, timestamp hybrid_time, created moment, comment text",
        "name"),
    _table("memory", "who may hold how much memory, holds it now, and held at most",
        "holder text, limit_bytes number, used_bytes number, peak_bytes number, comment text",
        "holder"),
    _table("metrics", "counters since the database was opened, and sizes now",
        "name text, value number, unit text, description text",
        "name"),
    _table("statements", "statements of this process by their texts without values",
        "statement text, calls number, failures number, rows number, total_seconds real, "
        "mean_seconds real, max_seconds real",
        "statement"),
)  # fmt: skip

_OF_TABLE = "table_catalog text, table_schema text, table_name text"
_OF_CONSTRAINT = "constraint_catalog text, constraint_schema text, constraint_name text"


def _standard(name: str, comment: str, columns: str, key: str) -> TableInfo:
    """A table of `information_schema`, its columns named and ordered as in the SQL standard."""
    return _table(name, comment, columns, key, INFORMATION_SCHEMA)


_STANDARD = (
    _standard("schemata", "every database",
        "catalog_name text, schema_name text, schema_owner text, comment text",
        "schema_name"),
    _standard("tables", "every table and view",
        f"{_OF_TABLE}, table_type text, is_insertable_into text, comment text",
        "table_schema, table_name"),
    _standard("columns", "the columns of every table and view",
        f"{_OF_TABLE}, column_name text, ordinal_position number, column_default text, "
        "is_nullable text, data_type text, character_maximum_length number, "
        "numeric_precision number, numeric_precision_radix number, numeric_scale number, "
        "datetime_precision number, is_identity text, comment text",
        "table_schema, table_name, column_name"),
    _standard("views", "every view with its query",
        f"{_OF_TABLE}, view_definition text, check_option text, is_updatable text",
        "table_schema, table_name"),
    _standard("table_constraints", "the primary key and CHECK constraints of every table",
        f"{_OF_CONSTRAINT}, {_OF_TABLE}, constraint_type text, enforced text",
        "table_schema, table_name, constraint_name"),
    _standard("check_constraints", "the conditions of every table's CHECK constraints",
        f"{_OF_CONSTRAINT}, {_OF_TABLE}, check_clause text",
        "table_schema, table_name, constraint_name"),
    _standard("key_column_usage", "the columns of every primary key, in its order",
        f"{_OF_CONSTRAINT}, {_OF_TABLE}, column_name text, ordinal_position number",
        "table_schema, table_name, column_name"),
)  # fmt: skip

SYSTEM_TABLES: Mapping[str, TableInfo] = {table.name: table for table in (*_ALL, *_STANDARD)}


def is_system(table: TableInfo) -> bool:
    """Whether a table is one of the system's."""
    return SYSTEM_TABLES.get(table.name) is table


def readable_table(catalog: Catalog, name: str) -> TableInfo:
    """The table of a name, of the system or of a catalog.

    Raises UndefinedTableError: there is none; a near name is suggested.
    """
    if name in SYSTEM_TABLES or database_of(name) not in SYSTEM_SCHEMAS:
        return SYSTEM_TABLES.get(name) or catalog.table(name)
    near = difflib.get_close_matches(name, SYSTEM_TABLES, n=1)
    siblings = [n for n in SYSTEM_TABLES if database_of(n) == database_of(name)]
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(siblings)}"
    raise UndefinedTableError(f"table '{name}' does not exist", hint=hint)


def check_not_system(name: str, span: SourceSpan | None = None) -> None:
    """Refuse to make, change or write a table of the system.

    `name`: of a table, with its schema; `span`: of the name in a statement. Raises
    ProgrammingError: the name belongs to it.
    """
    schema = database_of(name)
    if schema in SYSTEM_SCHEMAS:
        raise ProgrammingError(
            f"'{name}' belongs to schema '{schema}', which is read-only",
            hint="SELECT and DESCRIBE can read it" if name in SYSTEM_TABLES else None,
            span=span,
            sqlstate="42501",
        )
