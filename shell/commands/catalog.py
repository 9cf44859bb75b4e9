"""The tables and views of a database as commands name them."""

import fnmatch
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.commands.command import quote_identifier
from pykudu_sql.shell.editing.tokens import tokenize
from pykudu_sql.shell.own_queries import query
from pykudu_sql.shell.settings import UsageError, suggest_name

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

DEFAULT_DATABASE = "default"


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or a view. `catalog_name`: its name in `sys`; `name`: without its database."""

    catalog_name: str
    database: str
    name: str
    is_view: bool

    @property
    def sql(self) -> str:
        """Its name in SQL, whatever database is in use."""
        return f"{quote_identifier(self.database)}.{quote_identifier(self.name)}"


def list_relations(session: "ShellSession") -> list[Relation]:
    """All tables and views, by name."""
    rows = query(
        session.connection, "SELECT name, database_name, kind FROM sys.tables ORDER BY name"
    )
    return [
        Relation(
            name,
            database,
            name if database == DEFAULT_DATABASE else name.removeprefix(f"{database}."),
            kind == "VIEW",
        )
        for name, database, kind in rows
    ]


def find_relations(session: "ShellSession", arguments: Sequence[str]) -> list[Relation]:
    """The tables and views whose names match a pattern; all of them without a pattern.

    Raises UsageError: no name matches.
    """
    all_relations = list_relations(session)
    if not arguments:
        return all_relations
    pattern = arguments[0].lower().replace("%", "*")
    matched = [r for r in all_relations if fnmatch.fnmatchcase(r.catalog_name, pattern)]
    if not matched:
        names = [relation.catalog_name for relation in all_relations]
        raise UsageError(f"no table matches {arguments[0]!r}{suggest_name(arguments[0], names)}")
    return matched


def find_relation(session: "ShellSession", name: str) -> Relation | None:
    """The table or view of a name, as the database in use resolves it.

    None if there is none, also for tables of `sys`.
    """
    ((in_use,),) = query(session.connection, "SELECT current_database()")
    candidates = [(in_use, name), (in_use, name.lower())]
    database, dot, rest = name.partition(".")
    if dot:
        candidates.append((database.lower(), rest.lower()))
    all_relations = {(r.database, r.name): r for r in list_relations(session)}
    return next((all_relations[key] for key in candidates if key in all_relations), None)


def creating_statement(session: "ShellSession", item: Relation) -> str:
    """The CREATE statement of a table or view."""
    kind = "VIEW" if item.is_view else "TABLE"
    ((statement,),) = query(session.connection, f"SHOW CREATE {kind} {item.sql}")
    return str(statement)


def indexes_by_table(session: "ShellSession") -> dict[str, dict[str, list[str]]]:
    """By names of tables in the catalog: their indexes with their columns."""
    indexes: dict[str, dict[str, list[str]]] = {}
    for table, name, column in query(
        session.connection,
        "SELECT table_name, name, column_name FROM sys.indexes "
        "ORDER BY table_name, name, column_position",
    ):
        indexes.setdefault(table, {}).setdefault(name, []).append(column)
    return indexes


def sort_views(views: Sequence[tuple[Relation, str]]) -> list[tuple[Relation, str]]:
    """Views with their definitions, each behind the views that its query names."""
    ordered: list[tuple[Relation, str]] = []
    words = {view: {token.name for token in tokenize(text)} for view, text in views}
    waiting = list(views)
    while waiting:
        names = {view.name for view, _ in waiting}
        ready = [(v, t) for v, t in waiting if not (names - {v.name}) & words[v]]
        # Names that are columns too can make a circle, which views cannot.
        ready = ready or waiting[:1]
        ordered += ready
        waiting = [pair for pair in waiting if pair not in ready]
    return ordered
