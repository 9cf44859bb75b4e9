"""Decimals of which one column, list or value is made, with all their digits or with an error.

Where the engine has no type of 38 digits for all of them it keeps what stands before the point and
rounds the rest. Here they are cast first to the type that has all digits behind the point; a value
that has too many before it raises an error then. What cannot be cast so is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, source_of
from pykudu_sql.planner.bind.sources import TableReference
from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS, Digits
from pykudu_sql.planner.plan.value import United
from pykudu_sql.planner.query.exact_decimals import COMPARISONS, MEETS, compared
from pykudu_sql.planner.query.number_types import (
    COLUMNS,
    NULL,
    NumberTypes,
    alternatives,
    cast_in_place,
    decimal_type,
    decimals_within,
    digits_of_type,
    fit_together,
    is_decimal,
    number,
    united,
    widest,
)
from pykudu_sql.planner.query.type_conflicts import no_common_type
from pykudu_sql.storage.errors import ValueOutOfRangeError

_UNITED = "__united"
_DIGITS_OF_ANY_INTEGER = 18


def unite_exactly(tree: exp.Expr, types: NumberTypes) -> None:
    """Rewrite what makes one value of several decimals; the tree is changed in place.

    Args:
        tree: as the engine is to have it otherwise.
        types: of its expressions.

    Raises:
        ProgrammingError: there is no type that has all values.
        ValueOutOfRangeError: a number that is written has too many digits.
    """
    groups = count()
    for node in list(tree.walk()):
        match node:
            case exp.SetOperation() if not isinstance(node.parent, exp.SetOperation):
                _note_selected_parameters(node, groups)
                _unite_operands(node)
            case exp.Values():
                rows = [row.expressions for row in node.expressions if isinstance(row, exp.Tuple)]
                for column in zip(*rows, strict=False):
                    _note_parameters(column, types, groups)
                    _unite(column, types)
            case exp.Mod():
                _check_remainder(node, types)
            case _:
                _check_nested(node, [*_met(node)], types)
                _note_parameters(alternatives(node), types, groups)
                _unite(alternatives(node), types)
                if isinstance(node, exp.Lag | exp.Lead):
                    _note_default(node)
                    _widen_for_default(node, types)


def decimals_meet(tree: exp.Expr, bound: BoundQuery) -> bool:
    """Whether what is computed in a query is compared or becomes one value with others; cheap.

    What is only shown, summed or sorted needs no type of ours, and stored columns that meet each
    other or a constant have theirs.
    """
    if any(frame.merged for _, frame in bound.frames):
        return True
    for node in tree.walk():
        match node:
            case exp.SetOperation() | exp.Mod() | exp.Nullif() | exp.Any() | exp.All():
                return True
            case exp.Values() if len(node.expressions) > 1:
                return True
            case _ if len([*_made_one(node)]) > 1:
                return True
            case _ if isinstance(node, COMPARISONS) and not _compares_stored([*compared(node)]):
                return True
    return False


def _compares_stored(operands: Sequence[exp.Expr]) -> bool:
    """Whether a comparison is of stored columns with each other or with constants."""
    if any(isinstance(each, exp.Count) for each in operands):
        return all(map(_is_count, operands))
    columns = [each for each in operands if isinstance(each, exp.Column)]
    others = (each for each in operands if not isinstance(each, exp.Column))
    stored = all(isinstance(source_of(each), TableReference) for each in columns)
    return not operands or (bool(columns) and stored and all(map(_is_plain, others)))


def _is_count(operand: exp.Expr) -> bool:
    """Whether an operand is a count, or an integer that any type of integers holds."""
    if isinstance(operand, exp.Literal):
        return operand.is_int and len(str(operand.this)) <= _DIGITS_OF_ANY_INTEGER
    return isinstance(operand, exp.Count)


def _is_plain(operand: exp.Expr) -> bool:
    """Whether an operand is a literal or parameter, or a constant that is no DECIMAL."""
    written = operand.this if isinstance(operand, exp.Neg) else operand
    if isinstance(written, exp.Literal | exp.Placeholder | exp.Null | exp.Boolean):
        return True
    return not any(_holds_number(node) for node in operand.walk())


def _holds_number(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        return not node.is_string
    is_type = isinstance(node, exp.DataType) and not node.is_type(
        exp.DType.DATE, exp.DType.TIMESTAMP
    )
    return is_type or isinstance(node, exp.Column | exp.Query | exp.Placeholder)


def _note_parameters(
    operands: Sequence[exp.Expr], types: NumberTypes, groups: Iterator[int]
) -> None:
    """Note for parameters the digits of the numbers that they become one value with."""
    parameters = [each for operand in operands if (each := _parameter(operand)) is not None]
    if not parameters or len(operands) < 2:
        return
    others = [each for each in operands if _parameter(each) is None]
    _note_united(parameters, [(types.of(each), types.digits(each)) for each in others], groups)


def _note_selected_parameters(node: exp.SetOperation, groups: Iterator[int]) -> None:
    """The same for parameters in the SELECT lists of a set operation."""
    parameters: dict[object, list[exp.Placeholder]] = {}
    others: dict[object, list[tuple[str | None, Digits | None]]] = {}
    for operand in _operands(node):
        query = operand.unnest() if isinstance(operand, exp.Subquery) else operand
        columns = _columns(operand, node) or _columns(query, node)
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
    found = [digits for _, digits in others if digits is not None]
    if any(digits is None and name not in (None, NULL) for name, digits in others):
        return  # One is no exact number, and so is what they become.
    together = widest(found) if found else Digits(0, 0)
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


def _unite(operands: Sequence[exp.Expr], types: NumberTypes) -> None:
    target = _target(operands, types)
    if target is None:
        return
    for operand in operands:
        digits = types.digits(operand)
        written = number(operand)
        is_cast = written is not None or is_decimal(types.of(operand))
        if digits is not None and is_cast and (written is not None or digits.scale < target.scale):
            cast_in_place(operand, decimal_type(target))


def _target(operands: Sequence[exp.Expr], types: NumberTypes) -> Digits | None:
    """The type to cast operands to; None where the engine's own is exact."""
    if len(operands) < 2 or not any(map(types.holds_decimals, operands)):
        return None
    found: list[Digits] = []
    decimals = False
    for operand in operands:
        written = number(operand)
        name = types.of(operand)
        digits = digits_of_type(name)
        if written is not None and digits is None:
            digits = types.digits(operand)
        if digits is not None:
            found.append(digits)
            decimals |= is_decimal(name) or (written is not None and digits.scale > 0)
        elif name is not None and not isinstance(operand, exp.Null):
            return None
    if not decimals or fit_together(found):
        return None
    target = united(found)
    if target.scale > MAX_DIGITS:
        raise ValueOutOfRangeError(
            f"a number with {target.scale} digits behind the point is more than a DECIMAL has",
            hint="CAST it to the type that it is meant to have, as DECIMAL(38,20), or to DOUBLE",
        )
    return Digits(MAX_DIGITS - target.scale, target.scale)


