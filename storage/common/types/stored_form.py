"""Arrow's wrapped and encoded values as plain ones: what a value is, not how a tool carries it.

Extension types (a name around another type) become the type that stores them, `arrow.bool8` a
BOOLEAN, run-end encoded values one for each row. Dictionaries stay, of words that Arrow can gather.
Nothing else may reach Arrow's casts: of an extension over a view they read other memory.
"""

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.types.from_buffers import integers, numbers_of


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values that arrays of a type have, dictionaries among them."""
    while True:
        if isinstance(kind, pa.Bool8Type):
            return pa.bool_()
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def stored_values(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The values themselves, plain or in a dictionary of plain words; most arrays as they are."""
    if not _is_carried(values.type):
        return values
    if isinstance(values, pa.ChunkedArray):
        empty = pa.array([], stored_type(values.type))
        return pa.chunked_array([stored_values(chunk) for chunk in values.chunks] or [empty])
    if isinstance(values.type, pa.Bool8Type):
        return values.storage.cast(pa.bool_())
    if isinstance(values, pa.ExtensionArray):
        return stored_values(values.storage)
    if pa.types.is_dictionary(values.type):
        return pa.DictionaryArray.from_arrays(values.indices, _words(values.dictionary))
    rows = np.arange(values.offset, values.offset + len(values))
    runs = np.searchsorted(numbers_of(values.run_ends), rows, side="right")
    return _words(values.values).take(integers(runs))


def _is_carried(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_carried(kind.value_type) or _lacks_kernels(kind.value_type)
    return isinstance(kind, pa.BaseExtensionType) or pa.types.is_run_end_encoded(kind)


def _words(values: pa.Array) -> pa.Array:
    """Values that Arrow can gather."""
    words = stored_values(values)
    if pa.types.is_dictionary(words.type):
        words = words.dictionary_decode()
    if pa.types.is_string_view(words.type):
        return words.cast(pa.large_string())
    return words.cast(pa.large_binary()) if pa.types.is_binary_view(words.type) else words


def _lacks_kernels(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))
