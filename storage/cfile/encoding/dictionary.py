"""DICT_ENCODING: one dictionary for the whole CFile, blocks of codewords (`binary_dict_block.h`).

The words are distinct and ascend by their bytes, so the order of codes is the order of values and
the smallest code of a block is its smallest value. The dictionary is a PLAIN block of its own. A
code takes 1, 2 or 4 bytes by the number of words, and blocks are bit-shuffled codes.

Kudu starts with a dictionary and falls back to PLAIN for the blocks after it has filled up. Here
the whole column is at hand, so the choice is made once, at first on a sample: a column of mostly
distinct strings is not hashed in vain.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.cfile.encoding import bitshuffle
from pykudu_sql.storage.cfile.encoding.plain import PLAIN_ENCODING
from pykudu_sql.storage.cfile.encoding.traits import (
    DictionaryCodec,
    DictionaryColumn,
    EncodingTraits,
)
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import filled_numbers, plain
from pykudu_sql.storage.common.types.from_buffers import integers, numbers_of
from pykudu_sql.storage.common.types.types import DataType, Encoding

_SAMPLE_ROWS = 16 * 1024
_SMALL_DICTIONARY_WORDS = 128


def code_type(words: int) -> np.dtype[Any]:
    """The signed integer that holds the codes of so many words."""
    if words <= 1 << 7:
        return np.dtype("<i1")
    return np.dtype("<i2") if words <= 1 << 15 else np.dtype("<i4")


def words_size(words: pa.Array) -> int:
    """Bytes that words take in a block: their own and four for each length."""
    return int(pc.sum(pc.binary_length(words)).as_py() or 0) + 4 * len(words)


def build(values: pa.Array, value_type: pa.DataType, limit: int) -> DictionaryColumn | None:
    """The column in codes, or None when its dictionary would be empty or not fit `limit` bytes.

    Args:
        values: strings or binaries, or a dictionary array of them, which is not decoded.
        value_type: Arrow type of the words.
        limit: of the dictionary block, in bytes.
    """
    if not pa.types.is_dictionary(values.type):
        if len(values) > _SAMPLE_ROWS:
            sample = values.slice(0, _SAMPLE_ROWS).dictionary_encode()
            if words_size(sample.dictionary) > limit:
                return None
        values = values.dictionary_encode()
    elif values.dictionary.null_count:
        values = values.dictionary_decode().dictionary_encode()
    indices = values.indices
    if indices.null_count:
        kind = indices.type.to_pandas_dtype()
        indices = integers(filled_numbers(indices, 0).astype(kind))
    words = values.dictionary
    if words.type != value_type:
        words = words.cast(value_type)
    if len(words) > _SMALL_DICTIONARY_WORDS:
        words, indices = _without_unused(words, indices)
    if len(words) == 0 or words_size(words) > limit:
        return None
    return _sorted(words, indices)


def _without_unused(words: pa.Array, indices: pa.Array) -> tuple[pa.Array, pa.Array]:
    """A dictionary shared by many files holds words that this column does not have."""
    used = pc.unique(indices)
    if len(used) == len(words):
        return words, indices
    remap = np.zeros(len(words), np.int32)
    remap[numbers_of(used)] = np.arange(len(used), dtype=np.int32)
    return words.take(used), pc.pick(integers(remap), indices)


def _sorted(words: pa.Array, indices: pa.Array) -> DictionaryColumn:
    distinct = words.dictionary_encode()
    order = numbers_of(pc.sort_indices(distinct.dictionary))
    kind = code_type(len(order))
    ranks = np.empty(len(order), kind)
    ranks[order] = np.arange(len(order), dtype=kind)
    # Words may repeat, as when VARCHAR cut them short; equal words get one code.
    codes = ranks[numbers_of(distinct.indices)]
    identity = len(codes) == len(order) and bool((codes == np.arange(len(codes))).all())
    if identity and indices.type == pa.from_numpy_dtype(kind):
        return DictionaryColumn(numbers_of(indices), plain(words))
    # Arrow's take is four times as fast as numpy's here. Its indices are an array's own codes.
    mapped = pc.pick(integers(codes), indices)
    return DictionaryColumn(numbers_of(mapped), distinct.dictionary.take(integers(order)))


def _fits(column_type: DataType) -> bool:
    return column_type.is_variable


DICT_ENCODING = EncodingTraits(
    name=Encoding("DICT_ENCODING"),
    tag=4,
    fits=_fits,
    aliases=("DICT", "DICTIONARY"),
    fallback=(PLAIN_ENCODING,),
    codes=DictionaryCodec(build, bitshuffle.compress, code_type, bitshuffle.decompress_run_into),
)
