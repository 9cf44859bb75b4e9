"""Comparisons of number columns, exact in all of their 38 digits, whatever they meet.

The engine reads a number of more than 38 digits as a double, and compares two decimals in a type
of 38 digits that may not have all values of both. Where a column is compared with what would need
more (a literal, a parameter, another column), both sides are compared as texts that sort as they
do; see `decimal_values`. Conditions have been pushed into scans before, where cells are integers.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, source_of
from pykudu_sql.planner.bind.constant import Constant, constant
from pykudu_sql.planner.bind.sources import stored_type
from pykudu_sql.planner.functions.decimal_values import (
    BEYOND,
    EXACT,
    KEY_DIGITS,
    MAX_DIGITS,
    Digits,
    digits_of,
    digits_of_number,
    exact_number,
    is_wide,
    sort_key,
)
from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.types import DataType, Kind

MEETS = "pykudu_meets"  # in the meta of a parameter: the type of what it is compared with
_COMPUTED = DataType(Kind.DOUBLE)  # what is computed takes a number that no type has as a double
_TYPE = "pykudu_number_type"
_NUMBER = "pykudu_number"
_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between),
)


def mark_numbers(tree: exp.Expr, bound: BoundQuery, context: PlanContext) -> None:
    """Note the types of the number columns that are compared, and the constants beside them.

    Args:
        tree: of a bound query.
        bound: what binding it found.
        context: for what constants stand for.
    """
    for node in tree.walk():
        if not isinstance(node, _COMPARISONS):
            continue
        operands = list(_operands(node))
        types = [_stored(each, bound) for each in operands]
        wide = any(found is not None and is_wide(found) for found in types)
        for operand, found in zip(operands, types, strict=True):
            if found is not None:
                operand.meta[_TYPE] = found
            elif any(types) and (number := _number(operand, wide, context)) is not None:
                operand.meta[_NUMBER] = number


def compare_exactly(tree: exp.Expr) -> None:
    """Rewrite the comparisons of number columns that the engine would not make exactly.

    Args:
        tree: with the notes of `mark_numbers`, as the engine is to have it otherwise; changed in
            place.
    """
    for node in list(tree.walk()):
        if isinstance(node, _COMPARISONS):
            _rewrite(node)


def noted_numbers(tree: exp.Expr) -> Iterator[str]:
    """What `mark_numbers` noted, each operand with its type or value."""
    for node in tree.walk():
        note = node.meta_get(_TYPE, node.meta_get(_NUMBER))
        if note is not None:
            yield f"{display(node)} is {note}"


def _rewrite(node: exp.Expr) -> None:
    operands = list(_operands(node))
    types = {id(e): e.meta[_TYPE] for e in operands if _TYPE in e.meta}
    numbers = {id(e): e.meta[_NUMBER] for e in operands if _NUMBER in e.meta}
    parameters = [each for each in operands if isinstance(each, exp.Placeholder)]
    if not types or len(operands) < 2:
        for each in parameters:
            each.meta[MEETS] = _COMPUTED
        return
    widest = max(types.values(), key=lambda found: (is_wide(found), found.width))
    for each in parameters:
        each.meta[MEETS] = widest
    found = [digits for each in types.values() if (digits := digits_of(each)) is not None]
    if parameters:
        found = [each.with_neighbours() for each in found]
    found += [digits_of_number(number) for number in numbers.values()]
    is_known = all(id(e) in types or id(e) in numbers or _is_free(e) for e in operands)
    if is_known and not _fit_together(found):
        _compare_keys(operands, types, numbers, parameters)


def _compare_keys(
    operands: Sequence[exp.Expr],
    types: Mapping[int, DataType],
    numbers: Mapping[int, Decimal],
    parameters: Sequence[exp.Expr],
) -> None:
    whole = DataType(next(iter(types.values())).kind, precision=MAX_DIGITS)
    for each in parameters:
        each.meta[MEETS] = whole
    for operand in operands:
        if id(operand) in types:
            operand.replace(_key_of_column(operand, types[id(operand)]))
        elif id(operand) in numbers:
            operand.replace(exp.Literal.string(sort_key(numbers[id(operand)])))


def _operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a comparison compares."""
    if isinstance(node, exp.In):
        found = [] if node.args.get("query") else [node.this, *node.expressions]
    elif isinstance(node, exp.Between):
        found = [node.this, node.args["low"], node.args["high"]]
    else:
        found = [node.this, node.expression]
    for each in found:
        while isinstance(each, exp.Paren):
            each = each.this
        yield each


def _stored(node: exp.Expr, bound: BoundQuery) -> DataType | None:
    """The type of a stored column of exact numbers."""
    if not isinstance(node, exp.Column):
        return None
    found = stored_type(source_of(node), node.name.lower())
    return None if found is None or digits_of(found) is None else found


def _number(node: exp.Expr, wide: bool, context: PlanContext) -> Decimal | None:
    """The number that a constant is; one that has to be computed only beside a wide column."""
    written = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(written, exp.Literal) and not wide:
        return None
    if isinstance(written, exp.Literal) and not written.is_string:
        text = str(written.this)
        if "e" in text.lower():
            return None
        number = Decimal(text)
        return number.copy_negate() if written is not node else number
    found = constant(node, context)
    return exact_number(found.value) if isinstance(found, Constant) else None


def _fit_together(found: Sequence[Digits]) -> bool:
    """Whether one type of the engine has all the values of some."""
    together = Digits(max(each.whole for each in found), max(each.scale for each in found))
    return together.fits_beside(together)


def _is_free(node: exp.Expr) -> bool:
    """Whether an operand takes the type of the others."""
    return isinstance(node, exp.Placeholder | exp.Null)


def _key_of_column(column: exp.Expr, data_type: DataType) -> exp.Expr:
    """The key of `decimal_values.sort_key` of a column's values; NULL of NULL."""
    point, nothing = exp.Literal.string("."), exp.Literal.string("")
    digits = _call("replace", exp.cast(column.copy(), "text"), point, nothing)
    units, unit = exp.cast(digits, "int128"), _integer(10**data_type.scale)
    whole = exp.paren(exp.IntDiv(this=units, expression=unit), copy=False)
    rest = exp.paren(exp.Mod(this=units.copy(), expression=unit.copy()), copy=False)
    scaled = _integer(10 ** (MAX_DIGITS - data_type.scale))
    behind = exp.paren(exp.Mul(this=rest, expression=scaled), copy=False)
    negative = exp.LT(this=units.copy(), expression=_integer(0))
    far = [exp.Add(this=_integer(BEYOND), expression=part.copy()) for part in (whole, behind)]
    return exp.Case(
        ifs=[exp.If(this=negative, true=_key("0", far))], default=_key("1", [whole, behind])
    )


def _key(sign: str, parts: Sequence[exp.Expr]) -> exp.Expr:
    zero, width = exp.Literal.string("0"), _integer(KEY_DIGITS)
    padded = [_call("lpad", exp.cast(p, "text"), width.copy(), zero.copy()) for p in parts]
    pieces = [exp.Literal.string(sign), *padded, exp.Literal.string(str(EXACT))]
    return exp.paren(
        reduce(lambda left, right: exp.DPipe(this=left, expression=right), pieces), copy=False
    )


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _integer(value: int) -> exp.Expr:
    return exp.Literal.number(str(value))
