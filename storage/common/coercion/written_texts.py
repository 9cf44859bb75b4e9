"""Numbers and times of arrays as the texts that CAST and single values have: 1.0, 1e-05, 12:00:00.

Arrow writes doubles in other words (1, 0.00001, 1.5e-7), small decimals with an exponent, and all
six digits behind a second.
"""

from decimal import Decimal

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.coercion.time_arrays import to_micros
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers

# Python and the engine write an exponent from the one on and below the other, Arrow others between.
_LARGE, _LEAST_LARGE, _SMALL = 1e16, 1e10, 1e-4
# Of the 17 digits that a double has at most 11 or more are before the point there.
_POSITIONAL = pa.decimal128(24, 7)


def written_texts(values: pa.Array) -> pa.Array:
    """Doubles, decimals and times as texts; others as they are."""
    if pa.types.is_floating(values.type):
        return _numbers(values)
    if pa.types.is_decimal(values.type):
        return _decimals(values.cast(pa.string()))
    if pa.types.is_timestamp(values.type):
        return _without_zeros(to_micros(values).cast(pa.string()))
    if pa.types.is_time(values.type):
        return _without_zeros(values.cast(pa.time64("us"), safe=False).cast(pa.string()))
    return values


def _without_zeros(times: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(times, r"(?:\.0+|(\.[0-9]*[1-9])0+)$", r"\1")


def _numbers(values: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(values.cast(pa.string()), r"^(-?\d+)$", r"\1.0")
    numbers = from_buffers.numbers_of(values)
    sizes = np.abs(numbers)
    is_valid = from_buffers.flags_of(values.is_valid())
    large = (sizes >= _LEAST_LARGE) & (sizes < _LARGE) & is_valid
    small = (sizes < _SMALL) & (sizes > 0) & is_valid
    for is_other, write in ((large, _without_exponent), (small, _with_exponent)):
        if is_other.any():
            mask = from_buffers.flags(is_other)
            texts = pc.replace_with_mask(texts, mask, write(texts.filter(mask)))
    return texts


def _without_exponent(texts: pa.Array) -> pa.Array:
    """Numbers such as 1.2345678901e+10 as 12345678901.0."""
    texts = texts.cast(_POSITIONAL).cast(pa.string())
    return pc.replace_substring_regex(texts, r"(\.\d+?)0*$", r"\1")


def _with_exponent(texts: pa.Array) -> pa.Array:
    """Numbers such as 0.00001 as 1e-05, and such as 1.5e-7 as 1.5e-07."""
    for zeros, exponent in (("0000", "05"), ("00000", "06")):
        texts = pc.replace_substring_regex(
            texts, rf"^(-?)0\.{zeros}([1-9])(\d*)$", rf"\1\2.\3e-{exponent}"
        )
    texts = pc.replace_substring(texts, ".e", "e")
    return pc.replace_substring_regex(texts, r"e-(\d)$", r"e-0\1")


def _decimals(texts: pa.Array) -> pa.Array:
    is_other = pc.fill_null(pc.match_substring(texts, "E"), from_buffers.FALSE)
    if not pc.any(is_other).as_py():
        return texts
    others = [format(Decimal(text), "f") for text in texts.filter(is_other).to_pylist()]
    return pc.replace_with_mask(texts, is_other, from_buffers.texts(others))
