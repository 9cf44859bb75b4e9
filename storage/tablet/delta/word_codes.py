"""Texts as codes of the words of a dictionary, whose cells are set like numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import integers_of, pack_validity

Codes = npt.NDArray[Any]


def codes_of(values: pa.DictionaryArray) -> Codes:
    """The codes of values, shape (n,), zero-copy; those of NULLs are any number."""
    return integers_of(values.indices)


def words_by_code(
    codes: Codes, words: pa.Array, valid: npt.NDArray[np.bool_] | None = None
) -> pa.DictionaryArray:
    """The dictionary array over codes, zero-copy; `valid`: False where a cell is NULL."""
    indices = pa.Array.from_buffers(
        pa.from_numpy_dtype(codes.dtype),
        len(codes),
        [pack_validity(valid), pa.py_buffer(codes)],
    )
    return pa.DictionaryArray.from_arrays(indices, words, safe=False)


def coded(words: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    """Values by codes of words, with those that only the values have at the end; int32 codes."""
    encoded = values.dictionary_encode()
    existing = pc.index_in(encoded.dictionary, words)
    is_new = pc.is_null(existing)
    codes = np.asarray(pc.fill_null(existing, 0)).astype(np.int32)
    if existing.null_count:
        codes[np.asarray(is_new)] = len(words) + np.arange(existing.null_count, dtype=np.int32)
        words = pa.concat_arrays([words, encoded.dictionary.filter(is_new)])
    indices = pc.pick(pa.array(codes), encoded.indices)
    return pa.DictionaryArray.from_arrays(indices, words, safe=False)


def wide_enough(codes: Codes, words: pa.Array) -> Codes:
    """The codes, in wider integers where theirs do not have the number of all words."""
    return codes if len(words) - 1 <= np.iinfo(codes.dtype).max else codes.astype(np.int32)
