"""Which columns a query compares its parameters with, and which it assigns them to."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import binding_of, receiver_of
from pykudu_sql.planner.bind.constant import parameter_key
from pykudu_sql.planner.plan.value import Parameter
from pykudu_sql.planner.query.exact_decimals import COMPARISONS, compared

_OF_THE_SAME_TYPE = (exp.Max, exp.Min, exp.AnyValue, exp.First, exp.Last, exp.Paren)


def compared_parameters(tree: exp.Expr) -> tuple[Parameter, ...]:
    """The parameters of a query that stand beside stored columns, each with each of these.

    Args:
        tree: of a bound query, its columns not yet replaced.
    """
    pairs: dict[Parameter, None] = {}
    for node in tree.walk():
        if isinstance(node, COMPARISONS):
            pairs.update(dict.fromkeys(_pairs(list(compared(node)))))
    return tuple(pairs)


def assigned_parameters(tree: exp.Expr) -> tuple[Parameter, ...]:
    """The parameters of a query that become cells of columns, with these."""
    noted = map(receiver_of, tree.find_all(exp.Placeholder))
    return tuple(dict.fromkeys(each for each in noted if each is not None))


def _pairs(operands: Sequence[exp.Expr]) -> Iterator[Parameter]:
    rows = [each.expressions for each in operands if isinstance(each, exp.Tuple)]
    if rows and len(rows) == len(operands) and len(set(map(len, rows))) == 1:
        for values in zip(*rows, strict=True):
            yield from _pairs(values)
        return
    keys = [parameter_key(each) for each in operands if isinstance(each, exp.Placeholder)]
    for operand in operands if keys else ():
        column = operand
        while isinstance(column, _OF_THE_SAME_TYPE):
            column = column.this
        binding = binding_of(column) if isinstance(column, exp.Column) else None
        if binding is not None and binding.type is not None:
            for key in keys:
                yield Parameter(key, binding.type, binding.name)
