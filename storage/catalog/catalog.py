"""The catalog: which tables, views and databases there are at one moment.

A `Catalog` is an immutable value; a change makes a new one, stamped with its hybrid time. Keeping
the older ones (see `catalog_history`) is what lets a read AS OF t see the tables, schemas and
partitions of t, as Kudu's own snapshots cannot.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from types import MappingProxyType

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.namespace import (
    DEFAULT_DATABASE,
    DatabaseInfo,
    NamedObject,
    ViewInfo,
    database_of,
    full_name,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.types.hybrid_time import (
    NOTHING,
    UNCOMMITTED,
    SnapshotBound,
    Timestamp,
    first_beyond,
    format_timestamp,
)
from pykudu_sql.storage.errors import (
    DuplicateObjectError,
    HistoryPurgedError,
    ProgrammingError,
    UndefinedObjectError,
    UndefinedTableError,
)

CREATE_DATABASE = "CREATE DATABASE {} makes it"
_DATABASES = "SHOW DATABASES lists those there are"
_LISTED = "SHOW TABLES lists tables, and so does information_schema.tables"
COPY_FILES = (
    "COPY t FROM 'file' reads files into a table; .import of the shell makes the table, too"
)
_FILE_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".orc", ".arrow", ".gz")
_OF_SQLITE = f"{_LISTED}; pandas and others read and write through SQLAlchemy: pykudu:///my.db"
_MOST_LISTED = 8
# Tables that other databases always have, and a word that stands before a table's name there.
_ELSEWHERE = {
    "table": "leave TABLE out: UPDATE t SET a = 1 WHERE .., SELECT * FROM t",
    "dual": "a SELECT of values needs no FROM",
    "sqlite_master": _OF_SQLITE,
    "sqlite_schema": _OF_SQLITE,
    "pg_tables": _LISTED,
    "pg_class": _LISTED,
    "pg_catalog.pg_tables": _LISTED,
    "pg_catalog.pg_class": _LISTED,
}


def _never(name: str) -> Timestamp | None:
    """Of the catalog of the present: nothing was made later."""
    return None


def _nothing_renamed(name: str) -> TableInfo | None:
    """Of the catalog of the present: no table gets another name later."""
    return None


@dataclass(frozen=True)
class Catalog:
    """All tables, views and databases at one moment, as they look from one database.

    Attributes:
        tables: by full name: `database.table`, or `table` in the default database.
        version: grows by one with every change.
        timestamp: hybrid time of the change that made it.
        complete_since: 0, or the bound from which on all tables are known, which that of this
            catalog lies below.
        views: by full name.
        databases: those made by CREATE DATABASE, by name.
        database: of names that have none.
        created_later: when a table that this catalog of the past lacks was created, by full name.
        renamed_later: the table of this catalog of the past that has a full name now, which no
            table has here.
    """

    tables: Mapping[str, TableInfo]
    version: int
    timestamp: Timestamp
    complete_since: SnapshotBound = NOTHING
    views: Mapping[str, ViewInfo] = field(default_factory=lambda: MappingProxyType({}))
    databases: Mapping[str, DatabaseInfo] = field(default_factory=lambda: MappingProxyType({}))
    database: str = DEFAULT_DATABASE
    created_later: Callable[[str], Timestamp | None] = field(default=_never, compare=False)
    renamed_later: Callable[[str], TableInfo | None] = field(
        default=_nothing_renamed, compare=False
    )

    @cached_property
    def by_id(self) -> Mapping[str, TableInfo]:
        """The tables by id."""
        return {table.id: table for table in self.tables.values()}

    @cached_property
    def database_names(self) -> frozenset[str]:
        """The databases, those included that only have tables."""
        owners = (database_of(name) for name in (*self.tables, *self.views))
        return frozenset((DEFAULT_DATABASE, *self.databases, *owners))

    def in_database(self, database: str) -> "Catalog":
        """This catalog, with unqualified names resolved in a database."""
        return self if database == self.database else replace(self, database=database)

    def full_name(self, name: str) -> str:
        """The name a table or view is stored under, of one that may lack its database."""
        return full_name(name, self.database)

    def table(self, name: str) -> TableInfo:
        """The table of a name; in the past, where no table had it, the one that has it now.

        Raises UndefinedTableError: there is none; a near name is suggested; ProgrammingError: it is
        a view; HistoryPurgedError: there may have been one, that history does not reach back to.
        """
        full = self.full_name(name)
        table = self.tables.get(full)
        if table is None and full in self.views:
            raise ProgrammingError(
                f"'{name}' is a view, not a table",
                hint="a view can only be read, described, altered and dropped (DROP VIEW)",
                sqlstate="42809",
            )
        if table is None:
            table = self.renamed_later(full)
            self.require_completeness(name, table)
        if table is None:
            raise self._undefined(name)
        return table

    def require_completeness(self, name: str, renamed: TableInfo | None = None) -> None:
        """See that a table which this catalog lacks was none at its moment.

        `name`: of the table; `renamed`: one that got the name later, if any. Raises
        HistoryPurgedError: there may have been one, that history does not reach back to.
        """
        if self.complete_since:
            since = format_timestamp(first_beyond(self.complete_since))
            hint = f"every table is known as of {since} and later"
            if renamed is not None:
                hint += f"; the table of that name was '{renamed.name}' then"
            raise HistoryPurgedError(
                f"history does not reach back to a table '{name}' at that moment", hint=hint
            )

    def _undefined(self, name: str) -> UndefinedTableError:
        created = self.created_later(self.full_name(name))
        if created is None:
            return UndefinedTableError(f"table '{name}' does not exist", hint=self._hint(name))
        since = format_timestamp(created)
        return UndefinedTableError(
            f"table '{name}' did not exist yet at that moment", hint=f"it exists since {since}"
        )

    def view(self, name: str) -> ViewInfo:
        """The view of a name.

        Raises UndefinedTableError: there is none; a near name is suggested; ProgrammingError: it is
        a table.
        """
        full = self.full_name(name)
        view = self.views.get(full)
        if view is None and full in self.tables:
            raise ProgrammingError(
                f"'{name}' is a table, not a view",
                hint="write TABLE in place of VIEW",
                sqlstate="42809",
            )
        if view is None:
            raise UndefinedTableError(f"view '{name}' does not exist", hint=self._hint(name))
        return view

    def check_database(self, name: str, way_out: str = CREATE_DATABASE) -> None:
        """See that a database exists; `way_out` is the hint where no name is near.

        Raises UndefinedObjectError: it does not; a near name is suggested.
        """
        if name not in self.database_names:
            near = difflib.get_close_matches(name, self.database_names, n=1, cutoff=0.7)
            raise UndefinedObjectError(
                f"database '{name}' does not exist",
                hint=f"did you mean '{near[0]}'?" if near else way_out.format(name) or None,
                sqlstate="3D000",
            )

    def names_in(self, database: str) -> list[str]:
        """The tables and views of a database by full name, sorted."""
        return sorted(name for name in (*self.tables, *self.views) if database_of(name) == database)

    def _hint(self, name: str) -> str | None:
        if name in _ELSEWHERE:
            return _ELSEWHERE[name]
        if name.endswith(_FILE_SUFFIXES):
            return COPY_FILES
        names = (*self.tables, *self.views)
        full = self.full_name(name)
        if database_of(full) not in self.database_names:
            bare = full.partition(".")[2]
            way_out = f"write {bare}" if self.full_name(bare) in names else _DATABASES
            return f"there is no database '{database_of(full)}': {way_out}"
        bare = full.rpartition(".")[2]
        elsewhere = [each for each in names if each.rpartition(".")[2] == bare]
        if elsewhere:
            homes = " or ".join(f"{database_of(each)}.{bare}" for each in elsewhere[:_MOST_LISTED])
            return f"it is not in database '{database_of(full)}': write {homes}"
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
        near = near or difflib.get_close_matches(full, names, n=1, cutoff=0.7)
        if not near:
            return self._listing(database_of(full))
        (nearest,) = near
        is_here = "." in nearest or database_of(nearest) == database_of(full)
        return f"did you mean '{nearest if is_here else f'{database_of(nearest)}.{nearest}'}'?"

    def _listing(self, database: str) -> str | None:
        """What there is in a database where that is little."""
        names = self.names_in(database)
        if not names:
            return f"database '{database}' is empty"
        if len(names) > _MOST_LISTED:
            return f"SHOW TABLES lists the {len(names)} of database '{database}'"
        return f"database '{database}' has {', '.join(names)}"

    def check_name_free(self, table: TableInfo) -> None:
        """See that no view and no other table has the name of a table.

        Raises DuplicateObjectError: one has.
        """
        named = self.tables.get(table.name)
        is_taken = named is not None and named.id != table.id
        if is_taken or table.name in self.views:
            raise DuplicateObjectError(
                f"table '{table.name}' exists already"
                if is_taken
                else f"there is a view '{table.name}' already",
                hint="choose another name, or drop it first",
            )

    def with_table(self, table: TableInfo, timestamp: Timestamp) -> "Catalog":
        """This catalog with a table added, or exchanged for the one of the same id.

        Raises DuplicateObjectError: the name is taken.
        """
        self.check_name_free(table)
        others = {n: t for n, t in self.tables.items() if t.id != table.id}
        others[table.name] = table
        return replace(self._next(timestamp), tables=MappingProxyType(others))

    def without_table(self, table_id: str, timestamp: Timestamp) -> "Catalog":
        """This catalog with a table dropped."""
        others = {n: t for n, t in self.tables.items() if t.id != table_id}
        return replace(self._next(timestamp), tables=MappingProxyType(others))

    def with_object(self, item: NamedObject, timestamp: Timestamp) -> "Catalog":
        """This catalog with a view or database added, or exchanged for that of the same id.

        Raises DuplicateObjectError: the name is taken.
        """
        rest = self.without_object(item.id, timestamp)
        if isinstance(item, DatabaseInfo):
            if item.name in rest.databases:
                raise DuplicateObjectError(
                    f"database '{item.name}' exists already",
                    hint="choose another name, or write IF NOT EXISTS",
                    sqlstate="42P04",
                )
            return replace(rest, databases=MappingProxyType({**rest.databases, item.name: item}))
        if item.name in rest.views or item.name in rest.tables:
            kind = "view" if item.name in rest.views else "table"
            raise DuplicateObjectError(
                f"there is a {kind} '{item.name}' already",
                hint="choose another name, or write CREATE OR REPLACE VIEW"
                if kind == "view"
                else "choose another name",
            )
        return replace(rest, views=MappingProxyType({**rest.views, item.name: item}))

    def without_object(self, object_id: str, timestamp: Timestamp) -> "Catalog":
        """This catalog with a view or database dropped."""
        views = {n: view for n, view in self.views.items() if view.id != object_id}
        databases = {n: item for n, item in self.databases.items() if item.id != object_id}
        return replace(
            self._next(timestamp),
            views=MappingProxyType(views),
            databases=MappingProxyType(databases),
        )

    def _next(self, timestamp: Timestamp) -> "Catalog":
        return replace(self, version=self.version + 1, timestamp=timestamp, complete_since=NOTHING)


EMPTY_CATALOG = Catalog(MappingProxyType({}), 0, UNCOMMITTED)
