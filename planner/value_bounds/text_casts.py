"""Texts that are parsed for short values, as by casts: one that is too long is refused before.

The engine parses a text to its end, copies it into its error several times, and looks for no
interrupt meanwhile. What it is to cast is a text is known to it while it binds, so that nothing is
computed of other values.
"""

from collections.abc import Callable, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.planner.value_bounds.computed_once import name_arguments, with_parts
from pykudu_sql.planner.value_bounds.value_calls import call_of, engine_call
from pykudu_sql.planner.value_bounds.value_growth import GROWING
from pykudu_sql.planner.value_bounds.value_measures import value_bytes
from pykudu_sql.planner.value_bounds.value_sizes import (
    CELL_BYTES,
    TEXT_TYPES,
    is_short,
    is_short_type,
    least_bytes,
)
from pykudu_sql.storage.errors import InvalidValueError

TypeName = Callable[[exp.Expr], str | None]
MAX_TEXT_BYTES = CELL_BYTES  # a cell's text may be cast whatever it has
CASTABLE = "__castable"
TRY_CASTABLE = "__try_castable"
_CHECKED_FROM = 1024 * 1024  # what is known to be at most this costs little
_QUOTED_BYTES = 80
_MAYBE_TEXT = (None, *TEXT_TYPES)
_ZONE = "a time zone"
_SHORT = "what it is compared with"
_NUMBER = "a number"
_ORDER = "an order"
_UNIT = "a unit"
_PATH = "a path"
# What the arguments should be of calls with some names, to the engine or to the parser.
_PARSING_CALLS = (
    ("date str_to_date ts_or_ds_to_date", {1: "DATE"}),
    ("timestamp ts_or_ds_to_timestamp str_to_time strptime try_strptime", {1: "TIMESTAMP"}),
    ("timezone", {1: _ZONE}),
    ("date_add timestamp_add timestamp_sub add_months ts_or_ds_add", {1: "TIMESTAMP", 2: _NUMBER}),
    ("bitwise_and_agg bitwise_or_agg bitwise_xor_agg space", {1: _NUMBER}),
    ("logical_and logical_or", {1: "BOOLEAN"}),
    ("list_resize array_resize", {2: _NUMBER}),
    ("list_slice array_slice", {2: _NUMBER, 3: _NUMBER}),
    ("list_sort list_reverse_sort list_grade_up array_sort array_reverse_sort sort_array",
     {2: _ORDER, 3: _ORDER}),
    ("datesub date_part datepart date_trunc datetrunc", {1: _UNIT}),
    ("timestamp_trunc datetime_trunc time_trunc", {2: _UNIT}),
    ("datediff", {3: _UNIT}),
    ("json_array_length json_exists json_extract json_extract_scalar json_keys json_type "
     "json_value", {2: _PATH}),
)  # fmt: skip
_EQUATING = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.EqualNull, exp.Nullif)
COMPARING = (*_EQUATING, exp.In, exp.Case)  # one side may be cast to the type of another
_LISTS = (exp.Array, exp.Struct)
_READ = (exp.JSONPath, exp.Var)  # by the parser
_PARSING = {name: kinds for names, kinds in _PARSING_CALLS for name in names.split()}
PARSING_KINDS = (exp.Cast, exp.AtTimeZone, exp.Is, exp.If)  # with calls of these names: what parses
PARSING_NAMES = frozenset(_PARSING)


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


def bound_casts(node: exp.Expr) -> None:
    """Put checks before texts of unknown length that a cast or a call parses; changed in place.

    CAST fails as it does for a text that is no value of the type, TRY_CAST gives NULL.
    """
    for parsed in _parsed(node):
        if value_bytes(parsed.node) > _CHECKED_FROM:
            _check_text(parsed, [])


def bound_comparison(node: exp.Expr, type_name: TypeName) -> None:
    """Put checks before texts that a comparison casts to the type beside them; changed in place.

    `type_name`: the engine's name of an expression's type, None if it is not known.
    """
    sides = _compared(node)
    maybe_texts = [side for side in _bound(sides) if not isinstance(side, _LISTS)]
    large = [side for side in maybe_texts if value_bytes(side) > _CHECKED_FROM]
    if not large:
        return
    columns: dict[tuple[str, str], exp.Expr] = {}
    if not any(_is_no_text(side, type_name) for side in sides):
        columns = {_name(side): side for side in sides if isinstance(side, exp.Column)}
        calls = [side for side in sides if not isinstance(side, exp.Column)]
        # Any call may make a text, and texts are compared as such.
        if len(calls) > 1 or all(type_name(each) in TEXT_TYPES for each in columns.values()):
            return
        large = [each for each in large if not calls or each is calls[0]]
    for side in large:
        if type_name(side) in _MAYBE_TEXT:
            alike = [_is_text(each) for each in columns.values() if each is not side]
            _check_text(_Parsed(side, _SHORT), alike)


