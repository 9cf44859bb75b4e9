"""Texts as codes of the words of a dictionary, whose cells are set like numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import integers_of, pack_validity, validity
from pykudu_sql.storage.common.types.from_buffers import flags_of
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals

Codes = npt.NDArray[Any]


def codes_of(values: pa.DictionaryArray) -> Codes:
    """The codes of values, shape (n,), zero-copy; those of NULLs are any number."""
    return integers_of(values.indices)


def words_by_code(
    codes: Codes, words: pa.Array, valid: pa.Buffer | None = None
) -> pa.DictionaryArray:
    """The dictionary array over codes, zero-copy; `valid`: of the cells; None without a NULL."""
    buffers = [valid, pa.py_buffer(codes)]
    indices = pa.Array.from_buffers(pa.from_numpy_dtype(codes.dtype), len(codes), buffers)
    return pa.DictionaryArray.from_arrays(indices, words, safe=False)


def coded(words: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    """Values by codes of words, with those that only the values have at the end; int32 codes."""
    existing = pc.index_in(values, words)
    if not existing.null_count:
        return pa.DictionaryArray.from_arrays(existing, words, safe=False)
    valid = validity(values)
    absent = flags_of(existing.is_null())
    codes = np.where(absent, np.int32(0), integers_of(existing))
    lacking = np.flatnonzero(absent if valid is None else absent & valid)
    if len(lacking):
        added = take_ordinals(values, lacking).dictionary_encode()
        codes[lacking] = len(words) + integers_of(added.indices)
        words = pa.concat_arrays([words, added.dictionary])
    return words_by_code(codes, words, pack_validity(valid))


def wide_enough(codes: Codes, words: pa.Array) -> Codes:
    """The codes, in wider integers where theirs do not have the number of all words."""
    return codes if len(words) - 1 <= np.iinfo(codes.dtype).max else codes.astype(np.int32)
