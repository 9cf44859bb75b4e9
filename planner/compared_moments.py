"""What a query compares with TIMESTAMPs: literals become UTC, parameters are noted for the same.

See `planner.zoned_text`. A parameter's value is turned when it is known.
"""

from collections.abc import Iterator, Mapping

from sqlglot import exp

from pykudu_sql.planner.constant import parameter_key
from pykudu_sql.planner.long_list import turn_long_list
from pykudu_sql.planner.sources import Source, stored_type
from pykudu_sql.planner.value import ParameterKey
from pykudu_sql.planner.zoned_text import in_utc, is_timestamp, turn_literal
from pykudu_sql.storage.common.types import Kind

_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In),
)


def turn_moments(tree: exp.Expr, owners: Mapping[int, Source]) -> frozenset[ParameterKey]:
    """Rewrite the literals that are compared with a TIMESTAMP, or cast to one.

    Args:
        tree: a bound query, changed in place.
        owners: the source of each of its columns, by node identity.

    Returns:
        The parameters of such places.
    """
    met = set()
    for node in tree.walk():
        for written in _meant_as_moments(node, owners):
            if isinstance(written, exp.Placeholder):
                met.add(parameter_key(written))
            turn_literal(written)
            turn_long_list(written, in_utc)
    return frozenset(met)


def _meant_as_moments(node: exp.Expr, owners: Mapping[int, Source]) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Cast) and is_timestamp(node.to):
        yield _bare(node.this)
        return
    operands: list[exp.Expr] = []
    if isinstance(node, _COMPARISONS):
        operands = [_bare(operand) for operand in node.iter_expressions()]
    elif isinstance(node, exp.Case) and node.this is not None:
        operands = [_bare(node.this), *(_bare(branch.this) for branch in node.args["ifs"])]
    if any(_is_moment(operand, owners) for operand in operands):
        yield from operands


def _is_moment(node: exp.Expr, owners: Mapping[int, Source]) -> bool:
    if isinstance(node, exp.Cast):
        return is_timestamp(node.to)
    if not isinstance(node, exp.Column):
        return isinstance(node, exp.CurrentTimestamp)
    found = stored_type(owners.get(id(node)), node.name.lower())
    return found is not None and found.kind is Kind.UNIXTIME_MICROS


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node
