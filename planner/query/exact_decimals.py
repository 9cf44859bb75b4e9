"""Comparisons of numbers, exact in all of their 38 digits, whatever they meet.

The engine reads a number of more than 38 digits as a double, and compares two decimals in a type
of 38 digits that may not have all values of both: it fails then, or rounds one. Where numbers are
compared that would need more (columns, literals, parameters, what is computed, queries), both
sides are compared as integers of any length; see `decimal_values`. Conditions have been pushed
into scans before, where cells are integers.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, source_of
from pykudu_sql.planner.bind.constant import Constant, constant
from pykudu_sql.planner.bind.sources import stored_type
from pykudu_sql.planner.functions.decimal_values import (
    KEY_SCALE,
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
from pykudu_sql.planner.query.number_types import (
    COLUMNS,
    NumberTypes,
    cast_in_place,
    decimal_type,
    digits_of_type,
    fit_together,
    number,
)
from pykudu_sql.storage.common.types.types import DataType, Kind

MEETS = "pykudu_meets"  # in the meta of a parameter: the type of what it is compared with
_COMPUTED = DataType(Kind.DOUBLE)  # what is computed takes a number that no type has as a double
_WHOLE = DataType(Kind.DECIMAL, precision=MAX_DIGITS)
_TYPE = "pykudu_number_type"
_NUMBER = "pykudu_number"
_COMPARED = "__compared"
COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between, exp.Case),
)


def mark_numbers(tree: exp.Expr, bound: BoundQuery, context: PlanContext) -> None:
    """Note the types of the number columns that are compared, and the constants beside them.

    Args:
        tree: of a bound query.
        bound: what binding it found.
        context: for what constants stand for.
    """
    for node in tree.walk():
        if not isinstance(node, COMPARISONS):
            continue
        operands = list(compared(node))
        types = [_stored(each, bound) for each in operands]
        wide = any(found is not None and is_wide(found) for found in types)
        for operand, found in zip(operands, types, strict=True):
            if found is not None:
                operand.meta[_TYPE] = found
            elif any(types) and (value := _number(operand, wide, context)) is not None:
                operand.meta[_NUMBER] = value


def compare_exactly(tree: exp.Expr, types: NumberTypes | None) -> None:
    """Rewrite the comparisons of numbers that the engine would not make exactly.

    Args:
        tree: with the notes of `mark_numbers`, as the engine is to have it otherwise; changed in
            place.
        types: of expressions; None where only columns may need more digits than the engine has.
    """
    for node in list(tree.walk()):
        if isinstance(node, exp.Nullif) and types is not None:
            _write_out(node, types)
        elif isinstance(node, COMPARISONS):
            _rewrite(node, types)


def noted_numbers(tree: exp.Expr) -> Iterator[str]:
    """What `mark_numbers` noted, each operand with its type or value."""
    for node in tree.walk():
        note = node.meta_get(_TYPE, node.meta_get(_NUMBER))
        if note is not None:
            yield f"{display(node)} is {note}"


def _rewrite(node: exp.Expr, types: NumberTypes | None) -> None:
    operands = list(compared(node))
    if types is not None and not any(map(types.holds_decimals, operands)):
        types = None
    parameters = [each for each in operands if isinstance(each, exp.Placeholder)]
    stored = [each.meta[_TYPE] for each in operands if _TYPE in each.meta]
    numbers = {id(e): value for e in operands if (value := _constant(e, types)) is not None}
    digits = {id(e): found for e in operands if (found := _digits(e, types)) is not None}
    known = [each for key, each in digits.items() if key not in numbers]
    is_known = all(id(e) in digits or _is_free(e) for e in operands)
    for each in parameters:
        each.meta[MEETS] = _met(stored, known) if is_known else _COMPUTED
    if not known or len(operands) < 2 or not is_known:
        return
    if parameters:
        known = [each.with_neighbours() for each in known]
    if not fit_together([*known, *map(digits_of_number, numbers.values())]):
        _compare_keys(operands, digits, numbers)


def _digits(operand: exp.Expr, types: NumberTypes | None) -> Digits | None:
    """The digits of an operand; None if it is no exact number, or not known to be one."""
    query = _compared_query(operand)
    if query is not None:
        columns = query.meta.get(COLUMNS, ())
        return digits_of_type(columns[0][1]) if len(columns) == 1 else None
    if _NUMBER in operand.meta:
        return digits_of_number(operand.meta[_NUMBER])
    found = None if types is None else types.digits(operand)
    return digits_of(operand.meta[_TYPE]) if found is None and _TYPE in operand.meta else found


def _constant(operand: exp.Expr, types: NumberTypes | None) -> Decimal | None:
    """The number that an operand is known to be."""
    noted: Decimal | None = operand.meta.get(_NUMBER)
    return number(operand) if noted is None and types is not None else noted


def _met(stored: Sequence[DataType], known: Sequence[Digits]) -> DataType:
    """The type that a parameter is compared with."""
    if len(stored) == len(known):
        widest = max(stored, key=lambda each: (is_wide(each), each.width), default=None)
        return _COMPUTED if widest is None else widest
    together = fit_together([each.with_neighbours() for each in known])
    scale = max(each.scale for each in known)
    whole = max(each.whole for each in known)
    return DataType(Kind.DECIMAL, precision=whole + scale, scale=scale) if together else _WHOLE


def _compare_keys(
    operands: Sequence[exp.Expr], digits: Mapping[int, Digits], numbers: Mapping[int, Decimal]
) -> None:
    for operand in operands:
        query = _compared_query(operand)
        if isinstance(operand, exp.Placeholder):
            operand.meta[MEETS] = _WHOLE
            cast_in_place(operand, _key_type())
        elif id(operand) in numbers:
            key = exp.Literal.string(sort_key(numbers[id(operand)]))
            operand.replace(exp.Cast(this=key, to=_key_type()))
        elif query is not None:
            _compare_query(query, digits[id(operand)])
        elif id(operand) in digits:
            _compare_key(operand, digits[id(operand)])


def compared(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a comparison compares."""
    if isinstance(node, exp.In):
        query = node.args.get("query")
        found = [node.this, *([query] if query is not None else node.expressions)]
    elif isinstance(node, exp.Between):
        found = [node.this, node.args["low"], node.args["high"]]
    elif isinstance(node, exp.Case):
        found = [] if node.this is None else [node.this, *(each.this for each in node.args["ifs"])]
    else:
        found = [node.this, node.expression]
    for each in found:
        while isinstance(each, exp.Paren):
            each = each.this
        yield each


