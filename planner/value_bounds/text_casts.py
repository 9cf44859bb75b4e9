"""Texts that are parsed for short values, as by casts: one that is too long is refused before.

The engine parses a text to its end, copies it into its error several times, and looks for no
interrupt meanwhile. What it is to cast is a text is known to it while it binds, so that nothing is
computed of other values.
"""

from dataclasses import dataclass

from sqlglot import exp

from pykudu_sql.planner.value_bounds.computed_once import name_arguments, with_parts
from pykudu_sql.planner.value_bounds.value_calls import call_of
from pykudu_sql.planner.value_bounds.value_sizes import (
    CELL_BYTES,
    TEXT_TYPES,
    is_text_type,
    least_bytes,
    most_bytes,
    number_of,
)
from pykudu_sql.storage.errors import InvalidValueError

MAX_TEXT_BYTES = CELL_BYTES  # a cell's text may be cast whatever it has
CASTABLE = "__castable"
TRY_CASTABLE = "__try_castable"
_CHECKED_FROM = 1024 * 1024  # what is known to be at most this costs little
_SHOWN = 80
_ZONE = "a time zone"
# By what a call is to the engine, or to the parser: what its first argument should be.
_PARSING = {
    "date": "DATE", "timestamp": "TIMESTAMP", "ts_or_ds_to_date": "DATE", "timezone": _ZONE,
    "ts_or_ds_to_timestamp": "TIMESTAMP", "str_to_date": "DATE", "str_to_time": "TIMESTAMP",
    "strptime": "TIMESTAMP", "try_strptime": "TIMESTAMP",
}  # fmt: skip
_UNBOUNDED = frozenset({exp.DType.BIT, exp.DType.VARIANT, exp.DType.OBJECT})


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A text that a node has parsed.

    Attributes:
        node: an argument within the other one.
        kind: what the text should be.
        check: what is asked of texts that are too long.
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
    text = exp.cast(value.copy(), "text")
    length = exp.LTE(this=_call("strlen", text), expression=exp.Literal.number(MAX_TEXT_BYTES))
    begun = _call("left", text.copy(), exp.Literal.number(_SHOWN))
    castable = _call(parsed.check, begun, exp.Literal.string(parsed.kind))
    condition = exp.or_(exp.not_(is_text(value)), length, castable, copy=False)
    value.replace(exp.Case(ifs=[exp.If(this=condition, true=value.copy())]))
    return with_parts(node, named)


def refuse_long_text(node: exp.Expr) -> None:
    """Refuse to parse a text that the statement shows to be too long, before it is made.

    Raises:
        InvalidValueError: it is (22018).
    """
    parsed = _parsed(node)
    texts = _compared_with_numbers(node) if parsed is None else [parsed]
    for text in texts:
        size = least_bytes(text.node) if text.check == CASTABLE else 0.0
        if size > MAX_TEXT_BYTES:
            raise InvalidValueError(
                f"could not convert a string of at least {size:.0f} bytes to {text.kind}",
                hint=f"a text of more than {MAX_TEXT_BYTES >> 10} KiB is no number and no time",
            )


def _compared_with_numbers(node: exp.Expr) -> list[_Parsed]:
    """What stands beside a written number in a comparison: the engine casts it if it is a text."""
    match node:
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            sides = [node.this, node.expression]
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            sides = [node.this, node.expression]
        case exp.In():
            sides = [node.this, *node.expressions]
        case exp.Case() if node.this is not None:
            sides = [node.this, *(branch.this for branch in node.args["ifs"])]
        case _:
            return []
    numbers = [side for side in sides if number_of(side) is not None]
    return [_Parsed(side, "a number") for side in sides if numbers and side not in numbers]


def _parsed(node: exp.Expr) -> _Parsed | None:
    """The text that a node has parsed for a short value, None if there is none."""
    if isinstance(node, exp.Cast):
        check = TRY_CASTABLE if isinstance(node, exp.TryCast) else CASTABLE
        return _Parsed(node.this, node.to.sql("duckdb"), check) if _is_short(node.to) else None
    if isinstance(node, exp.AtTimeZone):
        return _Parsed(node.args["zone"], _ZONE)
    call = call_of(node)
    if call is None or call.name not in _PARSING or not call.arguments:
        return None
    check = TRY_CASTABLE if call.name.startswith("try_") else CASTABLE
    return _Parsed(call.arguments[0], _PARSING[call.name], check)


def is_text(value: exp.Expr) -> exp.Expr:
    """SQL of whether a value is a text, which the engine knows before it computes it."""
    kinds = [exp.Literal.string(kind) for kind in TEXT_TYPES]
    return exp.In(this=_call("typeof", value.copy()), expressions=kinds)


def _is_short(kind: exp.DataType) -> bool:
    """Whether values of a type have few bytes."""
    return not (is_text_type(kind) or kind.args.get("nested") or kind.this in _UNBOUNDED)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
