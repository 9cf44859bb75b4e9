"""The number types of expressions, by the engine's rules.

Columns carry the engine's name of their type in their meta (`column_types` puts it there). What is
read off a tree is: columns, literals, casts, sums and extremes. Where several values become one,
the type is that of `united`, which has all their digits behind the point. Of everything else the
engine is asked, once an expression: for the type over NULLs of its columns' types.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp

from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS, Digits, digits_of_number
from pykudu_sql.planner.functions.exact_literals import type_literals
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.storage.errors import DataError, NotSupportedError, ProgrammingError

TYPE = "pykudu_type"  # in the meta of a column: the engine's name of its type
COLUMNS = "pykudu_columns"  # in the meta of a query: names and types, None where one is unknown
BOOLEAN, NULL = "BOOLEAN", '"NULL"'
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")
_EACH_DECIMAL = re.compile(r"DECIMAL\(\d+, ?\d+\)")
_INTEGERS: Mapping[str, int] = MappingProxyType(
    {
        **{"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "HUGEINT": MAX_DIGITS + 1},
        **{"UTINYINT": 3, "USMALLINT": 5, "UINTEGER": 10, "UBIGINT": 20},
        **{"UHUGEINT": MAX_DIGITS + 1, "INT": 10, "INT128": MAX_DIGITS + 1},
    }
)
_WRAPPERS = (exp.Paren, exp.Alias, exp.Neg, exp.Abs, exp.Filter, exp.Window, exp.IgnoreNulls)
_KEEPING = (exp.Min, exp.Max, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue)


def digits_of_type(name: str | None) -> Digits | None:
    """The digits of an engine's type; None if it is no exact number."""
    decimal = _DECIMAL.fullmatch(name or "")
    if decimal is not None:
        precision, scale = map(int, decimal.groups())
        return Digits(precision - scale, scale)
    whole = _INTEGERS.get(name or "")
    return None if whole is None else Digits(whole, 0)


def decimals_within(name: str | None) -> list[str]:
    """The types of the decimals in lists, structs and maps of a type; none of what is no such."""
    return [] if digits_of_type(name) is not None else _EACH_DECIMAL.findall(name or "")


def is_decimal(name: str | None) -> bool:
    """Whether an engine's type is a DECIMAL."""
    return _DECIMAL.fullmatch(name or "") is not None


def number(node: exp.Expr) -> Decimal | None:
    """The number that is written, without an exponent; None of everything else."""
    sign = False
    while isinstance(node, exp.Paren | exp.Neg | exp.Alias):
        sign ^= isinstance(node, exp.Neg)
        node = node.this
    if not isinstance(node, exp.Literal) or node.is_string or "e" in str(node.this).lower():
        return None
    written = Decimal(str(node.this))
    return written.copy_negate() if sign else written


def digits_as_written(node: exp.Literal) -> Digits:
    """The digits that the engine counts: a zero before the point too, while there is room."""
    whole, _, fraction = str(node.this).partition(".")
    least = digits_of_number(Decimal(str(node.this)))
    written = Digits(len(whole), len(fraction))
    return written if written.fits_beside(written) else Digits(least.whole, len(fraction))


def alternatives(node: exp.Expr) -> list[exp.Expr]:
    """The operands of which an expression has one's value, or all in a list; nothing of others."""
    match node:
        case exp.Case():
            found = [
                *(each.args.get("true") for each in node.args["ifs"]),
                node.args.get("default"),
            ]
        case exp.If() | exp.Nvl2():
            found = [node.args.get("true"), node.args.get("false")]
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            found = [node.this, *node.expressions]
        case exp.Array():
            found = node.expressions
        case exp.Lag() | exp.Lead():
            found = [node.this, node.args.get("default")]
        case _:
            return []
    return [each for each in found if each is not None]


def fit_together(found: Iterable[Digits]) -> bool:
    """Whether one type of the engine has all the values of some."""
    together = widest(found)
    return together.fits_beside(together)


def widest(found: Iterable[Digits]) -> Digits:
    """The digits that all have together."""
    each = list(found)
    return Digits(max(one.whole for one in each), max(one.scale for one in each))


def united(found: Sequence[Digits]) -> Digits:
    """The type of one of several decimals: all digits behind the point, and as many before it."""
    together = widest(found)
    return Digits(min(together.whole, MAX_DIGITS - together.scale), together.scale)


def type_name(digits: Digits) -> str:
    """The engine's name of a DECIMAL."""
    return f"DECIMAL({max(1, digits.whole + digits.scale)},{digits.scale})"


def decimal_type(digits: Digits) -> exp.DataType:
    """A DECIMAL, as it stands in a cast."""
    return exp.DataType.build(type_name(digits), dialect="duckdb")


def cast_in_place(node: exp.Expr, target: exp.DataType) -> None:
    """Put a cast of an expression in its place."""
    cast = exp.Cast(to=target)
    node.replace(cast)
    cast.set("this", node)


