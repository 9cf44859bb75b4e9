"""Constants in predicates: literals, parameters, and expressions that need no row.

Literals of the common kinds are read here; whatever else has no column, parameter, subquery or
random call in it (`DATE '1998-12-01' - INTERVAL 90 DAY`) is computed by the engine once, when the
statement is planned.
"""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.constant_folding.moment import constant_values
from pykudu_sql.planner.functions.parameter_literals import parameter_key
from pykudu_sql.planner.operands.comparison import DATE_TEXT, TIMESTAMP_TEXT
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.planner.vocabulary.function_names import is_volatile
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DataError, ProgrammingError

_MAX_DIGITS = 38
_OF_ONE_TYPE = frozenset({int, bool, Decimal, dt.date, bytes, type(None)})
_COMMON_TYPES = frozenset(
    {
        *(exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.DATE, exp.DType.TIMESTAMP),
        *(exp.DType.TIMESTAMPNTZ, exp.DType.INTERVAL),
    }
)
_COMMON_CALLS = (
    *(exp.Cast, exp.Concat, exp.DPipe, exp.Lower, exp.Upper, exp.Substring, exp.Trim),
    *(exp.DateTrunc, exp.TimestampTrunc),
)
_VARYING = (exp.Column, exp.Placeholder, exp.Query, exp.Star, exp.AggFunc, exp.Window)


class Typing(Enum):
    """How much the value of a constant says of its type."""

    LITERAL = "the text of a literal takes on the type that it meets"
    COMPUTED = "the type is that of the value"
    HIDDEN = "the type is another one, perhaps of more digits"


@dataclass(frozen=True, slots=True)
class Constant:
    """A value known while planning; None is NULL."""

    value: object
    typing: Typing = Typing.LITERAL

    def is_whole_beside(self, column_type: DataType) -> bool:
        """Whether the value is all that the engine compares with a column of a type."""
        if self.typing is Typing.COMPUTED:
            return column_type.is_text or not isinstance(self.value, str)
        if isinstance(self.value, float) and column_type.kind is Kind.DOUBLE:
            return True  # a double has all values of 32 bits
        return self.typing is Typing.LITERAL


@dataclass(frozen=True, slots=True)
class Hole:
    """A parameter."""

    key: ParameterKey


def constant(node: exp.Expr, context: PlanContext) -> Constant | Hole | None:
    """The constant value of an expression; None if it varies by row or cannot be computed."""
    results = constants([node], context)
    return None if results is None else results[0]


def constants(nodes: Sequence[exp.Expr], context: PlanContext) -> list[Constant | Hole] | None:
    """The constant values of some expressions; None if one varies by row or cannot be computed.

    What the engine has to compute, it computes together.
    """
    nodes = list(map(_plain, nodes))
    results = list(map(written_constant, nodes))
    computed = [index for index, value in enumerate(results) if value is None]
    if any(_varies(nodes[index]) for index in computed):
        return None
    try:
        values = constant_values([nodes[index] for index in computed], context)
    except (DataError, ProgrammingError):
        return None  # the engine will say so when the row is there
    for index, value in zip(computed, values, strict=True):
        results[index] = Constant(value, _typing(value, nodes[index]))
    return [value for value in results if value is not None]


def _plain(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _typing(value: object, node: exp.Expr) -> Typing:
    """What a computed value says of its type.

    A float may have 32 bits in the engine, a text may be JSON, and a time may have nanoseconds.
    """
    is_of_several = type(value) is str or type(value) is dt.datetime
    decisive = [node.to] if isinstance(node, exp.Cast) else all_nodes(node)
    if type(value) in _OF_ONE_TYPE or (is_of_several and all(map(_is_common, decisive))):
        return Typing.COMPUTED
    return Typing.HIDDEN


def _is_common(node: exp.Expr) -> bool:
    """Whether an operation gives texts and times of the types that columns have."""
    if isinstance(node, exp.DataType):
        return node.this in _COMMON_TYPES
    return not isinstance(node, exp.Func) or isinstance(node, _COMMON_CALLS)


def _varies(node: exp.Expr) -> bool:
    return any(isinstance(part, _VARYING) or is_volatile(part) for part in all_nodes(node))


def written_constant(node: exp.Expr) -> Constant | Hole | None:
    """What is a constant as it is written."""
    match node:
        case exp.Literal():
            return Constant(literal_value(node))
        case exp.Placeholder():
            return Hole(parameter_key(node))
        case exp.Null():
            return Constant(None)
        case exp.Boolean():
            return Constant(bool(node.this))
        case exp.HexString():
            return _binary(node)
        case exp.Neg(this=exp.Literal(is_string=False) as number):
            return Constant(_negated(literal_value(number)))
        case exp.Cast(this=exp.Literal(is_string=True) as text):
            moment = _moment(text.this, node.to)
            return None if moment is None else Constant(moment)  # else the engine reads it
    return None


def literal_value(node: exp.Literal) -> object:
    """A text, an integer, a decimal of any length, or with an exponent a double."""
    text = str(node.this)
    if node.is_string:
        return text
    if "e" in text.lower():
        return float(text)
    return Decimal(text) if "." in text or len(text) > _MAX_DIGITS else int(text)


def _negated(number: object) -> object:
    """A number with its sign turned; a Decimal keeps digits that its arithmetic would round."""
    return number.copy_negate() if isinstance(number, Decimal) else -number  # type: ignore[operator]


def _binary(node: exp.HexString) -> Constant | None:
    try:
        return Constant(bytes.fromhex(str(node.this)))
    except ValueError:
        return None


def _moment(text: str, target: exp.DataType) -> dt.date | dt.datetime | None:
    """The moment that a text is in a form that everybody reads alike."""
    try:
        if target.is_type(exp.DType.DATE) and DATE_TEXT.fullmatch(text):
            return dt.date.fromisoformat(text)
        if target.is_type(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ) and TIMESTAMP_TEXT.fullmatch(
            text
        ):
            return dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return None
