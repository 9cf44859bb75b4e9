"""What functions return and operators make, where that follows from their names and operands.

A function stands here if the engine has one type for whatever it returns; of others it is asked.
"""

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS, Digits
from pykudu_sql.planner.types.engine_types import (
    DOUBLE,
    FLOAT,
    VARCHAR,
    digits_of_type,
    element_type,
    is_decimal,
    type_name,
    widest_integer,
)
from pykudu_sql.planner.vocabulary.function_names import function_names

_LISTED = """
    BIGINT: approx_count_distinct array_length bit_length century char_length character_length count
        count_star damerau_levenshtein date_diff datediff day dayofmonth dayofweek dayofyear decade
        editdist3 era hamming hour instr isodow isoyear len length length_grapheme levenshtein
        microsecond millennium millisecond minute month octet_length position quarter
        rank row_number dense_rank ntile second str_position strlen strpos week
        weekday weekofyear year yearweek
    BOOLEAN: array_contains array_has array_has_all array_has_any bool_and bool_or contains
        ends_with isfinite isinf isnan json_valid list_contains list_has list_has_all list_has_any
        prefix regexp_full_match regexp_like regexp_matches starts_with suffix
    DATE: current_date last_day make_date today
    DOUBLE: acos acosh asin asinh atan atan2 atanh avg cbrt corr cos cosh cot covar_pop covar_samp
        cume_dist degrees entropy epoch even exp gamma jaccard jaro_similarity
        jaro_winkler_similarity julian kurtosis kurtosis_pop lgamma ln log10 log2
        percent_rank pi pow power product radians random regr_avgx regr_avgy regr_intercept regr_r2
        regr_slope regr_sxx regr_sxy regr_syy sem sin sinh skewness sqrt stddev stddev_pop
        stddev_samp tan tanh var_pop var_samp variance
    HUGEINT: count_if countif factorial
    INTEGER: ascii ord unicode
    TIMESTAMP: current_timestamp get_current_timestamp localtimestamp make_timestamp now strptime
        transaction_timestamp try_strptime utc_timestamp
    TINYINT: sign
    VARCHAR: bar bin chr concat_ws current_database current_schema dayname format format_bytes
        group_concat hex initcap lcase left left_grapheme listagg lower lpad ltrim md5 monthname
        nfc_normalize overlay printf regexp_escape regexp_extract regexp_replace replace reverse
        right rpad rtrim sha1 sha256 space split_part strftime string_agg strip_accents substr
        substring substring_grapheme to_base to_base64 to_hex translate trim typeof ucase upper
        url_decode url_encode version
"""
# The type of their first argument, and that of its elements.
_OF_FIRST = frozenset(
    {
        *("array_distinct", "array_filter", "array_reverse", "array_reverse_sort", "array_sort"),
        *("filter", "list_distinct", "list_filter", "list_reverse", "list_reverse_sort"),
        *("list_sort", "repeat"),
    }
)
_OF_ELEMENTS = frozenset(
    {"array_extract", "list_extract", "list_first", "list_last", "list_max", "list_min"}
)
_OF_FIRST_FLOAT = frozenset({"ceil", "floor", "round"})  # of other numbers they make others
_DERIVED = _OF_FIRST | _OF_ELEMENTS | _OF_FIRST_FLOAT
_MAX_BITS_64 = 18  # digits of a DECIMAL in 64 bits, beyond which the engine widens no product
_FLOATS = (DOUBLE, FLOAT)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul)
OPERATORS = (*_ARITHMETIC, exp.Div, exp.DPipe)  # those that `operator_type` knows


def _returned() -> Iterator[tuple[str, str]]:
    returned = ""
    for word in _LISTED.split():
        if word.endswith(":"):
            returned = word[:-1]
        else:
            yield word, returned


RETURN_TYPES: Mapping[str, str] = dict(_returned())
_OF_QUANTILES = ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT", DOUBLE, "DATE", "TIMESTAMP")


def return_type(call: exp.Func, type_of: Callable[[exp.Expr], str | None]) -> str | None:
    """The type that a function returns; None if no rule derives it.

    Args:
        call: of it.
        type_of: gives the type of an argument.
    """
    names = function_names(call)
    fixed = next((RETURN_TYPES[name] for name in names if name in RETURN_TYPES), None)
    if fixed is not None or names.isdisjoint(_DERIVED):
        return fixed
    first = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
    name = type_of(first)
    if not names.isdisjoint(_OF_FIRST_FLOAT):
        return name if name in _FLOATS else None
    return element_type(name) if names.isdisjoint(_OF_FIRST) else name


def operator_type(node: exp.Expr, left: str | None, right: str | None) -> str | None:
    """The type of an operator's value; None where no rule derives it.

    Args:
        node: of two operands.
        left, right: their types.
    """
    if isinstance(node, exp.DPipe):
        return VARCHAR if left == right == VARCHAR else None
    one, other = digits_of_type(left), digits_of_type(right)
    if (one is None and left not in _FLOATS) or (other is None and right not in _FLOATS):
        return None
    if DOUBLE in (left, right):
        return DOUBLE if isinstance(node, (*_ARITHMETIC, exp.Div)) else None
    if isinstance(node, exp.Div):
        return FLOAT if FLOAT in (left, right) else DOUBLE
    if not isinstance(node, _ARITHMETIC):
        return None
    if one is None or other is None:
        return FLOAT
    if is_decimal(left) or is_decimal(right):
        return _decimal_type(node, one, other)
    return widest_integer([left, right])


def sum_type(name: str | None) -> str | None:
    """The type of a sum of values of a type; None where no rule derives it."""
    digits = digits_of_type(name)
    if digits is None:
        return DOUBLE if name in _FLOATS else None
    whole = Digits(MAX_DIGITS - digits.scale, digits.scale)
    return type_name(whole) if is_decimal(name) else "HUGEINT"


def quantile_type(name: str | None) -> str | None:
    """The type of one approximate quantile of values of a type; None where no rule derives it."""
    wider = {"TINYINT": "BIGINT", "FLOAT": DOUBLE}
    if name in wider:
        return wider[name]
    return name if name in _OF_QUANTILES or (name is not None and is_decimal(name)) else None


def _decimal_type(node: exp.Expr, one: Digits, other: Digits) -> str | None:
    """The type of a sum or a product of which one operand is a DECIMAL."""
    widths = [min(each.whole + each.scale, MAX_DIGITS) for each in (one, other)]
    if isinstance(node, exp.Mul):
        width, scale = sum(widths), one.scale + other.scale
        in_64_bits = scale < _MAX_BITS_64 and max(widths) <= _MAX_BITS_64
    else:
        scale = max(one.scale, other.scale)
        width, in_64_bits = max(max(one.whole, other.whole) + scale, *widths) + 1, False
    if scale > MAX_DIGITS:
        return None
    width = min(width, _MAX_BITS_64 if in_64_bits else MAX_DIGITS)
    return type_name(Digits(width - scale, scale))
