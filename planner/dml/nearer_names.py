"""Names without a qualifier in expressions over two relations of which one comes first.

Such a name means a column of the nearer relation wherever that has one, also within a subquery that
has none of the name itself. To see what each name means, the expressions are bound in a query over
the nearer relation that stands in one over the other.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery, binding_of
from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.bind.relations import Scope
from pykudu_sql.planner.dml.default_values import is_default
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of

_PLACE = "pykudu_place"  # in the meta of a name: its number


@dataclass(frozen=True, eq=False, slots=True)
class BoundExpressions:
    """Copies of expressions, bound.

    Attributes:
        tree: the query over the nearer relation, with the copies as its list.
        bound: the query around it.
        nearer, other: the relations of both.
    """

    tree: exp.Select
    bound: BoundQuery
    nearer: Scope
    other: Scope


def set_values(items: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """The values of a SET clause, without DEFAULT."""
    for item in items:
        if isinstance(item, exp.EQ):
            yield from row_values(item.expression)


def row_values(value: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions of one value or of several in parentheses, without DEFAULT."""
    for each in value.expressions if isinstance(value, exp.Tuple) else [value]:
        if not is_default(each):
            yield each


def bind_nearer(
    nodes: Sequence[exp.Expr],
    nearer: exp.Expr,
    other: exp.Expr,
    ctes: exp.With | None,
    context: PlanContext,
) -> BoundExpressions:
    """Bind copies of expressions.

    Args:
        nodes: the expressions; each name without a qualifier in them gets a number.
        nearer, other: items of a FROM clause.
        ctes: the statement's WITH clause.
        context: tables and time.

    Raises UndefinedTableError, UndefinedColumnError, ProgrammingError: see `bind`.
    """
    for place, column in enumerate(_unqualified(nodes)):
        column.meta[_PLACE] = place
    entries = [_as_entry(node.copy()) for node in nodes] or [exp.Literal.number(1)]
    tree = exp.Select(expressions=entries, from_=exp.From(this=nearer.copy()))
    around = exp.Select(
        expressions=[exp.Literal.number(1)],
        from_=exp.From(this=other.copy()),
        where=exp.Where(this=exp.Exists(this=tree)),
        with_=ctes.copy() if ctes else None,
    )
    bound = bind(around, context)
    return BoundExpressions(tree, bound, bound.scope_of(tree), bound.scope_of(around))


def qualify_nearer(
    nodes: Sequence[exp.Expr], expressions: BoundExpressions, name: CorrelationName
) -> None:
    """Qualify the names that mean columns of the nearer relation, in place.

    `nodes`: as for `bind_nearer`, which gave `expressions`; `name`: of that relation.
    """
    meant = set()
    for column in nodes_of(expressions.tree, exp.Column):
        binding, place = binding_of(column), column.meta_get(_PLACE)
        if (
            place is not None
            and binding is not None
            and binding.relation in expressions.nearer.relations
            and not _is_hidden(column, expressions, name)
        ):
            meant.add(place)
    for column in list(_unqualified(nodes)):
        if column.meta.pop(_PLACE, None) in meant:
            name.qualify(column)


def _unqualified(nodes: Sequence[exp.Expr]) -> Iterator[exp.Column]:
    for node in nodes:
        for column in nodes_of(node, exp.Column):
            if not column.table:
                yield column


def _as_entry(node: exp.Expr) -> exp.Expr:
    """An expression as an entry of a SELECT list, be it a query of several columns."""
    return exp.Exists(this=node.this) if isinstance(node, exp.Subquery) else node


def _is_hidden(column: exp.Column, expressions: BoundExpressions, name: CorrelationName) -> bool:
    """Whether a subquery in which a name stands has a relation of that name itself."""
    select = column.find_ancestor(exp.Select)
    while select is not None and select is not expressions.tree:
        relations = expressions.bound.scope_of(select).relations
        if any(relation.alias == name.alias.lower() for relation in relations):
            return True
        select = select.find_ancestor(exp.Select)
    return False
