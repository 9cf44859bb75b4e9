"""Texts that are parsed for short values, as by casts: one that is too long is refused before.

The engine parses a text to its end, copies it into its error several times, and looks for no
interrupt meanwhile. What it is to cast is a text is known to it while it binds, so that nothing is
computed of other values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pykudu_sql.planner.value_bounds.computed_once import name_arguments, with_parts
from pykudu_sql.planner.value_bounds.value_calls import call_of
from pykudu_sql.planner.value_bounds.value_sizes import (
    CELL_BYTES,
    TEXT_TYPES,
    is_short,
    is_short_type,
    least_bytes,
    most_bytes,
)
from pykudu_sql.storage.errors import InvalidValueError

TypeName = Callable[[exp.Expr], str | None]
MAX_TEXT_BYTES = CELL_BYTES  # a cell's text may be cast whatever it has
CASTABLE = "__castable"
TRY_CASTABLE = "__try_castable"
_CHECKED_FROM = 1024 * 1024  # what is known to be at most this costs little
_SHOWN = 80
_MAYBE_TEXT = (None, *TEXT_TYPES)
_ZONE = "a time zone"
_SHORT = "what it is compared with"
# By what a call is to the engine, or to the parser: what its first argument should be.
_PARSING = {
    "date": "DATE", "timestamp": "TIMESTAMP", "ts_or_ds_to_date": "DATE", "timezone": _ZONE,
    "ts_or_ds_to_timestamp": "TIMESTAMP", "str_to_date": "DATE", "str_to_time": "TIMESTAMP",
    "strptime": "TIMESTAMP", "try_strptime": "TIMESTAMP",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A text that a node has parsed.

    Attributes:
        node: an argument within the other one.
        kind: what the text should be.
        check: of texts that are too long.
    """

    node: exp.Expr
    kind: str
    check: str = CASTABLE


def bounded_cast(node: exp.Expr) -> exp.Expr:
    """A cast with a check of its text's length, or the node as it is if that is known or no cast.

    So with a call that casts a text, or looks it up among the time zones. CAST fails as it does for
    a text that is no value of the type, TRY_CAST gives NULL.
    """
    parsed = _parsed(node)
    if parsed is None or most_bytes(parsed.node) <= _CHECKED_FROM:
        return node
    named = name_arguments([parsed.node])
    (value,) = named.arguments
    value.replace(_checked(value, parsed.kind, parsed.check, [exp.not_(_is_text(value))]))
    return with_parts(node, named)


def bound_comparison(node: exp.Expr, type_name: TypeName) -> None:
    """Put checks before texts that a comparison casts to the type beside them; changed in place.

    `type_name`: the engine's name of an expression's type, None if it is not known.
    """
    sides = _compared(node)
    columns: dict[tuple[str, str], exp.Expr] = {}
    if not any(map(is_short, sides)):
        columns = {_name(side): side for side in sides if isinstance(side, exp.Column)}
        calls = [side for side in sides if not isinstance(side, exp.Column)]
        # Any call may make a text, and texts are compared as such.
        if len(calls) > 1 or all(type_name(each) in TEXT_TYPES for each in columns.values()):
            return
        sides = calls or sides
    for side in _bound(sides):
        if most_bytes(side) > _CHECKED_FROM and type_name(side) in _MAYBE_TEXT:
            _check_side(side, [_is_text(each) for each in columns.values() if each is not side])


def _check_side(side: exp.Expr, alike: Sequence[exp.Expr]) -> None:
    """Put a check around one side of a comparison, which the engine may have to cast.

    `alike`: whether what is beside it are texts, for then none is cast; known for each row.
    """
    around = exp.Paren(this=side.copy())
    named = name_arguments([around.this])
    (value,) = named.arguments
    spared = [exp.not_(_is_text(value)), *alike]
    side.replace(with_parts(_checked(value, _SHORT, CASTABLE, spared), named))


def _checked(value: exp.Expr, kind: str, check: str, spared: Sequence[exp.Expr]) -> exp.Expr:
    """A value if the text that it may be is not too long. `spared`: when there is no check."""
    text = exp.cast(value.copy(), "text")
    length = exp.LTE(this=_call("strlen", text), expression=exp.Literal.number(MAX_TEXT_BYTES))
    begun = _call("left", text.copy(), exp.Literal.number(_SHOWN))
    castable = _call(check, begun, exp.Literal.string(kind))
    condition = exp.or_(*spared, length, castable, copy=False)
    return exp.Case(ifs=[exp.If(this=condition, true=value.copy())])


def refuse_long_text(node: exp.Expr) -> None:
    """Refuse to parse a text that the statement shows to be too long, before it is made.

    Raises InvalidValueError: it is (22018).
    """
    parsed = _parsed(node)
    if parsed is not None:
        texts = [parsed]
    else:
        sides = _compared(node)
        has_short = any(map(is_short, sides))
        texts = [_Parsed(side, _SHORT) for side in _bound(sides)] if has_short else []
    for text in texts:
        size = least_bytes(text.node) if text.check == CASTABLE else 0.0
        if size > MAX_TEXT_BYTES:
            raise InvalidValueError(
                f"could not convert a string of at least {size:.0f} bytes to {text.kind}",
                hint=f"a text of more than {MAX_TEXT_BYTES >> 10} KiB is no number and no time",
            )


def _compared(node: exp.Expr) -> list[exp.Expr]:
    """The sides of a comparison, if the engine casts one to another's type; else none.

    So it does for equality; to order a text among numbers it refuses.
    """
    match node:
        case exp.EQ() | exp.NEQ() | exp.NullSafeEQ() | exp.NullSafeNEQ() | exp.Nullif():
            return [node.this, node.expression]
        case exp.In():
            return [node.this, *node.expressions]
        case exp.Case() if node.this is not None:
            return [node.this, *(branch.this for branch in node.args["ifs"])]
    return []


def _name(column: exp.Column) -> tuple[str, str]:
    return column.table, column.name


def _bound(sides: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Those that are no parameter, which gets the other type when it is given."""
    return [side for side in sides if not isinstance(side, exp.Placeholder)]


def _parsed(node: exp.Expr) -> _Parsed | None:
    """The text that a node has parsed for a short value, None if there is none."""
    if isinstance(node, exp.Cast):
        check = TRY_CASTABLE if isinstance(node, exp.TryCast) else CASTABLE
        return _Parsed(node.this, node.to.sql("duckdb"), check) if is_short_type(node.to) else None
    if isinstance(node, exp.AtTimeZone):
        return _Parsed(node.args["zone"], _ZONE)
    call = call_of(node)
    if call is None or call.name not in _PARSING or not call.arguments:
        return None
    check = TRY_CASTABLE if call.name.startswith("try_") else CASTABLE
    return _Parsed(call.arguments[0], _PARSING[call.name], check)


def _is_text(value: exp.Expr) -> exp.Expr:
    """SQL of whether a value is a text, which the engine knows before it computes it."""
    kinds = [exp.Literal.string(kind) for kind in TEXT_TYPES]
    return exp.In(this=_call("typeof", value.copy()), expressions=kinds)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