def _compared_query(operand: exp.Expr) -> exp.Expr | None:
    """The query whose rows an operand stands for, under IN, ANY or ALL."""
    if isinstance(operand, exp.Query) and isinstance(operand.parent, exp.In):
        return operand if operand.arg_key == "query" else None
    if isinstance(operand, exp.Any | exp.All) and isinstance(operand.this, exp.Query):
        return operand.this
    return None


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
        return number(node)
    found = constant(node, context)
    return exact_number(found.value) if isinstance(found, Constant) else None


def _is_free(node: exp.Expr) -> bool:
    """Whether an operand takes the type of the others."""
    return isinstance(node, exp.Placeholder | exp.Null)


def _write_out(node: exp.Nullif, types: NumberTypes) -> None:
    """Write a NULLIF out whose operands the engine would not compare exactly."""
    operands = [node.this, node.expression]
    if not any(map(types.holds_decimals, operands)):
        return
    found = [digits for each in operands if (digits := types.digits(each)) is not None]
    if len(found) < len(operands) or fit_together(found):
        return
    equal = exp.EQ(this=node.this.copy(), expression=node.expression)
    same = exp.If(this=equal, true=exp.null())
    node.replace(exp.paren(exp.Case(ifs=[same], default=node.this), copy=False))
    _rewrite(equal, types)


def _compare_query(query: exp.Expr, digits: Digits) -> None:
    """Put a query around one of one column that has the keys of its values."""
    column = exp.to_identifier("c0", quoted=True)
    alias = exp.TableAlias(this=exp.to_identifier(_COMPARED, quoted=True), columns=[column])
    place = exp.Column(this=column.copy())
    inner = exp.Subquery(alias=alias)
    keys = exp.Select(expressions=[place], from_=exp.From(this=inner))
    query.replace(exp.Subquery(this=keys))
    inner.set("this", query.unnest() if isinstance(query, exp.Subquery) else query)
    _compare_key(place, digits)


def _compare_key(operand: exp.Expr, digits: Digits) -> None:
    """Put the key of `decimal_values.sort_key` in an operand's place; NULL of NULL."""
    place = exp.null()
    operand.replace(place)
    value = operand
    if digits.whole <= MAX_DIGITS - digits.scale:
        value = exp.cast(exp.paren(operand, copy=False), decimal_type(digits), copy=False)
    text = exp.cast(value, "text", copy=False)
    units = exp.Anonymous(
        this="replace", expressions=[text, exp.Literal.string("."), exp.Literal.string("")]
    )
    zeros = exp.Literal.string("0" * (KEY_SCALE - digits.scale))
    scaled = exp.paren(exp.DPipe(this=units, expression=zeros), copy=False)
    place.replace(exp.cast(scaled, _key_type(), copy=False))


def _key_type() -> exp.DataType:
    return exp.DataType.build("bignum", dialect="duckdb")
