"""Qualifiers of columns: a relation of the query, or a struct that it computes.

`a.c` is a column of the relation with the alias `a`, or the own name `a`, in the nearest query that
has one. `d.a.c` is one of a table or view that stands in FROM without an alias and belongs to the
database `d`; so two tables of one name can stand side by side, and a table can be named from a
subquery that reads another of its name. There the engine's SQL calls one of them otherwise.
"""

from collections.abc import Sequence, Set
from dataclasses import replace

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


class EngineAliases:
    """What the engine's SQL calls relations, where that is not what the statement calls them.

    `names`: the others have their alias.
    """

    def __init__(self) -> None:
        self.names: dict[Relation, str] = {}

    def of(self, relation: Relation) -> str:
        """The name of a relation in the engine's SQL."""
        return self.names.get(relation, relation.alias)

    def distinguish_nearer(self, relation: Relation, scope: Scope) -> None:
        """Give a relation that a scope can name a name that no nearer one has."""
        used: set[str] = set()
        for level in scope.chain():
            used.update(self.of(each) for each in level.relations if each is not relation)
            if relation in level.relations:
                break
        self.distinguish(relation, used)

    def distinguish(self, relation: Relation, used: Set[str]) -> None:
        """Give a relation a name of its own in the engine's SQL, if its name is taken."""
        if self.of(relation) not in used:
            return
        database = relation.database
        alias = relation.alias if database is None else f"{database}.{relation.alias}"
        while alias in used:
            alias += "'"
        self.names[relation] = alias
        if isinstance(relation, DerivedTable) and relation.node is not None:
            _set_alias(relation.node, alias)


def _set_alias(node: exp.Expr, alias: str) -> None:
    """Name an item of a FROM clause, the names of its columns as they are."""
    alias_node = node.args.get("alias") or exp.TableAlias()
    alias_node.set("this", exp.to_identifier(alias, quoted=True))
    node.set("alias", alias_node)


def add_relation(
    scope: Scope, relation: Relation, node: exp.Expr, engine_aliases: EngineAliases
) -> Scope:
    """A scope with what an item of a FROM clause brings in.

    Args:
        scope: without it.
        relation: to be added.
        node: the item, and the statement it stands in, for positions in errors.
        engine_aliases: of the statement; the relation gets one if a namesake is there.

    Raises ProgrammingError: another has its alias, and no database distinguishes them.
    """
    namesakes = [other for other in scope.relations if other.alias == relation.alias]
    if relation.database in (None, *(other.database for other in namesakes)) and namesakes:
        _refuse_alias(relation, node)
    if any(other.database is None for other in namesakes):
        _refuse_alias(relation, node)
    if namesakes:
        used = {relation.alias, *map(engine_aliases.of, scope.relations)}
        engine_aliases.distinguish(relation, used)
    return replace(scope, relations=(*scope.relations, relation))


def qualified_relation(column: exp.Column, scope: Scope) -> Relation:
    """The relation that a column's qualifier names.

    Raises UndefinedTableError: there is none; ProgrammingError: several tables have the name.
    """
    for level in scope.chain():
        matches = _matching_relations(column, level)
        if len(matches) > 1:
            raise ambiguous_table(column, matches)
        if matches:
            return matches[0]
    raise undefined_alias(column, scope)


def struct_field(column: exp.Column, scope: Scope) -> FieldBinding | None:
    """The struct's field that a qualified name means; None for no field.

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
        owners, is_one = level.owners(name)
        if owners and not is_one:
            raise ambiguous(exp.Column(this=first.copy()), owners)
        if owners:
            return _field_of(owners, parts)
    return None


def _field_of(relations: Sequence[Relation], parts: Sequence[exp.Expr]) -> FieldBinding | None:
    """The field that is reached from a column of relations, if there can be one."""
    struct, *path = parts
    name = struct.name.lower()
    are_derived = all(isinstance(s, DerivedTable) and name in s.all_names() for s in relations)
    if not (are_derived and path):
        return None
    for relation in relations:
        check_ambiguous(name, relation, struct)
    return FieldBinding(tuple((each, name) for each in relations), tuple(path))


def column_of(relation: Relation, name: str, scope: Scope) -> exp.Column:
    """A column of a relation, qualified so that it is unambiguous in the scope."""
    shared = sum(other.alias == relation.alias for other in scope.relations) > 1
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


def _refuse_alias(relation: Relation, node: exp.Expr) -> None:
    raise ProgrammingError(
        f"table name '{relation.alias}' is given twice",
        hint="give one of them an alias",
        span=node_span(node),
        sqlstate="42712",
    )
