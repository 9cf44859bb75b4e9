"""The numbers that are written in a statement, and the types that the engine gives them."""

from decimal import Decimal

from sqlglot import exp

from pykudu_sql.planner.functions.decimal_values import Digits, digits_of_number
from pykudu_sql.planner.types.engine_types import DOUBLE, INTEGER_BITS, VARCHAR, type_name


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


def literal_type(node: exp.Literal) -> str:
    """The engine's type of a literal."""
    if node.is_string:
        return VARCHAR
    written = number(node)
    if written is None:
        return DOUBLE
    if "." in str(node.this):
        digits = _digits_as_written(node)
        return type_name(digits) if digits.fits_beside(digits) else DOUBLE
    bits = int(written).bit_length()
    least_bits = INTEGER_BITS["INTEGER"]
    fitting = (name for name, most in INTEGER_BITS.items() if max(bits, least_bits) <= most)
    return next(fitting, "UHUGEINT" if bits <= INTEGER_BITS["HUGEINT"] + 1 else "BIGNUM")


def fits_integer(node: exp.Expr, name: str | None) -> bool:
    """Whether a node is an integer literal that takes the narrower type of its other operand."""
    bits = INTEGER_BITS.get(name or "")
    written = None if bits is None else number(node)
    is_whole = written is not None and written == written.to_integral_value()
    return bits is not None and is_whole and int(written or 0).bit_length() <= bits


def _digits_as_written(node: exp.Literal) -> Digits:
    """The digits that the engine counts: a zero before the point too, while there is room."""
    whole, _, fraction = str(node.this).partition(".")
    least = digits_of_number(Decimal(str(node.this)))
    written = Digits(len(whole), len(fraction))
    return written if written.fits_beside(written) else Digits(least.whole, len(fraction))
