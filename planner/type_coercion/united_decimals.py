"""Decimals that become one column, list or value, with all their digits or with an error.

Where the engine has no type of 38 digits for all of them it keeps what stands before the point and
rounds the rest. Here they are cast first to the type that has all digits behind the point; a value
that has too many before it raises an error then. What cannot be cast so is refused.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import columns_of
from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS, Digits
from pykudu_sql.planner.operands.value import United
from pykudu_sql.planner.type_coercion.exact_decimals import COMPARISONS, MEETS, compared
from pykudu_sql.planner.type_coercion.type_conflicts import no_common_type
from pykudu_sql.planner.types.engine_types import (
    NULL,
    cast_in_place,
    decimal_type,
    decimals_within,
    digits_of_type,
    fit_together,
    is_decimal,
    united,
    widest,
)
from pykudu_sql.planner.types.expression_types import ExpressionTypes, holds_decimals
from pykudu_sql.planner.types.literal_types import number
from pykudu_sql.planner.types.origins import ALTERNATING, alternatives
from pykudu_sql.storage.errors import ValueOutOfRangeError

UNITING = (*ALTERNATING, exp.SetOperation, exp.Values)  # what makes one value of several
_UNITED = "__united"
_BY_PLACE = ("element", "extract", "resize", "slice")


def unite_exactly(nodes: Iterable[exp.Expr], types: ExpressionTypes) -> None:
    """Rewrite what makes one value of several decimals; the tree is changed in place.

    `nodes`: of a tree as the engine is to have it otherwise. Raises ProgrammingError: there is no
    type that has all values; ValueOutOfRangeError: a number that is written has too many digits.
    """
    groups = count()
    for node in nodes:
        match node:
            case exp.SetOperation() if not isinstance(node.parent, exp.SetOperation):
                _note_selected_parameters(node, types, groups)
                _unite_operands(node, types)
            case exp.Values():
                rows = [row.expressions for row in node.expressions if isinstance(row, exp.Tuple)]
                for column in zip(*rows, strict=False):
                    _note_parameters(column, types, groups)
                    _unite(column, types)
            case exp.Mod():
                _check_remainder(node, types)
            case exp.Connector():
                continue
            case exp.Func() | exp.Predicate():
                operands = alternatives(node)
                _check_nested(node, [*operands, *_compared_nodes(node)], types)
                _note_parameters(operands, types, groups)
                _unite(operands, types)
                if isinstance(node, exp.Lag | exp.Lead):
                    _note_default(node)
                    _widen_for_default(node, types)


def _note_parameters(
    operands: Sequence[exp.Expr], types: ExpressionTypes, groups: Iterator[int]
) -> None:
    """Note for parameters the digits of the numbers that they become one value with."""
    parameters = [each for operand in operands if (each := _parameter(operand)) is not None]
    if not parameters or len(operands) < 2:
        return
    others = [each for each in operands if _parameter(each) is None]
    _note_united(parameters, [(types.name(each), types.digits(each)) for each in others], groups)


def _note_selected_parameters(
    node: exp.SetOperation, types: ExpressionTypes, groups: Iterator[int]
) -> None:
    """The same for parameters in the SELECT lists of a set operation."""
    parameters: dict[object, list[exp.Placeholder]] = {}
    others: dict[object, list[tuple[str | None, Digits | None]]] = {}
    for operand in _operands(node):
        query = operand.unnest() if isinstance(operand, exp.Subquery) else operand
        columns = _columns(operand, node, types) or _columns(query, node, types)
        items = query.expressions if isinstance(query, exp.Select) else []
        if len(items) != len(columns):
            items = [exp.Null()] * len(columns)
        for (key, name), item in zip(columns, items, strict=True):
            parameter = _parameter(item)
            if parameter is None:
                others.setdefault(key, []).append((name, digits_of_type(name)))
            else:
                parameters.setdefault(key, []).append(parameter)
    for key, each in parameters.items():
        _note_united(each, others.get(key, []), groups)


def _note_united(
    parameters: Sequence[exp.Placeholder],
    others: Sequence[tuple[str | None, Digits | None]],
    groups: Iterator[int],
) -> None:
    all_digits = [digits for _, digits in others if digits is not None]
    if any(digits is None and name not in (None, NULL) for name, digits in others):
        return  # One is no exact number, and so is what they become.
    together = widest(all_digits) if all_digits else Digits(0, 0)
    if not fit_together([together]):
        together = Digits(MAX_DIGITS - together.scale, together.scale)
    noted = United(together.whole, together.scale, next(groups))
    for each in parameters:
        each.meta[MEETS] = noted


def _note_default(node: exp.Lag | exp.Lead) -> None:
    """Let a parameter have no digits that the value has not, to whose type the engine casts it."""
    default = _parameter(node.args.get("default") or exp.Null())
    noted = None if default is None else default.meta.get(MEETS)
    if default is not None and noted is not None:
        default.meta[MEETS] = replace(noted, whole=MAX_DIGITS - noted.scale)


def _parameter(node: exp.Expr) -> exp.Placeholder | None:
    """The parameter that an expression is, whatever its sign and name."""
    while isinstance(node, exp.Paren | exp.Alias | exp.Neg):
        node = node.this
    return node if isinstance(node, exp.Placeholder) else None


def _unite(operands: Sequence[exp.Expr], types: ExpressionTypes) -> None:
    target = _target(operands, types)
    if target is None:
        return
    for operand in operands:
        digits = types.digits(operand)
        written = number(operand)
        is_cast = written is not None or is_decimal(types.name(operand))
        if digits is not None and is_cast and (written is not None or digits.scale < target.scale):
            cast_in_place(operand, decimal_type(target))


def _target(operands: Sequence[exp.Expr], types: ExpressionTypes) -> Digits | None:
    """The type to cast operands to; None where the engine's own is exact."""
    if len(operands) < 2 or not any(map(holds_decimals, operands)):
        return None
    all_digits: list[Digits] = []
    decimals = False
    for operand in operands:
        written = number(operand)
        name = types.name(operand)
        digits = digits_of_type(name)
        if written is not None and digits is None:
            digits = types.digits(operand)
        if digits is not None:
            all_digits.append(digits)
            decimals |= is_decimal(name) or (written is not None and digits.scale > 0)
        elif name is not None and not isinstance(operand, exp.Null):
            return None
    if not decimals or fit_together(all_digits):
        return None
    target = united(all_digits)
    if target.scale > MAX_DIGITS:
        raise ValueOutOfRangeError(
            f"a number with {target.scale} digits behind the point is more than a DECIMAL has",
            hint="CAST it to the intended type, as DECIMAL(38,20), or to DOUBLE",
        )
    return Digits(MAX_DIGITS - target.scale, target.scale)


