"""Texts of files as the values that they write; what a column would cut is refused.

Hexadecimal digits, more digits than a DECIMAL has, a time of day in a DATE and a number beyond the
doubles are refused. A text is cut to the length of a VARCHAR, as by INSERT, and `\\x00ff` is
the bytes of a BINARY.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import cells_to_array, pack_validity, validity
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.text_forms import NO_NUMBER, NUMBER, WHOLE
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.common.types.value_text import quote_value
from pykudu_sql.storage.errors import DataError, InvalidValueError

NOT_UTF_8: Final = "iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE converts a file of Windows"
_NULL_WORDS: Final = frozenset({"null", "na", "n/a", "#n/a", "none", "nil", "\\n", "-", "?"})
_WHOLE = re.compile(WHOLE)
_NUMBER = re.compile(f"{NUMBER}|{NO_NUMBER}")
_MORE_THAN_MICROS = r"\.[0-9]{6}[0-9]*[1-9]"
_AFTER_MIDNIGHT = r"[T ].*[1-9]"
_HEX = r"^(\\x)([0-9A-Fa-f][0-9A-Fa-f])*$"


def read_texts(texts: pa.Array, column: ColumnSchema, *, blank_is_null: bool) -> pa.Array:
    """Texts as values of a column.

    Args:
        texts: strings, or bytes that are to be UTF-8.
        column: that takes them.
        blank_is_null: whether a text of blanks is NULL where the column is no text.

    Raises DataError: one of them is no such value, or would lose a part.
    """
    if pa.types.is_binary(texts.type):
        texts = _decoded(texts, column)
    if column.type.is_text:
        return coerce(texts, column.type, column.name)
    if column.type.kind is Kind.BINARY:
        return _bytes(texts)
    trimmed = pc.utf8_trim_whitespace(texts)
    if blank_is_null:
        trimmed = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
    _check_exact(trimmed, column)
    try:
        values = coerce(trimmed, column.type, column.name)
    except DataError:
        return cells_to_array([_cell(text, column) for text in trimmed.to_pylist()], column.type)
    if column.type.is_floating:
        _check_finite(trimmed, values, column)
    return values


def _decoded(texts: pa.Array, column: ColumnSchema) -> pa.Array:
    try:
        return texts.cast(pa.string())
    except pa.ArrowInvalid:
        raise InvalidValueError(
            f"column '{column.name}': a text is not UTF-8", hint=NOT_UTF_8, sqlstate="22021"
        ) from None


def _check_exact(texts: pa.Array, column: ColumnSchema) -> None:
    """Refuse texts that a conversion takes and that mean more than it keeps."""
    if column.type.kind is Kind.UNIXTIME_MICROS:
        wrong = pc.match_substring_regex(texts, _MORE_THAN_MICROS)
    elif column.type.kind is Kind.DATE:
        wrong = pc.match_substring_regex(texts, _AFTER_MIDNIGHT)
    elif column.type.kind is Kind.DECIMAL:
        wrong = pc.match_substring_regex(texts, rf"\.[0-9]{{{column.type.scale}}}[0-9]*[1-9]|[eE]")
        if pc.any(wrong).as_py():
            for text in texts.filter(wrong).to_pylist():
                _cell(text, column)
        return
    else:
        return
    if pc.any(wrong).as_py():
        raise _refusal(texts.filter(wrong)[0].as_py(), column)


def _check_finite(texts: pa.Array, values: pa.Array, column: ColumnSchema) -> None:
    grown = pc.and_(
        pc.is_inf(values), pc.invert(pc.match_substring(texts, "inf", ignore_case=True))
    )
    if pc.any(grown).as_py():
        raise _refusal(texts.filter(grown)[0].as_py(), column)


def _cell(text: str | None, column: ColumnSchema) -> Cell:
    """One text as a cell. Raises DataError: it is no such value."""
    if text is None:
        return None
    check = _CHECKS.get(column.type.kind, _is_whole if column.type.is_integer else None)
    if check is not None and not check(text, column.type):
        raise _refusal(text, column)
    try:
        return to_cell(text, column.type)
    except DataError as error:
        raise type(error)(
            f"column '{column.name}': {error.message}", hint=error.hint, sqlstate=error.sqlstate
        ) from None


def _is_whole(text: str, column_type: DataType) -> bool:
    return _WHOLE.fullmatch(text) is not None


def _is_number(text: str, column_type: DataType) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _keeps_digits(text: str, column_type: DataType) -> bool:
    if not _is_number(text, column_type):
        return False
    try:
        _, digits, exponent = Decimal(text).normalize().as_tuple()
    except InvalidOperation:
        return False
    return isinstance(exponent, int) and (exponent >= -column_type.scale or digits == (0,))


def _keeps_time(text: str, column_type: DataType) -> bool:
    return re.search(_MORE_THAN_MICROS, text) is None


def _is_day(text: str, column_type: DataType) -> bool:
    return re.search(_AFTER_MIDNIGHT, text) is None


_CHECKS: Mapping[Kind, Callable[[str, DataType], bool]] = MappingProxyType(
    {
        Kind.DECIMAL: _keeps_digits,
        Kind.FLOAT: _is_number,
        Kind.DOUBLE: _is_number,
        Kind.UNIXTIME_MICROS: _keeps_time,
        Kind.DATE: _is_day,
    }
)


def _refusal(text: str, column: ColumnSchema) -> InvalidValueError:
    hint = None
    if text.lower() in _NULL_WORDS:
        hint = f"if it means NULL: COPY .. (NULL '{text}'), in the shell .import .. --null {text}"
    return InvalidValueError(
        f"column '{column.name}': {quote_value(text)} is no {column.type}", hint=hint
    )


def _bytes(texts: pa.Array) -> pa.Array:
    """Texts as bytes: those that hexadecimal digits write, or else those of the text."""
    written = pc.match_substring_regex(texts, _HEX)
    if not pc.any(written).as_py():
        return texts.cast(pa.binary())
    nothing = pa.scalar(None, pa.string())
    digits = pc.utf8_slice_codeunits(pc.if_else(written, texts, nothing), 2)
    plain = pc.if_else(written, nothing, texts).cast(pa.binary())
    return pc.coalesce(_unhexed(digits), plain)


def _unhexed(digits: pa.Array) -> pa.Array:
    """Hexadecimal digits, an even number each, as bytes."""
    compact = pa.concat_arrays([digits])
    _, offsets, data = compact.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(compact) + 1, 4 * compact.offset)
    text = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if data else np.empty(0, np.uint8)
    nibbles = _NIBBLES[text]
    joined = (nibbles[0::2] << 4) | nibbles[1::2]
    moved = ((bounds - bounds[0]) // 2).astype(np.int32)
    buffers = [
        pack_validity(validity(compact)),
        pa.py_buffer(moved),
        pa.py_buffer(np.ascontiguousarray(joined)),
    ]
    return pa.Array.from_buffers(pa.binary(), len(compact), buffers)


def _nibbles() -> npt.NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    for value, digit in enumerate("0123456789abcdef"):
        table[[ord(digit), ord(digit.upper())]] = value
    return table


_NIBBLES = _nibbles()
