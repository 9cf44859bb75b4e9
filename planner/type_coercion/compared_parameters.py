"""What a query compares its parameters with, and which columns it assigns them to.

A number of double precision, written with an exponent or passed as a parameter, is a FLOAT beside
FLOATs, as the engine makes of `0.1` what it is written beside: `f = ?` and `f = 0.1` mean the same.
One beyond all FLOATs stays what it is.
"""

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import binding_of, columns_of, field_of, receiver_of
from pykudu_sql.planner.bind.relations import OutputColumn
from pykudu_sql.planner.functions.decimal_values import nearest_float
from pykudu_sql.planner.functions.parameter_literals import is_double_parameter, parameter_key
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.tree_nodes import nodes_of, walk_once
from pykudu_sql.planner.type_coercion.exact_decimals import COMPARING, MEETS, compared
from pykudu_sql.planner.types.engine_types import (
    DOUBLE,
    FLOAT,
    cast_in_place,
    column_type,
    common_name,
    named_type,
)
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.planner.types.literal_types import literal_type, number
from pykudu_sql.planner.types.origins import origins, projections_of
from pykudu_sql.storage.common.types.types import DataType, Kind

_OF_THE_SAME_TYPE = (exp.Max, exp.Min, exp.AnyValue, exp.First, exp.Last, exp.Paren)
_OF_A_QUERY = (exp.Any, exp.All)
_PATTERNS = (
    *(exp.Like, exp.ILike, exp.Glob, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike),
    *(exp.RegexpFullMatch, exp.RegexpExtract, exp.StartsWith, exp.EndsWith, exp.Contains),
)
_NAMED_PATTERNS = frozenset({"prefix", "suffix"})
_LITERALS = (exp.Literal, exp.Null)  # they take the type of the others


def compared_parameters(nodes: Iterable[exp.Expr], types: ExpressionTypes) -> tuple[Parameter, ...]:
    """The parameters of a query that stand beside columns or computed values, each with each.

    Args:
        nodes: of a bound query's tree, its columns not yet replaced.
        types: of its expressions.
    """
    pairs: dict[Parameter, None] = {}
    for node in nodes:
        if isinstance(node, COMPARING):
            pairs.update(dict.fromkeys(_pairs(list(compared(node)), types)))
        elif texts := _searched(node):
            beside = _pairs(texts, types)
            pairs.update(dict.fromkeys(each for each in beside if each.type.is_text))
    return tuple(pairs)


def meet_floats(nodes: Iterable[exp.Expr], types: ExpressionTypes) -> bool:
    """Make FLOATs of the numbers of double precision that FLOATs are compared with.

    Args:
        nodes: those of `COMPARING` in a bound query's tree, which is changed in place.
        types: of its expressions.

    Returns:
        Whether a literal became a cast; parameters are only noted as such.
    """
    is_changed = False
    for node in nodes:
        operands = list(compared(node))
        doubles = [each for each in operands if _is_written_double(each)]
        if not doubles or not _meet_in_floats(operands, doubles, types):
            continue
        for each in doubles:
            if isinstance(each, exp.Placeholder):
                each.meta[MEETS] = DataType(Kind.FLOAT)
            elif _is_within_floats(each):
                cast_in_place(each, named_type(FLOAT))
                is_changed = True
    return is_changed


def _is_written_double(operand: exp.Expr) -> bool:
    """Whether an operand is a number of double precision by its writing, or can be by its value."""
    if isinstance(operand, exp.Placeholder) or is_double_parameter(operand):
        return True
    written = operand.this if isinstance(operand, exp.Neg) else operand
    return isinstance(written, exp.Literal) and literal_type(written) == DOUBLE


def _meet_in_floats(
    operands: Sequence[exp.Expr], doubles: Sequence[exp.Expr], types: ExpressionTypes
) -> bool:
    others = [each for each in operands if all(each is not double for double in doubles)]
    queries = [each.this if isinstance(each, _OF_A_QUERY) else each for each in others]
    return (
        common_name(
            [types.name(each) for each in queries], [types.digits(each) for each in queries]
        )
        == FLOAT
    )


def _is_within_floats(double: exp.Expr) -> bool:
    written = double.this if isinstance(double, exp.Neg | exp.Cast) else double
    value = float(written.name)
    return value != value or nearest_float(value) is not None


def assigned_parameters(placeholders: Iterable[exp.Placeholder]) -> tuple[Parameter, ...]:
    """The parameters of a query that become cells of columns, with these."""
    noted = map(receiver_of, placeholders)
    return tuple(dict.fromkeys(each for each in noted if each is not None))


def _searched(node: exp.Expr) -> list[exp.Expr]:
    """A text and what it is searched for, or the patterns it is matched with; nothing of others."""
    if isinstance(node, exp.StrPosition):
        return [node.this, node.args["substr"]]
    if isinstance(node, exp.Anonymous) and node.name.lower() in _NAMED_PATTERNS:
        return list(node.expressions[:2])
    if not isinstance(node, _PATTERNS):
        return []
    text, pattern = compared(node)
    if not isinstance(pattern, _OF_A_QUERY):
        return [text, pattern]
    items = pattern.this
    while isinstance(items, exp.Paren):
        items = items.this
    return [text, *(items.expressions if isinstance(items, exp.Tuple) else [items])]


def _pairs(operands: Sequence[exp.Expr], types: ExpressionTypes) -> Iterator[Parameter]:
    rows = [each.expressions for each in operands if isinstance(each, exp.Tuple)]
    if rows and len(rows) == len(operands) and len(set(map(len, rows))) == 1:
        for values in zip(*rows, strict=True):
            yield from _pairs(values, types)
        return
    keys = [parameter_key(each) for each in operands if isinstance(each, exp.Placeholder)]
    for operand in operands if keys else ():
        name, operand_type = _operand_type(operand, types)
        if operand_type is not None:
            for key in keys:
                yield Parameter(key, operand_type, name)


def _operand_type(operand: exp.Expr, types: ExpressionTypes) -> tuple[str, DataType | None]:
    """The name of the column that an operand is, empty of what is computed, and its type."""
    while isinstance(operand, _OF_THE_SAME_TYPE + _OF_A_QUERY):
        operand = operand.this
    binding = binding_of(operand) if isinstance(operand, exp.Column) else None
    if binding is not None and binding.type is not None:
        return binding.name, binding.type
    if isinstance(operand, _LITERALS) or number(operand) is not None or _has_parameter(operand):
        return "", None
    return "", column_type(types.name(operand))


def _has_parameter(operand: exp.Expr) -> bool:
    """Whether a parameter, of any type, is part of what an operand is computed from."""
    return any(
        not _columns_shown(node) and nodes_of(node, exp.Placeholder)
        for node in walk_once(operand, _sources)
    )


def _columns_shown(node: exp.Expr) -> Sequence[OutputColumn]:
    return columns_of(node) if isinstance(node, exp.Query) else ()


def _sources(node: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions that an operand, or the columns of a query, come from."""
    projections = [each.projections for each in _columns_shown(node)]
    for column in () if projections else nodes_of(node, exp.Column):
        field = field_of(column)
        projections.append(projections_of(column) if field is None else field.struct)
    for each in projections:
        yield from (origin for origin in origins(each) if isinstance(origin, exp.Expr))
