"""Texts of decimals that have no digits before the point: `0.50`, where the engine writes `.50`.

The engine writes a zero there as soon as the type has room for one, so such a decimal becomes one
of a digit more where a text is made of it: in casts, `||`, and what joins texts. A DECIMAL(38,38)
has no wider type; its text gets the zero.
"""

import re
from collections.abc import Iterable, Sequence

from sqlglot import exp
from sqlglot.errors import ParseError

from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.types.engine_types import cast_in_place, named_type
from pykudu_sql.planner.types.expression_types import ExpressionTypes, holds_decimals
from pykudu_sql.planner.vocabulary.function_names import function_names

WRITING = (exp.DPipe, exp.Func)  # classes of what may make texts of its operands
_JOINING = frozenset({"concat", "concat_ws", "group_concat", "listagg", "quote", "string_agg"})
_FRACTION = re.compile(r"DECIMAL\((\d+), ?\1\)")
_ZERO = (r"^(-?)\.", r"\10.")  # a pattern and what takes its place
_WIDEST = f"DECIMAL({MAX_DIGITS},{MAX_DIGITS})"


def write_zeros(nodes: Iterable[exp.Expr], types: ExpressionTypes) -> bool:
    """Let the engine write a digit before the point of each decimal; whether a node was changed.

    Args:
        nodes: those of `WRITING` in a bound query's tree, which is changed in place.
        types: of its expressions.
    """
    is_changed = False
    for node in nodes:
        for operand in filter(holds_decimals, _written(node)):
            name = types.name(operand)
            if name is not None and _FRACTION.search(name):
                is_changed |= _write_zero(operand, name)
    return is_changed


def _written(node: exp.Expr) -> Sequence[exp.Expr]:
    """Of what a node makes texts."""
    if isinstance(node, exp.DPipe):
        return (node.this, node.expression)
    if isinstance(node, exp.Cast):
        targets = nodes_of(node.to, exp.DataType)
        makes_texts = any(each.is_type(*exp.DataType.TEXT_TYPES) for each in targets)
        return (node.this,) if makes_texts else ()
    if isinstance(node, exp.Func) and not function_names(node).isdisjoint(_JOINING):
        operands = [node.args.get("this"), *node.expressions]
        return [part for each in operands if isinstance(each, exp.Expr) for part in _parts(each)]
    return ()


def _parts(operand: exp.Expr) -> Sequence[exp.Expr]:
    """Of `DISTINCT x ORDER BY x` both, which the engine wants to be the same."""
    if isinstance(operand, exp.Order):
        is_distinct = isinstance(operand.this, exp.Distinct)
        keys = [each.this for each in operand.expressions] if is_distinct else []
        return [*_parts(operand.this), *keys]
    return operand.expressions if isinstance(operand, exp.Distinct) else [operand]


def _write_zero(operand: exp.Expr, name: str) -> bool:
    wider = _FRACTION.sub(_with_a_digit, name)
    if wider != name:
        try:
            target = named_type(wider)
        except ParseError:  # rows whose columns have no names
            return False
        cast_in_place(operand, target)
    elif name == _WIDEST:
        around = exp.Paren(this=exp.null())
        operand.replace(around)
        arguments = [exp.cast(operand, exp.DType.TEXT), *map(exp.Literal.string, _ZERO)]
        around.set("this", exp.Anonymous(this="regexp_replace", expressions=arguments))
    else:
        return False
    return True


def _with_a_digit(match: re.Match[str]) -> str:
    digits = int(match[1])
    return match[0] if digits == MAX_DIGITS else f"DECIMAL({digits + 1},{digits})"
