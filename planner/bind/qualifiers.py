"""Qualifiers of columns: a relation of the query, or a struct that it computes.

`a.c` is a column of the relation with the alias `a`, or the own name `a`, in the nearest query that
has one. `d.a.c` is one of a table or view that stands in FROM without an alias and belongs to the
database `d`; so two tables of one name can stand side by side, and a table can be named from a
subquery that reads another of its name. There the engine's SQL calls one of them otherwise.
"""

from collections.abc import Iterable, Sequence, Set

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import FieldBinding
from pykudu_sql.planner.bind.names import (
    ambiguous,
    ambiguous_table,
    check_ambiguous,
    undefined_alias,
)
from pykudu_sql.planner.bind.relations import DerivedTable, Relation, Scope
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import ProgrammingError


def add_relation(scope: Scope, relation: Relation, node: exp.Expr) -> None:
    """Add what an item of a FROM clause brings in.

    Args:
        relation: to be added.
        node: the item, and the statement it stands in, for positions in errors.

    Raises ProgrammingError: another has its alias, and no database distinguishes them.
    """
    namesakes = [other for other in scope.relations.values() if other.alias == relation.alias]
    if relation.database in (None, *(other.database for other in namesakes)) and namesakes:
        _refuse_alias(relation, node)
    if any(other.database is None for other in namesakes):
        _refuse_alias(relation, node)
    if namesakes:
        _make_distinct(relation, {*scope.relations, *_engine_aliases(namesakes)})
    scope.relations[relation.engine_alias] = relation


def qualified_relation(column: exp.Column, scope: Scope) -> Relation:
    """The relation that a column's qualifier names.

    Raises UndefinedTableError: there is none; ProgrammingError: several tables have the name.
    """
    nearer: list[Relation] = []
    for level in scope.chain():
        matches = _matching_relations(column, level)
        if len(matches) > 1:
            raise ambiguous_table(column, matches)
        nearer.extend(level.relations.values())
        if matches:
            _make_distinct(matches[0], _engine_aliases(s for s in nearer if s is not matches[0]))
            return matches[0]
    raise undefined_alias(column, scope)


def struct_field(column: exp.Column, scope: Scope) -> FieldBinding | None:
    """The struct's field that a qualified name means; the struct is used then. None for no field.

    `s.a`, `q.s.a`, `s.a.b` and `q.s.a.b` may be one; what could name a table's column does that.
    Only queries compute structs. Raises ProgrammingError: several relations have a column of the
    struct's name.
    """
    first, *rest = parts = column.parts
    name = first.name.lower()
    for level in scope.chain():
        if _matching_relations(column, level):
            return None
        relation = next((s for s in level.visible() if s.alias == name), None)
        if relation is not None:
            return _field_of([relation], rest)
        owners = level.relations_with(name)
        if len(owners) > 1 and name not in level.merged:
            raise ambiguous(exp.Column(this=first.copy()), owners)
        if owners:
            return _field_of(owners, parts)
    return None


def _field_of(relations: list[Relation], parts: Sequence[exp.Expr]) -> FieldBinding | None:
    """The field that is reached from a column of relations, if there can be one."""
    struct, *path = parts
    name = struct.name.lower()
    are_derived = all(isinstance(s, DerivedTable) and name in s.all_names() for s in relations)
    if not (are_derived and path):
        return None
    for relation in relations:
        check_ambiguous(name, relation, struct)
        relation.use(name)
    return FieldBinding(tuple((each, name) for each in relations), tuple(path))


def column_of(relation: Relation, name: str, scope: Scope) -> exp.Column:
    """A column of a relation, qualified so that it is unambiguous in the scope."""
    shared = sum(other.alias == relation.alias for other in scope.relations.values()) > 1
    return exp.column(name, table=relation.alias, db=relation.database if shared else None)


def _matching_relations(column: exp.Column, scope: Scope) -> list[Relation]:
    """The relations of one query that a qualifier fits."""
    if column.args.get("catalog") is not None:
        return []
    table, database = column.table.lower(), column.db.lower()
    return [
        relation
        for relation in scope.visible()
        if relation.alias == table and database in ("", relation.database)
    ]


def _engine_aliases(relations: Iterable[Relation]) -> set[str]:
    return {relation.engine_alias for relation in relations}


def _make_distinct(relation: Relation, used: Set[str]) -> None:
    """Give a relation a name of its own in the engine's SQL, if its name is taken."""
    if relation.engine_alias in used:
        alias = f"{relation.database}.{relation.alias}"
        while alias in used:
            alias += "'"
        relation.rename(alias)


def _refuse_alias(relation: Relation, node: exp.Expr) -> None:
    raise ProgrammingError(
        f"table name '{relation.alias}' is given twice",
        hint="give one of them an alias",
        span=node_span(node),
        sqlstate="42712",
    )
