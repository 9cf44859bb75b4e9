"""Numbers and times of arrays as the texts that CAST and single values have: 1.0, 1e-05, 12:00:00.

Arrow writes doubles in other words (1, 0.00001, 1.5e-7), small decimals with an exponent, and all
six digits behind a second.
"""

from decimal import Decimal

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers

_NO_ZEROS = r"\.?0+$"
# Above the one and below the other Python and the engine write exponents, Arrow at other numbers.
_LARGE, _LEAST_LARGE, _SMALL = 1e16, 1e10, 1e-4


def written_texts(values: pa.Array) -> pa.Array:
    """Doubles, decimals and times as texts; others as they are."""
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    if pa.types.is_floating(values.type):
        return _numbers(values)
    if pa.types.is_decimal(values.type):
        return _decimals(values.cast(pa.string()))
    if pa.types.is_timestamp(values.type) and values.type.unit == "us" and values.type.tz is None:
        texts = values.cast(pa.string())
        return pc.replace_substring_regex(texts, _NO_ZEROS, "")
    return values


def _numbers(values: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(values.cast(pa.string()), r"^(-?\d+)$", r"\1.0")
    numbers = from_buffers.numbers_of(values)
    sizes = np.abs(numbers)
    is_other = (sizes >= _LEAST_LARGE) & (sizes < _LARGE)
    is_other |= (sizes < _SMALL) & (sizes > 0)
    is_other &= from_buffers.flags_of(values.is_valid())
    if not is_other.any():
        return texts
    others = from_buffers.texts(numbers[is_other].astype("U32").tolist())
    return pc.replace_with_mask(texts, from_buffers.flags(is_other), others)


def _decimals(texts: pa.Array) -> pa.Array:
    is_other = pc.fill_null(pc.match_substring(texts, "E"), from_buffers.FALSE)
    if not pc.any(is_other).as_py():
        return texts
    others = [format(Decimal(text), "f") for text in texts.filter(is_other).to_pylist()]
    return pc.replace_with_mask(texts, is_other, from_buffers.texts(others))
