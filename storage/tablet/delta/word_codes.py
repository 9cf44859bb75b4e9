"""Texts as codes of the words of a dictionary, whose cells are set like numbers."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import integers_of, pack_validity, validity
from pykudu_sql.storage.common.types.from_buffers import flags_of
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals

Codes = npt.NDArray[Any]

# Of fewer values a scan finds the codes as fast as it finds those of their words.
_LEAST_VALUES: Final = 256
_SAMPLED: Final = 128
_MOST_SAMPLED_WORDS: Final = 48
_VALUES_A_WORD: Final = 8


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


def few_words(values: pa.Array) -> pa.DictionaryArray | None:
    """Texts as codes of their words; None where they are few, or do not repeat themselves much."""
    if len(values) < _LEAST_VALUES:
        return None
    if len(pc.unique(values.slice(0, _SAMPLED))) > _MOST_SAMPLED_WORDS:
        return None
    encoded = values.dictionary_encode()
    return encoded if len(encoded.dictionary) * _VALUES_A_WORD <= len(values) else None


def recoded(
    words: pa.Array, values: Sequence[pa.DictionaryArray]
) -> tuple[Sequence[Codes], pa.Array]:
    """The codes of several arrays in other words, and these with those that only the arrays have.

    Dictionaries have no NULL among their words, and are looked up together: one of twenty words
    takes as long as the call.
    """
    together = coded(words, pa.concat_arrays([each.dictionary for each in values]))
    by_code = codes_of(together)
    codes, first = [], 0
    for each in values:
        own = by_code[first : first + len(each.dictionary)]
        first += len(own)
        # Those of NULLs are any number; without a word all cells are NULL.
        is_null = not len(own)
        codes.append(
            np.zeros(len(each), np.int8) if is_null else own.take(codes_of(each), mode="clip")
        )
    return codes, together.dictionary