@dataclass(frozen=True, slots=True)
class NumberTypes:
    """The types of the expressions of one statement.

    Attributes:
        context: for asking the engine.
        prepare: makes an expression one that the engine understands.
    """

    context: PlanContext
    prepare: Callable[[exp.Expr], exp.Expr]
    _known: dict[int, tuple[exp.Expr, str | None]] = field(default_factory=dict)
    _holding: dict[int, tuple[exp.Expr, bool]] = field(default_factory=dict)

    def digits(self, node: exp.Expr) -> Digits | None:
        """The digits of a number; of one that is written, those that it needs."""
        written = number(node)
        return digits_of_type(self.of(node)) if written is None else digits_of_number(written)

    def of(self, node: exp.Expr) -> str | None:
        """The engine's name of an expression's type; None if it cannot be told."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._of(node))
        return known[1]

    def holds_decimals(self, node: exp.Expr) -> bool:
        """Whether a DECIMAL is read or written in an expression; without one it is none."""
        known = self._holding.get(id(node))
        if known is None:
            holds = _is_decimal_source(node) or any(
                self.holds_decimals(child) for child in node.iter_expressions()
            )
            known = self._holding[id(node)] = (node, holds)
        return known[1]

    def common(self, nodes: Sequence[exp.Expr]) -> str | None:
        """The type of one of several values; None if they are not all exact numbers."""
        nodes = [each for each in nodes if not isinstance(each, exp.Null | exp.Placeholder)]
        names = [self.of(each) for each in nodes]
        found = [self.digits(each) for each in nodes]
        digits = [each for each in found if each is not None]
        if not digits or len(digits) < len(found):
            return names[0] if names and len(set(names)) == 1 else None
        if len(set(names)) == 1 or not any(map(is_decimal, names)):
            return names[0] if len(set(names)) == 1 else None
        return type_name(united(digits))

    def _of(self, node: exp.Expr) -> str | None:
        match node:
            case exp.Column() | exp.Identifier():
                name: str | None = node.meta.get(TYPE)
                return name
            case exp.Query():
                return next((name for _, name in node.meta.get(COLUMNS, ())), None)
            case exp.Null():
                return NULL
            case exp.Placeholder():
                return None
            case exp.Literal():
                return self._of_literal(node)
            case exp.Cast():
                name = _cast_type(node.to)
                return self._asked(node) if name is None else name
            case exp.Predicate() | exp.Connector() | exp.Not():
                return BOOLEAN
            case exp.Sum():
                return self._of_sum(node)
        if isinstance(node, _WRAPPERS) or (
            isinstance(node, _KEEPING) and not node.expressions and is_decimal(self.of(node.this))
        ):
            return self.of(node.this)
        if alternatives(node) and not isinstance(node, exp.Array):
            name = self.common(alternatives(node))
            if name is not None:
                return name
        return self._asked(node)

    def _of_literal(self, node: exp.Literal) -> str | None:
        if node.is_string:
            return "VARCHAR"
        written = number(node)
        if written is None:
            return "DOUBLE"
        digits = digits_as_written(node)
        if "." not in str(node.this):
            return "INTEGER" if digits.whole < _INTEGERS["INTEGER"] else self._asked(node)
        return type_name(digits) if digits.fits_beside(digits) else "DOUBLE"

    def _of_sum(self, node: exp.Sum) -> str | None:
        summed = digits_of_type(self.of(node.this))
        if summed is None:
            return self._asked(node)
        is_sum = is_decimal(self.of(node.this))
        return type_name(Digits(MAX_DIGITS - summed.scale, summed.scale)) if is_sum else "HUGEINT"

    def _asked(self, node: exp.Expr) -> str | None:
        """The type by the engine, of an expression over NULLs of its columns' types."""
        meant = self.prepare(node.copy())
        chosen = alternatives(meant) if not alternatives(node) else ()
        if chosen and (name := self.common(chosen)) is not None:
            return name
        if not all(self._stand_in(each) for each in list(_outermost(meant))):
            return None
        try:
            sql = to_sql(type_literals(meant))
            return str(self.context.evaluate(f"SELECT typeof({sql})"))
        except (DataError, ProgrammingError, NotSupportedError):
            return None

    def _stand_in(self, node: exp.Expr) -> bool:
        """Put a NULL of its type in an operand's place; whether its type is known."""
        name = self.of(node)
        if name is None and not isinstance(node, exp.Placeholder):
            return False
        node.replace(typed_null(name))
        return True


def typed_null(name: str | None) -> exp.Expr:
    """NULL of a type that the engine names; of none, if that is None."""
    if name is None or name == NULL:
        return exp.Null()
    return exp.cast(exp.Null(), exp.DataType.build(name, dialect="duckdb"))


def _outermost(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an expression whose types are known without asking, and parameters."""
    for child in node.iter_expressions():
        is_united = alternatives(child) and not isinstance(child, exp.Array)
        if isinstance(child, _READ) or TYPE in child.meta or is_united:
            yield child
        elif not isinstance(child, exp.DataType):
            yield from _outermost(child)


def _is_decimal_source(node: exp.Expr) -> bool:
    match node:
        case exp.Column():
            return TYPE not in node.meta or "DECIMAL" in str(node.meta[TYPE])
        case exp.Identifier():
            return "DECIMAL" in str(node.meta.get(TYPE))
        case exp.Query():
            return any("DECIMAL" in str(name) for _, name in node.meta.get(COLUMNS, ()))
        case exp.Literal():
            return not node.is_string and "." in str(node.this)
        case exp.DataType():
            return node.is_type(exp.DType.DECIMAL)
    return False


_READ = (exp.Column, exp.Query, exp.Placeholder, exp.Predicate, exp.Connector, exp.Not)


def _cast_type(target: exp.DataType) -> str | None:
    """The engine's name of a number type that is cast to; None of any other type."""
    name = target.sql("duckdb").upper()
    return name if digits_of_type(name) is not None else None
