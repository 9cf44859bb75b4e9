"""Errors of undefined and ambiguous names, with the position and a suggestion."""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.relations import UNNAMED_SUBQUERY, DerivedTable, Relation, Scope
from pykudu_sql.planner.functions.output_names import is_ambiguous
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.vocabulary.foreign_functions import FOREIGN_VALUES
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.errors import (
    ProgrammingError,
    UndefinedColumnError,
    UndefinedTableError,
)

_UNNAMED = "a subquery without an alias"


def unresolved(column: exp.Column, scope: Scope) -> UndefinedColumnError:
    """The error for an unqualified column that no relation has."""
    name = column.name.lower()
    relations = [relation for f in scope.chain() for relation in f.visible()]
    candidates = [n for relation in relations for n in relation.column_names()]
    error = undefined_column(name, candidates, node_span(column))
    if not column.table:
        error.hint = FOREIGN_VALUES.get(name, error.hint)
        error.hint = next((_of_table(r) for r in relations if r.alias == name), error.hint)
    if column.this.args.get("quoted"):
        near_name = f"; {error.hint}" if "did you mean" in (error.hint or "") else ""
        error.hint = (
            f"strings are written with single quotes, double quotes name columns{near_name}"
        )
    return error


def _of_table(relation: Relation) -> str:
    """What to write where a query names a whole row of a relation."""
    names = relation.column_names()
    example = f", such as {relation.alias}.{names[0]}" if names else ""
    return f"'{relation.alias}' is a table of this query: name columns of it{example}"


def ambiguous(column: exp.Column, relations: Iterable[Relation]) -> ProgrammingError:
    """The error for an unqualified column that several relations have."""
    name = column.name.lower()
    owners = [_label(relation) for relation in relations]
    return ProgrammingError(
        f"column '{name}' is ambiguous: {' and '.join(owners)} have one",
        hint=f"write {_qualifier(owners)}.{name}",
        span=node_span(column),
        sqlstate="42702",
    )


def check_ambiguous(name: str, relation: Relation, node: exp.Expr) -> None:
    """Refuse a name that several columns of one relation have; `node`: has the name.

    Raises ProgrammingError: it is one.
    """
    if isinstance(relation, DerivedTable) and is_ambiguous(name, relation.column_names()):
        raise repeated(name, node, f"several columns of {_label(relation)} have the name")


def repeated(
    name: str,
    node: exp.Expr,
    reason: str = "several entries of the SELECT list have the name",
) -> ProgrammingError:
    """The error for a name that is given to several columns."""
    return ProgrammingError(
        f"column '{name}' is ambiguous: {reason}",
        hint="give each an alias of its own: SELECT a AS x, b AS y",
        span=node_span(node),
        sqlstate="42702",
    )


def undefined_alias(column: exp.Column, scope: Scope) -> UndefinedTableError:
    """The error for a qualifier that is no relation of the query."""
    alias = ".".join(part.name.lower() for part in column.parts[:-1])
    labels = [_label(relation) for f in scope.chain() for relation in f.visible()]
    aliases = [label for label in labels if label != _UNNAMED]
    hint = near(alias, aliases) or (f"tables are {', '.join(aliases)}" if aliases else None)
    if column.is_star and any(f.relations_with(alias) for f in scope.chain()):
        hint = f"'{alias}' is a column; the fields of a struct are named one by one: {alias}.a"
    return UndefinedTableError(
        f"'{alias}' is no table of this query",
        hint=hint,
        span=node_span(column.args["table"]),
    )


def ambiguous_table(column: exp.Column, relations: Iterable[Relation]) -> ProgrammingError:
    """The error for a qualifier that several tables of a query have as their name."""
    labels = [_label(relation) for relation in relations]
    return ProgrammingError(
        f"table '{column.table.lower()}' is ambiguous: {' and '.join(labels)} have the name",
        hint=f"write {_qualifier(labels)}.{column.name.lower()}",
        span=node_span(column.args["table"]),
        sqlstate="42P09",
    )


def _label(relation: Relation) -> str:
    """A relation as a qualifier names it in full, or what it is if it has no name."""
    if relation.alias.startswith(UNNAMED_SUBQUERY):
        return _UNNAMED
    if not relation.alias:
        return "the query"
    if relation.database in (None, DEFAULT_DATABASE):
        return relation.alias
    return f"{relation.database}.{relation.alias}"


def _qualifier(labels: Sequence[str]) -> str:
    """The first of some relations that has a name; an alias to give, if none has."""
    return next((label for label in labels if label != _UNNAMED), "alias")


def with_position(error: UndefinedTableError, node: exp.Expr) -> UndefinedTableError:
    """An error of the catalog with the place of the name in the statement."""
    name = node.name.lower() if isinstance(node, exp.Table) and not node.db else None
    cte = node.find_ancestor(exp.CTE)
    while cte is not None and cte.alias.lower() != name:
        cte = cte.find_ancestor(exp.CTE)
    hint = error.hint if cte is None else f"WITH RECURSIVE {cte.alias} .. may read itself"
    return UndefinedTableError(error.message, hint=hint, span=node_span(node))
