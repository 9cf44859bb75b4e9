"""Rounding of wide decimals, exact for every value.

Arrow divides a decimal of 256 bits by 10**k, in words of 32 bits, and gets some wrong by millions
where the divisor has more than one (26.0: 18446744073709551615.6 with 38 digits behind the point
becomes 18446744073652461707.9). So digits are cut off in steps whose divisors have one word.
"""

import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc

_PRECISION = 76
_NARROW_PRECISION = 38  # of 128 bits, which the processor divides
_DIGITS_OF_A_STEP = 9  # 10**9 is below 2**32


def rounded(decimals: pa.Array, scale: int) -> pa.Array:
    """Decimals with so many digits behind the point, a half away from zero.

    Args:
        decimals: any decimals of at least that scale whose digits before the point and `scale`
            behind it are fewer than 76.
        scale: digits to leave.

    Returns decimals of that scale. Raises ArrowInvalid: a value has too many digits.
    """
    digits = decimals.type.scale
    if pa.types.is_decimal128(decimals.type) and decimals.type.precision < _NARROW_PRECISION:
        narrow = decimals.cast(pa.decimal128(_NARROW_PRECISION, digits))  # which rounding may need
        cut = pc.round(narrow, scale, "half_towards_infinity")
        return cut.cast(pa.decimal128(_NARROW_PRECISION, scale))
    wide = decimals.cast(pa.decimal256(_PRECISION, digits))
    # The first digit that is left out decides, so all behind it may go without rounding.
    while digits > scale + 1:
        fewer = max(scale + 1, digits - _DIGITS_OF_A_STEP)
        cut = pc.round(wide, fewer, "towards_zero")
        wide, digits = cut.cast(pa.decimal256(_PRECISION, fewer)), fewer
    return pc.round(wide, scale, "half_towards_infinity").cast(pa.decimal256(_PRECISION, scale))
