"""Which rows the clauses of MERGE may name: where one side has no row, its columns mean nothing.

WHEN NOT MATCHED has a row of the source only, WHEN NOT MATCHED BY SOURCE one of the table only. A
name without a qualifier means the side that is there. What else names the other side, also from
within a subquery, is refused: the join would answer NULL.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery, binding_of, field_of
from pykudu_sql.planner.bind.relations import Relation
from pykudu_sql.planner.dml.assignments import is_default
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
    values: list[exp.Expr] = []
    if isinstance(then, exp.Insert) and isinstance(then.expression, exp.Expr):
        values = [then.expression]
    elif isinstance(then, exp.Update):
        values = [node.expression for node in then.expressions if isinstance(node, exp.EQ)]
    for value in values:
        for each in value.expressions if isinstance(value, exp.Tuple) else [value]:
            if not is_default(each):
                yield each


def outermost_columns(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns of an expression that stand in none of its subqueries."""
    for part in node.walk(prune=lambda each: isinstance(each, exp.Query)):
        if isinstance(part, exp.Column):
            yield part


def check_side(
    whens: Sequence[exp.When], tables: exp.Select, absent: int, context: PlanContext
) -> None:
    """See that clauses of one kind do not name the side that has no row.

    Args:
        whens: the clauses, names without a qualifier already qualified.
        tables: SELECT without a list over the table and then the source; used up.
        absent: the place of that side in its FROM clause.

    Raises UndefinedTableError: they do; UndefinedColumnError, ProgrammingError: a name is unknown
    or ambiguous.
    """
    tables.set("expressions", [node.copy() for when in whens for node in expressions_of(when)])
    if not tables.expressions:
        return
    bound = bind(tables, context)
    scope = bound.scope_of(tables)
    absent_relations = scope.steps[absent].relations
    there = scope.steps[1 - absent].relations[0]
    for column, relation in _named(tables, bound):
        if relation in absent_relations:
            raise _absent(column, relation, there, absent)


def _named(tables: exp.Select, bound: BoundQuery) -> Iterator[tuple[exp.Column, Relation]]:
    """The columns of a query with the relations they belong to."""
    yield from bound.qualified
    for column in nodes_of(tables, exp.Column):
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
