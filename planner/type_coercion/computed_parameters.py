"""Numbers computed from parameters that meet decimals: what to ask about them at each run.

Their types are known with the parameters only. The engine then finds one type of 38 digits for
them and the decimals that they are compared with, or become one value with, and rounds where that
has not all digits; see `ComputedNumbers`.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import columns_of
from pykudu_sql.planner.functions.exact_literals import type_literals
from pykudu_sql.planner.functions.parameter_literals import parameter_key
from pykudu_sql.planner.operands.value import ComputedNumbers, ParameterKey
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.type_coercion.exact_decimals import COMPARISONS, compared
from pykudu_sql.planner.types.engine_types import digits_of_type, is_decimal, typed_null, united
from pykudu_sql.planner.types.expression_types import ExpressionTypes, holds_decimals
from pykudu_sql.planner.types.origins import alternatives, leaves, origins, projections_of

_COMPARING = (*COMPARISONS, exp.Nullif)
# What has the same type for all values of the same types; ROUND has not, by its second argument.
_FOLLOWING = (
    *(exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod, exp.Abs),
    *(exp.Case, exp.If, exp.Coalesce, exp.Greatest, exp.Least, exp.Nullif, exp.Cast),
)
_MOST_DEPTH = 20  # of subqueries within subqueries that are looked into


def computed_numbers(
    nodes: Sequence[exp.Expr], types: ExpressionTypes
) -> tuple[ComputedNumbers, ...]:
    """What a query computes from parameters and makes one with decimals, or compares with them.

    `nodes`: of its tree, as the engine is to have it otherwise.
    """
    derived = (_computed(each, types) for node in nodes for each in _together(node, types))
    return tuple(dict.fromkeys(each for each in derived if each is not None))


def _together(node: exp.Expr, types: ExpressionTypes) -> Iterator[list[exp.Expr]]:
    """The operands of a node that get one type in the engine."""
    match node:
        case exp.SetOperation():
            lists = [_selected(side, types) for side in _sides(node)]
            yield from map(list, zip(*lists, strict=False))
        case exp.Values():
            rows = [row.expressions for row in node.expressions if isinstance(row, exp.Tuple)]
            yield from map(list, zip(*rows, strict=False))
        case _ if isinstance(node, _COMPARING):
            yield list(compared(node))
        case _:
            yield alternatives(node)
    if isinstance(node, exp.Case):
        yield alternatives(node)


def _sides(node: exp.SetOperation) -> Iterator[exp.Expr]:
    for side in (node.left, node.right):
        if isinstance(side, exp.SetOperation):
            yield from _sides(side)
        else:
            yield side


def _selected(side: exp.Expr, types: ExpressionTypes) -> list[exp.Expr]:
    """The columns of a query; NULLs of their types where its list does not show each."""
    query = side.unnest() if isinstance(side, exp.Subquery) else side
    columns = types.of_columns(side) or types.of_columns(query)
    items = query.expressions if isinstance(query, exp.Select) else []
    if len(items) == len(columns) and not any(each.is_star for each in items):
        return list(items)
    return [typed_null(name) for _, name in columns]


def _computed(operands: Sequence[exp.Expr], types: ExpressionTypes) -> ComputedNumbers | None:
    if len(operands) < 2 or not any(map(holds_decimals, operands)):
        return None
    decimals, computed = [], []
    for operand in operands:
        name = types.name(operand)
        digits = digits_of_type(name) if is_decimal(name) else None
        if digits is not None:
            decimals.append(digits)
        elif name is None and not isinstance(operand, exp.Placeholder):
            copied = _typed(operand.unalias(), types)
            if copied is not None and copied.find(exp.Placeholder):
                computed.append(copied)
    if not decimals or not computed:
        return None
    keys: list[ParameterKey] = []
    follows = True
    for node in computed:
        for placeholder in nodes_of(node, exp.Placeholder):
            keys.append(parameter_key(placeholder))
            placeholder.set("this", str(len(keys)))
            follows = follows and _follows(placeholder)
    items = ", ".join(f"typeof({to_sql(type_literals(each))})" for each in computed)
    together = united(decimals)
    return ComputedNumbers(
        f"SELECT [{items}]", tuple(keys), together.whole, together.scale, follows
    )


def _follows(placeholder: exp.Expr) -> bool:
    """Whether what is computed from a parameter has a type by the parameter's."""
    node = placeholder
    while node.parent is not None:
        is_rounded = isinstance(node.parent, exp.Round) and node.arg_key == "this"
        if not (is_rounded or isinstance(node.parent, _FOLLOWING)):
            return False
        node = node.parent
    return True


def _typed(node: exp.Expr, types: ExpressionTypes, depth: int = 0) -> exp.Expr | None:
    """An expression with NULL for all but parameters; None if the type of a part is not known."""
    if isinstance(node, exp.Column | exp.Query):
        source = _projected(node)
        return None if source is None or depth > _MOST_DEPTH else _typed(source, types, depth + 1)
    typed = exp.paren(node.copy(), copy=False)
    for leaf in list(leaves(typed.this)):
        if isinstance(leaf, exp.Placeholder):
            continue
        name = types.name(leaf)
        part = _typed(leaf, types, depth) if name is None else typed_null(name)
        if part is None:
            return None
        leaf.replace(part)
    return typed


def _projected(node: exp.Expr) -> exp.Expr | None:
    """The one expression that a column of a subquery, or a subquery itself, shows."""
    columns = columns_of(node)
    sources = origins(columns[0].projections if columns else projections_of(node))
    only = sources[0] if len(sources) == 1 else None
    return only.unalias() if isinstance(only, exp.Expr) else None
