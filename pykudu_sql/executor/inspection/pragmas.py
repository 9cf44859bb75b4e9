"""PRAGMA: facts of the catalog under SQLite's column names."""

from collections.abc import Mapping

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.listing_plans import Pragma, PragmaKind
from pykudu_sql.results.result import Header, Outcome, Row, RowResult, header_of
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import ViewInfo
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_sql

_HEADERS: Mapping[PragmaKind, Header] = {
    PragmaKind.TABLE_INFO: header_of(
        "cid number, name text, type text, notnull number, dflt_value text, pk number"
    ),
    PragmaKind.TABLE_LIST: header_of(
        "schema text, name text, type text, ncol number, wr number, strict number"
    ),
    PragmaKind.DATABASE_LIST: header_of("seq number, name text, file text"),
}


def pragma(state: SessionState, plan: Pragma) -> Outcome:
    """Run a PRAGMA."""
    catalog = state.read_catalog
    match plan:
        case Pragma(item=TableInfo() as table):
            rows = _table_columns(table)
        case Pragma(item=ViewInfo() as view):
            rows = [(i, c.name, c.type, 0, None, 0) for i, c in enumerate(view.columns)]
        case Pragma(PragmaKind.TABLE_LIST):
            rows = _items(catalog)
        case _:
            path = "" if state.in_memory else state.store.path
            names = sorted(catalog.database_names)
            rows = [(seq, name, path) for seq, name in enumerate(names)]
    return Outcome(RowResult(_HEADERS[plan.kind], rows), len(rows))


def _table_columns(table: TableInfo) -> list[Row]:
    """Columns with their positions in the key, from 1; 0 for those that are not of it."""
    key_positions = {column_id: index for index, column_id in enumerate(table.schema.key_ids, 1)}
    return [
        (
            number,
            column.name,
            str(column.type),
            int(not column.nullable),
            default_sql(column),
            key_positions.get(column.id, 0),
        )
        for number, column in enumerate(table.schema.visible_columns)
    ]


def _items(catalog: Catalog) -> list[Row]:
    """Tables and views. The rows of a table stand under its key, and its types are kept to."""
    rows: list[Row] = []
    for database in sorted(catalog.database_names):
        for full_name in catalog.names_in(database):
            name = full_name.removeprefix(f"{database}.")
            table = catalog.tables.get(full_name)
            if table is None:
                rows.append((database, name, "view", len(catalog.views[full_name].columns), 0, 0))
            else:
                rows.append((database, name, "table", len(table.schema.visible_columns), 1, 1))
    return rows
