"""Columns as texts for files: every digit is kept, times are ISO 8601, bytes are `\\x00ff`."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers
from pykudu_sql.storage.common.types.arrays import pack_validity, validity
from pykudu_sql.storage.errors import NotSupportedError

_HEX_PAIRS = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), "S2")

ToTexts = Callable[[pa.Array], pa.Array]


def is_nested(kind: pa.DataType) -> bool:
    """Whether values of a type are lists or structs."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_struct(kind))


def is_written_text(kind: pa.DataType) -> bool:
    """Whether the texts of a type may have any characters."""
    value_type = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(value_type)
        or pa.types.is_large_string(value_type)
        or pa.types.is_string_view(value_type)
        or is_nested(value_type)
    )


def by_word(array: pa.Array, to_texts: ToTexts) -> pa.Array:
    """What `to_texts` makes of an array, of each word of a dictionary once."""
    if pa.types.is_dictionary(array.type):
        return to_texts(array.dictionary).take(array.indices)
    return to_texts(array)


def scalar_texts(array: pa.Array) -> pa.Array:
    """Scalars as strings; NULL stays NULL.

    Raises NotSupportedError: values of this type have no text that a column would take.
    """
    kind = array.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _hex(array.cast(pa.binary()))
    if pa.types.is_timestamp(kind):
        return _times(array)
    try:
        texts = array.cast(pa.string())
    except pa.ArrowNotImplementedError:
        raise NotSupportedError(
            f"values of type {kind!s:.80} have no text in files",
            hint="CAST them to STRING, or write a Parquet or Arrow file",
        ) from None
    return _plain_decimals(texts) if pa.types.is_decimal(kind) else texts


def _times(array: pa.Array) -> pa.Array:
    if array.type.tz is not None:
        array = array.cast(pa.timestamp(array.type.unit, "UTC"))
    try:
        return array.cast(pa.timestamp("s", array.type.tz)).cast(pa.string())
    except pa.ArrowInvalid:  # there are fractions of seconds
        return array.cast(pa.string())


def _plain_decimals(texts: pa.Array) -> pa.Array:
    """Arrow writes small ones with an exponent."""
    short = pc.match_substring(texts, "E")
    if not pc.any(short).as_py():
        return texts
    digits = [format(Decimal(str(text)), "f") for text in texts.filter(short)]
    return pc.replace_with_mask(
        texts, pc.fill_null(short, from_buffers.FALSE), from_buffers.texts(digits)
    )


def _hex(array: pa.Array) -> pa.Array:
    compact = pa.concat_arrays([array])
    _, offsets, data = compact.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(compact) + 1, 4 * compact.offset)
    values = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if data else b""
    pairs = _HEX_PAIRS[np.asarray(values, np.uint8)] if len(values) else np.empty(0, "S2")
    moved = ((bounds - bounds[0]) * 2).astype(np.int32)
    buffers = [pack_validity(validity(compact)), pa.py_buffer(moved), pa.py_buffer(pairs)]
    digits = pa.Array.from_buffers(pa.string(), len(compact), buffers)
    return joined("\\x", digits)


def joined(*pieces: str | pa.Array, by: str = "") -> pa.Array:
    """Texts one behind the other in each row, with `by` between them; NULL where one is."""
    arguments = [from_buffers.text(each) if isinstance(each, str) else each for each in pieces]
    return pc.binary_join_element_wise(*arguments, from_buffers.text(by))


def has_bytes(texts: pa.Array, mask: npt.NDArray[np.bool_]) -> bool:
    """Whether the bytes of strings have one that a table of 256 flags marks."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return False
    bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset)
    return bool(mask[np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]].any())


def with_bytes(texts: pa.Array, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which strings have a byte that a table of 256 flags marks; none that is NULL."""
    matches = np.zeros(len(texts), np.bool_)
    _, offsets, data = texts.buffers()
    if data is not None and len(texts):
        bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset)
        hits = np.flatnonzero(mask[np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]])
        matches[np.searchsorted(bounds, hits + bounds[0], side="right") - 1] = True
        if texts.null_count:
            matches &= from_buffers.flags_of(texts.is_valid())
    return matches


def text_bytes(texts: pa.Array) -> memoryview:
    """The bytes of strings one behind the other; none is NULL."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return memoryview(b"")
    bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset)
    return memoryview(data)[int(bounds[0]) : int(bounds[-1])]
