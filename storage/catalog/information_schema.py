"""The rows of `information_schema`: the catalog in the form of the SQL standard.

Tools for other databases read it to list tables. Names and types are those of
PostgreSQL and DuckDB where the standard leaves a choice; a database is what they call a schema.
System tables are not listed, as tools would offer them for writing.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.namespace import RESERVED_DATABASES, ViewInfo, database_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_sql
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

CATALOG_NAME = "pykudu"
StandardRow = tuple[Cell, ...]

_FLOAT_BITS = MappingProxyType({Kind.FLOAT: 24, Kind.DOUBLE: 53})


def standard_rows(catalog: Catalog, name: str) -> Iterator[StandardRow]:
    """The rows of one table of `information_schema`.

    `catalog`: of the moment shown; `name`: one of `STANDARD_TABLES`.
    """
    return _ROWS[name](catalog)


def _schemata(catalog: Catalog) -> Iterator[StandardRow]:
    for name in sorted((*catalog.database_names, *RESERVED_DATABASES)):
        database = catalog.databases.get(name)
        yield CATALOG_NAME, name, None, "" if database is None else database.comment


def _tables(catalog: Catalog) -> Iterator[StandardRow]:
    for item in _all(catalog):
        is_view = isinstance(item, ViewInfo)
        kind = "VIEW" if is_view else "BASE TABLE"
        yield *_full_name(item.name), kind, _yes(not is_view), item.comment


def _columns(catalog: Catalog) -> Iterator[StandardRow]:
    for item in _all(catalog):
        place = _full_name(item.name)
        if isinstance(item, ViewInfo):
            for number, view_column in enumerate(item.columns, 1):
                data_type = parse_type(view_column.type)
                sizes = _sizes(data_type)
                shared = (None, "YES", view_column.type, *sizes, "NO", view_column.comment)
                yield *place, view_column.name, number, *shared
            continue
        for number, column in enumerate(item.schema.visible_columns, 1):
            yield (
                *place,
                column.name,
                number,
                default_sql(column),
                _yes(column.nullable),
                str(column.type),
                *_sizes(column.type),
                _yes(column.identity),
                column.comment,
            )


def _views(catalog: Catalog) -> Iterator[StandardRow]:
    for item in _all(catalog):
        if isinstance(item, ViewInfo):
            yield *_full_name(item.name), item.query, "NONE", "NO"


def _table_constraints(catalog: Catalog) -> Iterator[StandardRow]:
    for table in _tables_with_key(catalog):
        yield *_constraint(table), *_full_name(table.name), "PRIMARY KEY", "YES"
    for table, check in _checks(catalog):
        place = _full_name(table.name)
        yield *place[:2], check.name, *place, "CHECK", "YES"


def _check_constraints(catalog: Catalog) -> Iterator[StandardRow]:
    for table, check in _checks(catalog):
        place = _full_name(table.name)
        yield *place[:2], check.name, *place, check.text(table.schema)


def _checks(catalog: Catalog) -> Iterator[tuple[TableInfo, CheckConstraint]]:
    for item in _all(catalog):
        if isinstance(item, TableInfo):
            for check in item.checks:
                yield item, check


def _key_column_usage(catalog: Catalog) -> Iterator[StandardRow]:
    for table in _tables_with_key(catalog):
        for number, column in enumerate(table.schema.key_columns, 1):
            yield *_constraint(table), *_full_name(table.name), column.name, number


def _all(catalog: Catalog) -> Iterator[TableInfo | ViewInfo]:
    """Tables and views in the order of database and name."""
    names = (*catalog.tables, *catalog.views)
    for name in sorted(names, key=lambda name: _full_name(name)[1:]):
        yield catalog.tables[name] if name in catalog.tables else catalog.views[name]


def _tables_with_key(catalog: Catalog) -> Iterator[TableInfo]:
    """Tables whose key is a key to the standard; a non unique one promises nothing it knows."""
    for item in _all(catalog):
        if isinstance(item, TableInfo) and not item.schema.auto_incrementing:
            yield item


def _full_name(name: str) -> tuple[str, str, str]:
    """Catalog, database and own name of a table or view."""
    database = database_of(name)
    return CATALOG_NAME, database, name.removeprefix(f"{database}.")


def _constraint(table: TableInfo) -> tuple[str, str, str]:
    """Catalog, database and name of a table's key, which has PostgreSQL's name for it."""
    catalog, database, name = _full_name(table.name)
    return catalog, database, f"{name}_pkey"


def _sizes(data_type: DataType) -> StandardRow:
    """Characters, digits, their base, scale and fraction digits of a second, where they apply."""
    length = data_type.length or None
    if data_type.kind is Kind.DECIMAL:
        return length, data_type.precision, 10, data_type.scale, None
    if data_type.is_integer:
        return length, 8 * data_type.width, 2, 0, None
    if data_type.is_floating:
        return length, _FLOAT_BITS[data_type.kind], 2, None, None
    fraction = {Kind.DATE: 0, Kind.UNIXTIME_MICROS: 6}.get(data_type.kind)
    return length, None, None, None, fraction


def _yes(value: bool) -> str:
    return "YES" if value else "NO"


_ROWS: Mapping[str, Callable[[Catalog], Iterator[StandardRow]]] = {
    "information_schema.schemata": _schemata,
    "information_schema.tables": _tables,
    "information_schema.columns": _columns,
    "information_schema.views": _views,
    "information_schema.table_constraints": _table_constraints,
    "information_schema.check_constraints": _check_constraints,
    "information_schema.key_column_usage": _key_column_usage,
}
STANDARD_TABLES = tuple(_ROWS)