def _is_no_text(side: exp.Expr, type_name: TypeName) -> bool:
    """Whether a side is known to be of a type that a text beside it is cast to."""
    if isinstance(side, exp.Column | exp.Placeholder):
        return is_short(side)
    return is_short(side) or isinstance(side, _LISTS) or type_name(side) not in _MAYBE_TEXT


def _check_text(parsed: _Parsed, alike: Sequence[exp.Expr]) -> None:
    """Put a check in the place of what may be a text that is too long.

    `alike`: whether what it is compared with are texts, for then none is cast; known for each row.
    """
    around = exp.Paren(this=parsed.node.copy())
    named = name_arguments([around.this])
    (value,) = named.arguments
    text = exp.cast(value, exp.DType.TEXT)
    length = exp.LTE(
        this=engine_call("strlen", text), expression=exp.Literal.number(MAX_TEXT_BYTES)
    )
    beginning = engine_call("left", text.copy(), exp.Literal.number(_QUOTED_BYTES))
    castable = engine_call(parsed.check, beginning, exp.Literal.string(parsed.kind))
    condition = exp.or_(exp.not_(_is_text(value)), *alike, length, castable, copy=False)
    checked = exp.Case(ifs=[exp.If(this=condition, true=value.copy())])
    parsed.node.replace(with_parts(checked, named))


def refuse_long_text(node: exp.Expr) -> None:
    """Refuse to parse a text that the statement shows to be too long, before it is made.

    Raises InvalidValueError: it is (22018).
    """
    sides = _compared(node)
    has_short = any(map(is_short, sides))
    compared = [_Parsed(side, _SHORT) for side in _bound(sides)] if has_short else []
    for text in (*_parsed(node), *compared):
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
    if isinstance(node, _EQUATING):
        return [node.this, node.expression]
    match node:
        case exp.In():
            # The rows of VALUES are those of a query, which is no value.
            values = [each for each in node.expressions if not isinstance(each, exp.Values)]
            return [node.this, *values]
        case exp.Case() if node.this is not None:
            return [node.this, *(branch.this for branch in node.args["ifs"])]
    return []


def _name(column: exp.Column) -> tuple[str, str]:
    return column.table, column.name


def _bound(sides: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Those that are no parameter, which gets the other type when it is given."""
    return [side for side in sides if not isinstance(side, exp.Placeholder)]


def _parsed(node: exp.Expr) -> list[_Parsed]:
    """The texts that a node has parsed for short values."""
    match node:
        case exp.Cast():
            check = TRY_CASTABLE if isinstance(node, exp.TryCast) else CASTABLE
            is_short_cast = is_short_type(node.to)
            return [_Parsed(node.this, node.to.sql("duckdb"), check)] if is_short_cast else []
        case exp.AtTimeZone():
            return [_Parsed(node.args["zone"], _ZONE)]
        case exp.Is(expression=exp.Boolean()):
            return [_Parsed(node.this, "BOOLEAN")]
        case exp.If() if not (isinstance(node.parent, exp.Case) and node.parent.this):
            return [_Parsed(node.this, "BOOLEAN")] if _may_grow(node.this) else []
    call = call_of(node)
    if call is None or call.name not in _PARSING:
        return []
    check = TRY_CASTABLE if call.name.startswith("try_") else CASTABLE
    return [
        _Parsed(call.arguments[index - 1], kind, check)
        for index, kind in _PARSING[call.name].items()
        if index <= len(call.arguments) and not isinstance(call.arguments[index - 1], _READ)
    ]


def _may_grow(condition: exp.Expr) -> bool:
    """Whether a condition may be a text that is longer than a cell; few are, so most are spared."""
    calls = (call_of(each) for each in all_nodes(condition))
    return isinstance(condition, exp.Column) or any(
        call is not None and call.name in GROWING for call in calls
    )


def _is_text(value: exp.Expr) -> exp.Expr:
    """SQL of whether a value is a text, which the engine knows before it computes it."""
    kinds = [exp.Literal.string(kind) for kind in TEXT_TYPES]
    return exp.In(this=engine_call("typeof", value.copy()), expressions=kinds)