def _widen_for_default(node: exp.Lag | exp.Lead, types: NumberTypes) -> None:
    """Give a value the type that has its default too, to whose type the engine casts that."""
    default = node.args.get("default")
    if default is None or not types.holds_decimals(default):
        return
    value, other = types.digits(node.this), types.digits(default)
    if value is not None and other is not None and value.scale < other.scale:
        cast_in_place(node.this, decimal_type(united([value, other])))


def _check_remainder(node: exp.Mod, types: NumberTypes) -> None:
    """Refuse a remainder that the engine would compute with doubles."""
    operands = [node.this, node.expression]
    if _target(operands, types) is not None:
        raise no_common_type("%", [name for each in operands if (name := types.of(each))])


def _met(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a node compares, or makes one value or list of."""
    yield from _made_one(node)
    if isinstance(node, COMPARISONS):
        yield from compared(node)


def _made_one(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a node makes one value or list of; of calls with lists, all arguments."""
    yield from alternatives(node)
    if isinstance(node, exp.Func) and not isinstance(node, exp.Array):
        name = node.name if isinstance(node, exp.Anonymous) else node.key
        if name.lower().startswith(("list", "array", "map")):
            yield from node.iter_expressions()


def _check_nested(node: exp.Expr, operands: Sequence[exp.Expr], types: NumberTypes) -> None:
    """Refuse to compare or to unite lists and structs of decimals that no type has all of."""
    if len(operands) < 2 or not any(map(types.holds_decimals, operands)):
        return
    names = {name for each in operands if (name := types.of(each)) is not None}
    nested = {decimal for name in names for decimal in decimals_within(name)}
    whole = nested | {name for name in names if digits_of_type(name) is not None}
    found = [digits for name in whole if (digits := digits_of_type(name)) is not None]
    if nested and len(names) > 1 and not fit_together(found):
        raise no_common_type(node.key.upper(), sorted(names))


def _unite_operands(node: exp.SetOperation) -> None:
    """Unite the columns of a set operation's queries."""
    operands = list(_operands(node))
    together: dict[object, list[str | None]] = {}
    for operand in operands:
        for key, name in _columns(operand, node):
            together.setdefault(key, []).append(name)
    targets = {key: _common_target(names) for key, names in together.items()}
    for operand in operands:
        casts = [
            target if (target := targets[key]) is not None and _gains(name, target) else None
            for key, name in _columns(operand, node)
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


def _columns(operand: exp.Expr, node: exp.SetOperation) -> list[tuple[object, str | None]]:
    """The columns of an operand: by what they are united, and their types."""
    columns = operand.meta.get(COLUMNS, ())
    if node.args.get("by_name"):
        return [(name.lower(), type_) for name, type_ in columns]
    return [(place, type_) for place, (_, type_) in enumerate(columns)]


def _common_target(names: Sequence[str | None]) -> Digits | None:
    """The type to cast a column to; None where the engine's own is exact."""
    known = [name for name in names if name is not None and name != NULL]
    found = [digits for name in known if (digits := digits_of_type(name)) is not None]
    if len(found) < len(known) or not any(map(is_decimal, known)) or fit_together(found):
        return None
    target = united(found)
    return Digits(MAX_DIGITS - target.scale, target.scale)


def _gains(name: str | None, target: Digits) -> bool:
    """Whether a decimal of a type gets more digits behind the point by a cast."""
    digits = digits_of_type(name) if is_decimal(name) else None
    return digits is not None and digits.scale < target.scale


def _wrap(operand: exp.Expr, casts: Sequence[Digits | None]) -> None:
    """Put a query around one that casts columns of it, under the names that they have."""
    places = [exp.to_identifier(f"c{place}", quoted=True) for place in range(len(casts))]
    items = []
    for place, target, (name, _) in zip(places, casts, operand.meta[COLUMNS], strict=True):
        value: exp.Expr = exp.Column(this=place.copy())
        if target is not None:
            value = exp.Cast(this=value, to=decimal_type(target))
        items.append(exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True)))
    alias = exp.TableAlias(this=exp.to_identifier(_UNITED, quoted=True), columns=places)
    inner = exp.Subquery(alias=alias)
    operand.replace(exp.Select(expressions=items, from_=exp.From(this=inner)))
    inner.set("this", operand)
