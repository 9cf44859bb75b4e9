"""Columns as JSON (RFC 8259), a text for each value, by kernels over whole columns.

Numbers keep every digit; NaN and infinities, which JSON does not have, are null; times and bytes
are strings; lists and structs are arrays and objects.
"""

import json

import numpy as np
import pyarrow as pa

from pykudu_sql.files.writing.column_texts import (
    by_word,
    has_bytes,
    is_nested,
    is_written_text,
    joined,
    scalar_texts,
    text_bytes,
)
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers
from pykudu_sql.storage.common.types.arrays import integers_of

_SPECIAL = np.zeros(256, np.bool_)
_SPECIAL[[*range(32), ord('"'), ord("\\")]] = True
_ZERO = from_buffers.integers(np.zeros(1, np.int32))[0]
_BACKSLASH = ord("\\")


def json_texts(array: pa.Array) -> pa.Array:
    """Values as JSON; NULL is the text `null`, so no text is missing.

    Raises NotSupportedError: values of this type have no text.
    """
    return pc.fill_null(by_word(array, _texts), from_buffers.text("null"))


def _texts(array: pa.Array) -> pa.Array:
    kind = array.type
    if is_nested(kind):
        return _objects(array) if pa.types.is_struct(kind) else _lists(array)
    if pa.types.is_floating(kind):
        finite = pc.is_finite(array)
        finite_values = (
            array if pc.all(finite).as_py() else pc.if_else(finite, array, pa.nulls(1, kind)[0])
        )
        return scalar_texts(finite_values)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return scalar_texts(array)
    texts = scalar_texts(array)
    if pa.types.is_timestamp(kind):
        texts = pc.utf8_replace_slice(texts, 10, 11, "T")
    if (is_written_text(kind) or pa.types.is_binary(kind)) and has_bytes(texts, _SPECIAL):
        texts = _escaped(texts)
    return joined('"', texts, '"')


def _escaped(texts: pa.Array) -> pa.Array:
    """Texts with escapes for those special characters that are in any of them."""
    data = np.frombuffer(text_bytes(texts), np.uint8)
    present = np.flatnonzero((np.bincount(data, minlength=256) > 0) & _SPECIAL).tolist()
    # The backslash first: it stands in the escapes of the others.
    for code in sorted(present, key=lambda code: (code != _BACKSLASH, code)):
        texts = pc.replace_substring(texts, chr(code), json.dumps(chr(code))[1:-1])
    return texts


def _lists(array: pa.Array) -> pa.Array:
    elements = json_texts(array.flatten())
    lengths = pc.coalesce(pc.list_value_length(array), _ZERO)
    ends = np.concatenate([[0], np.cumsum(integers_of(lengths))]).astype(np.int32)
    lists = pa.ListArray.from_arrays(from_buffers.integers(ends), elements)
    texts = joined("[", pc.binary_join(lists, from_buffers.text(",")), "]")
    return pc.if_else(pc.is_valid(array), texts, from_buffers.NO_TEXT)


def _objects(array: pa.Array) -> pa.Array:
    names = [field.name for field in array.type]
    texts = object_texts(names, array.flatten(), "}")
    return pc.if_else(pc.is_valid(array), texts, from_buffers.NO_TEXT)


def object_texts(names: list[str], columns: list[pa.Array], end: str) -> pa.Array:
    """Rows as objects. `end`: the brace that closes each, and what follows it."""
    pieces: list[str | pa.Array] = []
    for index, (name, column) in enumerate(zip(names, columns, strict=True)):
        head = ("," if index else "{") + json.dumps(name, ensure_ascii=False) + ":"
        pieces += [head, json_texts(column)]
    return joined(*pieces, end)
