"""Which rows the clauses of MERGE may name: where one side has no row, its columns mean nothing.

WHEN NOT MATCHED has a row of the source only, WHEN NOT MATCHED BY SOURCE one of the table only. A
name without a qualifier means the side that is there. What else names the other side, also from
within a subquery, is refused: the join would answer NULL.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, binding_of, field_of
from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.bind.relations import Relation
from pykudu_sql.planner.dml.nearer_names import (
    bind_nearer,
    qualify_nearer,
    row_values,
    set_values,
)
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import UndefinedTableError


def is_by_source(when: exp.When) -> bool:
    """Whether a clause is WHEN NOT MATCHED BY SOURCE."""
    return not when.args.get("matched") and bool(when.args.get("source"))


def is_by_target(when: exp.When) -> bool:
    """Whether a clause is WHEN NOT MATCHED [BY TARGET]."""
    return not when.args.get("matched") and not when.args.get("source")


def expressions_of(when: exp.When) -> Iterator[exp.Expr]:
    """The condition of a clause, and the values it sets or inserts; without DEFAULT."""
    if when.args.get("condition") is not None:
        yield when.args["condition"]
    then = when.args["then"]
    if isinstance(then, exp.Insert) and isinstance(then.expression, exp.Expr):
        yield from row_values(then.expression)
    elif isinstance(then, exp.Update):
        yield from set_values(then.expressions)


def settle_names(
    whens: Sequence[exp.When],
    tree: exp.Merge,
    absent: int,
    name: CorrelationName,
    context: PlanContext,
) -> None:
    """Qualify the names of clauses of one kind, which see one side only.

    Args:
        whens: the clauses; changed.
        tree: the statement.
        absent: 0 where the table has no row, 1 where the source has none.
        name: of the side that has one.

    Raises UndefinedTableError: they name the other side; UndefinedColumnError, ProgrammingError: a
    name is unknown or ambiguous.
    """
    nodes = [node for when in whens for node in expressions_of(when)]
    if not nodes:
        return
    sides = [tree.this, tree.args["using"]]
    ctes = tree.args.get("with_")
    expressions = bind_nearer(nodes, sides[1 - absent], sides[absent], ctes, context)
    qualify_nearer(nodes, expressions, name)
    absent_relations = expressions.other.relations
    for column, relation in _named(expressions.tree, expressions.bound):
        if relation in absent_relations:
            raise _absent(column, relation, expressions.nearer.relations[0], absent)


def _named(tree: exp.Select, bound: BoundQuery) -> Iterator[tuple[exp.Column, Relation]]:
    """The columns of a query with the relations they belong to."""
    yield from bound.qualified
    for column in nodes_of(tree, exp.Column):
        binding, field = binding_of(column), field_of(column)
        if field is not None:
            yield from ((column, relation) for relation, _ in field.struct)
        if binding is not None:
            yield column, binding.relation


def _absent(
    column: exp.Column, relation: Relation, there: Relation, absent: int
) -> UndefinedTableError:
    kind = "WHEN NOT MATCHED BY SOURCE" if absent else "WHEN NOT MATCHED"
    written = ".".join(part.name for part in column.parts)
    named = written if column.table else f"{relation.alias}.{written}"
    why = "the source has no row" if absent else "no row matched"
    return UndefinedTableError(
        f"'{named}' has no value where {why}",
        hint=f"{kind} can use columns of {there.alias}",
        span=node_span(column),
    )
