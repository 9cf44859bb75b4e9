"""Exact comparisons for Spark, which has no integers of any length.

Where two numbers need more than 38 digits together, the embedded engine gets their keys instead:
integers of any length, in units of 10 to the power of -`KEY_SCALE`, by way of text (see
`type_coercion/exact_decimals`). Spark gets the whole part of the number and what is behind the
point, each a decimal, as a struct, which compares field by field:

    CAST(replace(CAST(x AS TEXT), '.', '') || '000..' AS BIGNUM)
    CASE WHEN NOT x IS NULL THEN NAMED_STRUCT('whole', FLOOR(x), 'rest', x - FLOOR(x)) END
"""

from sqlglot import exp

from pykudu_sql.planner.functions.decimal_values import KEY_SCALE, MAX_DIGITS
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, Typed, ValueType

_WHOLE = f"DECIMAL({MAX_DIGITS}, 0)"
_REST = f"DECIMAL({MAX_DIGITS}, {MAX_DIGITS})"


def is_key_type(to: exp.DataType) -> bool:
    """Whether a cast to a type makes a key."""
    return bool(to.this is exp.DType.BIGNUM)


def exact_form(node: exp.Expr) -> exp.Expr | None:
    """The comparison of keys in `COALESCE(quick form, comparison of keys)`, None of another call.

    It alone says what both do; see `types/quick_comparisons`.
    """
    if not isinstance(node, exp.Coalesce) or len(node.expressions) != 1:
        return None
    quick, exact = node.this, node.expressions[0]
    is_quick = type(quick) is type(exact) and quick.find(exp.TryCast) is not None
    keys = any(is_key_type(each.args["to"]) for each in exact.find_all(exp.Cast))
    return exact if is_quick and keys else None


def key_operand(node: exp.Expr) -> exp.Expr:
    """The number, or the literal of a key, that a cast to a key is of.

    Raises NotOnSparkError: it is a cast that no rewrite made.
    """
    operand: exp.Expr = node.this.unnest()
    if not isinstance(operand, exp.DPipe):
        return operand
    text = operand.this
    number = text.expressions[0] if isinstance(text, exp.Anonymous) else text.this
    if not isinstance(number, exp.Cast):
        raise NotOnSparkError("a cast to BIGNUM")
    value: exp.Expr = number.this
    return value


def key_of(number: Typed) -> Typed:
    """The key of a number, or of the literal of a key. Raises NotOnSparkError: it has none."""
    if number.type is ValueType.NULL:
        return number
    if number.type is ValueType.TEXT and isinstance(number.node, exp.Literal):
        return Typed(_constant_key(int(number.node.name)), ValueType.KEY)
    if number.type is not ValueType.DECIMAL and not number.type.is_integer:
        raise NotOnSparkError(f"an exact comparison of {number.type.name}")
    value = _cast(number.node, _WHOLE) if number.type.is_integer else exp.paren(number.node)
    whole = exp.Anonymous(this="FLOOR", expressions=[value.copy()])
    key = _struct(whole, exp.Sub(this=value.copy(), expression=whole.copy()))
    is_null = exp.Not(this=exp.Is(this=value, expression=exp.null()))
    return Typed(exp.Case(ifs=[exp.If(this=is_null, true=key)]), ValueType.KEY)


def _constant_key(units: int) -> exp.Expr:
    whole, rest = divmod(units, 10**KEY_SCALE)
    rest, beyond = divmod(rest, 10 ** (KEY_SCALE - MAX_DIGITS))
    if beyond or abs(whole) >= 10**MAX_DIGITS:
        raise NotOnSparkError("a comparison with a number of more digits than a DECIMAL has")
    behind_point = exp.Literal.string(f"0.{rest:0{MAX_DIGITS}}")
    return _struct(exp.Literal.string(str(whole)), behind_point)


def _struct(whole: exp.Expr, rest: exp.Expr) -> exp.Expr:
    fields = (
        *(exp.Literal.string("whole"), _cast(whole, _WHOLE)),
        *(exp.Literal.string("rest"), _cast(rest, _REST)),
    )
    return exp.Anonymous(this="NAMED_STRUCT", expressions=list(fields))


def _cast(node: exp.Expr, name: str) -> exp.Expr:
    return exp.Cast(this=node, to=exp.DataType.build(name, dialect="spark"))