def _widen_for_default(node: exp.Lag | exp.Lead, types: ExpressionTypes) -> None:
    """Give a value the type that has its default too, to whose type the engine casts that."""
    default = node.args.get("default")
    if default is None or not holds_decimals(default):
        return
    value, other = types.digits(node.this), types.digits(default)
    if value is not None and other is not None and value.scale < other.scale:
        cast_in_place(node.this, decimal_type(united([value, other])))


def _check_remainder(node: exp.Mod, types: ExpressionTypes) -> None:
    """Refuse a remainder that the engine would compute with doubles."""
    operands = [node.this, node.expression]
    if _target(operands, types) is not None:
        raise no_common_type("%", [name for each in operands if (name := types.name(each))])


def _compared_nodes(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a node compares or makes a list of, beside its alternatives."""
    if isinstance(node, COMPARISONS):
        yield from compared(node)
    if isinstance(node, exp.Func) and not isinstance(node, exp.Array):
        name = node.name if isinstance(node, exp.Anonymous) else node.key
        if name.lower().endswith(_BY_PLACE):
            return  # What stands beside the list counts its elements.
        if name.lower().startswith(("list", "array", "map")):
            yield from node.iter_expressions()


def _check_nested(node: exp.Expr, operands: Sequence[exp.Expr], types: ExpressionTypes) -> None:
    """Refuse to compare or to unite lists and structs of decimals that no type has all of."""
    if len(operands) < 2 or not any(map(holds_decimals, operands)):
        return
    names = {name for each in operands if (name := types.name(each)) is not None}
    nested = {decimal for name in names for decimal in decimals_within(name)}
    whole = nested | {name for name in names if digits_of_type(name) is not None}
    all_digits = [digits for name in whole if (digits := digits_of_type(name)) is not None]
    if nested and len(names) > 1 and not fit_together(all_digits):
        where = f"{node.name}()" if isinstance(node, exp.Anonymous) else node.key.upper()
        raise no_common_type(where, sorted(names))


def _unite_operands(node: exp.SetOperation, types: ExpressionTypes) -> None:
    """Unite the columns of a set operation's queries."""
    operands = list(_operands(node))
    together: dict[object, list[str | None]] = {}
    for operand in operands:
        for key, name in _columns(operand, node, types):
            together.setdefault(key, []).append(name)
    targets = {key: _common_target(names) for key, names in together.items()}
    for operand in operands:
        casts = [
            target if (target := targets[key]) is not None and _gains(name, target) else None
            for key, name in _columns(operand, node, types)
        ]
        if any(casts):
            _wrap(operand, casts)


def _operands(node: exp.SetOperation) -> Iterator[exp.Expr]:
    """The queries that a chain of set operations has, as they are written."""
    for side in (node.left, node.right):
        if isinstance(side, exp.SetOperation) and not side.args.get("with_"):
            yield from _operands(side)
        else:
            yield side


def _columns(
    operand: exp.Expr, node: exp.SetOperation, types: ExpressionTypes
) -> list[tuple[object, str | None]]:
    """The columns of an operand: by what they are united, and their types."""
    columns = types.of_columns(operand)
    if node.args.get("by_name"):
        return [(name.lower(), type_) for name, type_ in columns]
    return [(index, type_) for index, (_, type_) in enumerate(columns)]


def _common_target(names: Sequence[str | None]) -> Digits | None:
    """The type to cast a column to; None where the engine's own is exact."""
    type_names = [name for name in names if name is not None and name != NULL]
    all_digits = [digits for name in type_names if (digits := digits_of_type(name)) is not None]
    if (
        len(all_digits) < len(type_names)
        or not any(map(is_decimal, type_names))
        or fit_together(all_digits)
    ):
        return None
    target = united(all_digits)
    return Digits(MAX_DIGITS - target.scale, target.scale)


def _gains(name: str | None, target: Digits) -> bool:
    """Whether a decimal of a type gets more digits behind the point by a cast."""
    digits = digits_of_type(name) if is_decimal(name) else None
    return digits is not None and digits.scale < target.scale


def _wrap(operand: exp.Expr, casts: Sequence[Digits | None]) -> None:
    """Put a query around one that casts columns of it, under the names that they have."""
    aliases = [exp.to_identifier(f"c{index}", quoted=True) for index in range(len(casts))]
    items = []
    for index, target, column in zip(aliases, casts, columns_of(operand), strict=True):
        value: exp.Expr = exp.Column(this=index.copy())
        if target is not None:
            value = exp.Cast(this=value, to=decimal_type(target))
        items.append(exp.Alias(this=value, alias=exp.to_identifier(column.name, quoted=True)))
    alias = exp.TableAlias(this=exp.to_identifier(_UNITED, quoted=True), columns=aliases)
    inner = exp.Subquery(alias=alias)
    operand.replace(exp.Select(expressions=items, from_=exp.From(this=inner)))
    inner.set("this", operand)
