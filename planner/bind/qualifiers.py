"""What the qualifier of a column means: a source of the query, or a struct that it computes.

`a.c` is a column of the source with the alias `a`, or the own name `a`, in the nearest query that
has one. `d.a.c` is one of a table or view that stands in FROM without an alias and belongs to the
database `d`; so two tables of one name can stand side by side, and a table can be named from a
subquery that reads another of its name. There the engine's SQL calls one of them otherwise.
"""

from collections.abc import Iterable, Set

from sqlglot import exp

from pykudu_sql.planner.bind.names import ambiguous_table, undefined_alias
from pykudu_sql.planner.bind.sources import DerivedTable, Frame, Source
from pykudu_sql.planner.parse.dialect import node_position
from pykudu_sql.storage.errors import ProgrammingError


def add_source(frame: Frame, source: Source, node: exp.Expr, text: str) -> None:
    """Add what an item of a FROM clause brings in.

    Args:
        frame: of the SELECT.
        source: to be added.
        node: the item, and the statement it stands in, for positions in errors.
        text: the statement.

    Raises:
        ProgrammingError: another has its alias, and no database tells them apart.
    """
    namesakes = [other for other in frame.sources.values() if other.alias == source.alias]
    if source.database in (None, *(other.database for other in namesakes)) and namesakes:
        _refuse_alias(source, node, text)
    if any(other.database is None for other in namesakes):
        _refuse_alias(source, node, text)
    if namesakes:
        _tell_apart(source, {*frame.sources, *_engine_aliases(namesakes)})
    frame.sources[source.engine_alias] = source


def qualified_source(column: exp.Column, frame: Frame, text: str) -> Source:
    """The source that a column's qualifier names.

    Raises:
        UndefinedTableError: there is none.
        ProgrammingError: several tables have the name.
    """
    nearer: list[Source] = []
    for scope in frame.chain():
        meant = _meant(column, scope)
        if len(meant) > 1:
            raise ambiguous_table(column, meant, text)
        nearer.extend(scope.sources.values())
        if meant:
            _tell_apart(meant[0], _engine_aliases(s for s in nearer if s is not meant[0]))
            return meant[0]
    raise undefined_alias(column, frame, text)


def struct_sources(column: exp.Column, frame: Frame) -> list[Source]:
    """The sources of the struct `s` whose field `s.a` is; `s` is used then. None if it is no such.

    So may be `q.s.a`, `s.a.b` and `q.s.a.b`; what could name a table's column does that. Only
    queries compute structs.
    """
    first, *path = (part.name.lower() for part in column.parts[:-1])
    for scope in frame.chain():
        if _meant(column, scope):
            return []
        source = next((s for s in scope.visible() if s.alias == first), None)
        if source is not None:
            is_column = bool(path) and path[0] in source.all_names()
            if not isinstance(source, DerivedTable) or not is_column:
                return []
            source.use(path[0])
            return [source]
        holders = scope.holders(first)
        if not all(isinstance(s, DerivedTable) for s in holders):
            return []
        for holder in holders:
            holder.use(first)
        if holders:
            return holders
    return []


def column_of(source: Source, name: str, frame: Frame) -> exp.Column:
    """A column of a source, qualified so that nothing else in the frame is meant."""
    shared = sum(other.alias == source.alias for other in frame.sources.values()) > 1
    return exp.column(name, table=source.alias, db=source.database if shared else None)


def _meant(column: exp.Column, scope: Frame) -> list[Source]:
    """The sources of one query that a qualifier fits."""
    if column.args.get("catalog") is not None:
        return []
    table, database = column.table.lower(), column.db.lower()
    return [
        source
        for source in scope.visible()
        if source.alias == table and database in ("", source.database)
    ]


def _engine_aliases(sources: Iterable[Source]) -> set[str]:
    return {source.engine_alias for source in sources}


def _tell_apart(source: Source, taken: Set[str]) -> None:
    """Give a source a name of its own in the engine's SQL, if its name is taken."""
    if source.engine_alias in taken:
        alias = f"{source.database}.{source.alias}"
        while alias in taken:
            alias += "'"
        source.rename(alias)


def _refuse_alias(source: Source, node: exp.Expr, text: str) -> None:
    raise ProgrammingError(
        f"table name '{source.alias}' is given twice",
        hint="give one of them an alias",
        position=node_position(node, text),
        sqlstate="42712",
    )
