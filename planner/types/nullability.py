"""Whether an expression of a bound query may be NULL, by the catalog and the joins.

Cautious: what is not known never to be NULL may be.
"""

from collections.abc import Set

from sqlglot import exp

from pykudu_sql.planner.bind.relations import Projections, Relation, TableReference
from pykudu_sql.planner.types.origins import alternatives, projections_of

# What is NULL only where an operand is.
_STRICT = (
    *(exp.Paren, exp.Alias, exp.Neg, exp.Abs, exp.Add, exp.Sub, exp.Mul, exp.DPipe, exp.Cast),
    *(exp.Not, exp.Between, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.Upper, exp.Lower, exp.Length),
)
_NEVER_NULL = (
    *(
        exp.Literal,
        exp.Boolean,
        exp.DataType,
        exp.Identifier,
        exp.Is,
        exp.Exists,
        exp.NullSafeEQ,
        exp.NullSafeNEQ,
    ),
    *(exp.Count, exp.RowNumber),
)


def is_nullable(node: exp.Expr, absent: Set[Relation]) -> bool:
    """Whether an expression may be NULL.

    `absent`: the relations in place of whose rows an outer join may put NULLs.
    """
    if isinstance(node, exp.Column):
        return _is_rolled_up(node) or may_be_null(projections_of(node), absent)
    if isinstance(node, exp.Coalesce):
        return all(is_nullable(each, absent) for each in alternatives(node))
    if isinstance(node, exp.Connector):
        return any(is_nullable(each, absent) for each in node.flatten())
    if isinstance(node, _STRICT) and not isinstance(node, exp.TryCast):
        operands = (
            each for each in node.iter_expressions() if not isinstance(each, exp.Identifier)
        )
        return any(is_nullable(each, absent) for each in operands)
    return not isinstance(node, _NEVER_NULL)


def may_be_null(projections: Projections, absent: Set[Relation]) -> bool:
    """Whether what shows some expressions or columns of relations may be NULL.

    `absent`: see `is_nullable`.
    """
    return not projections or any(
        is_nullable(each, absent)
        if isinstance(each, exp.Expr)
        else _is_nullable_column(*each, absent)
        for each in projections
    )


def _is_rolled_up(column: exp.Column) -> bool:
    """Whether a column may be a key that some groups are made without."""
    select = column.find_ancestor(exp.Select)
    group = None if select is None else select.args.get("group")
    return group is not None and group.find(exp.GroupingSets, exp.Rollup, exp.Cube) is not None


def _is_nullable_column(relation: Relation, name: str, absent: Set[Relation]) -> bool:
    if relation in absent:
        return True
    if isinstance(relation, TableReference):
        return relation.column(name).may_show_null
    column = relation.column(name)
    return column is None or may_be_null(column.projections, absent)
