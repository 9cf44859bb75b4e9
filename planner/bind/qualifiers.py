"""What the qualifier of a column means: a source of the query, or a struct that it computes.

`a.c` is a column of the source with the alias `a`, or the own name `a`, in the nearest query that
has one. `d.a.c` is one of a table or view that stands in FROM without an alias and belongs to the
database `d`; so two tables of one name can stand side by side, and a table can be named from a
subquery that reads another of its name. There the engine's SQL calls one of them otherwise.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from sqlglot import exp

from pykudu_sql.planner.bind.names import ambiguous, ambiguous_table, undefined_alias
from pykudu_sql.planner.bind.sources import DerivedTable, Frame, Source
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import ProgrammingError


@dataclass(frozen=True, slots=True)
class StructField:
    """A field of a struct that a query computes.

    Attributes:
        sources: whose column the struct is; several where USING joins them.
        column: the struct's name, lower case.
        path: from the struct to the field.
    """

    sources: tuple[Source, ...]
    column: str
    path: tuple[exp.Expr, ...]


def add_source(frame: Frame, source: Source, node: exp.Expr) -> None:
    """Add what an item of a FROM clause brings in.

    Args:
        frame: of the SELECT.
        source: to be added.
        node: the item, and the statement it stands in, for positions in errors.

    Raises:
        ProgrammingError: another has its alias, and no database tells them apart.
    """
    namesakes = [other for other in frame.sources.values() if other.alias == source.alias]
    if source.database in (None, *(other.database for other in namesakes)) and namesakes:
        _refuse_alias(source, node)
    if any(other.database is None for other in namesakes):
        _refuse_alias(source, node)
    if namesakes:
        _tell_apart(source, {*frame.sources, *_engine_aliases(namesakes)})
    frame.sources[source.engine_alias] = source


def qualified_source(column: exp.Column, frame: Frame) -> Source:
    """The source that a column's qualifier names.

    Raises:
        UndefinedTableError: there is none.
        ProgrammingError: several tables have the name.
    """
    nearer: list[Source] = []
    for scope in frame.chain():
        meant = _meant(column, scope)
        if len(meant) > 1:
            raise ambiguous_table(column, meant)
        nearer.extend(scope.sources.values())
        if meant:
            _tell_apart(meant[0], _engine_aliases(s for s in nearer if s is not meant[0]))
            return meant[0]
    raise undefined_alias(column, frame)


def struct_field(column: exp.Column, frame: Frame) -> StructField | None:
    """The struct's field that a qualified name means; the struct is used then. None for no field.

    `s.a`, `q.s.a`, `s.a.b` and `q.s.a.b` may be one; what could name a table's column does that.
    Only queries compute structs.

    Raises:
        ProgrammingError: several sources have a column of the struct's name.
    """
    first, *rest = parts = column.parts
    name = first.name.lower()
    for scope in frame.chain():
        if _meant(column, scope):
            return None
        source = next((s for s in scope.visible() if s.alias == name), None)
        if source is not None:
            return _field_of([source], rest)
        holders = scope.holders(name)
        if len(holders) > 1 and name not in scope.merged:
            raise ambiguous(exp.Column(this=first.copy()), holders)
        if holders:
            return _field_of(holders, parts)
    return None


def _field_of(sources: list[Source], parts: Sequence[exp.Expr]) -> StructField | None:
    """The field that is reached from a column of sources, if there can be one."""
    struct, *path = parts
    name = struct.name.lower()
    known = all(isinstance(s, DerivedTable) and name in s.all_names() for s in sources)
    if not (known and path):
        return None
    for source in sources:
        source.use(name)
    return StructField(tuple(sources), name, tuple(path))


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


def _refuse_alias(source: Source, node: exp.Expr) -> None:
    raise ProgrammingError(
        f"table name '{source.alias}' is given twice",
        hint="give one of them an alias",
        position=node_span(node),
        sqlstate="42712",
    )
