"""Codes of texts among words."""

import pyarrow as pa
import pytest

from pykudu_sql.executor.reading.groups.coded_stream import code_type, codes_of
from pykudu_sql.storage.errors import InternalError

WORDS = pa.array(["a", "b", "c"])
CODES = [2, None, 0, 2]


def encoded(dictionary: list[str], indices: list[int | None]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(dictionary))


@pytest.mark.parametrize(
    "texts",
    [
        pa.array(["c", None, "a", "c"]),
        encoded(["a", "b", "c"], [2, None, 0, 2]),
        encoded(["c", "b", "a"], [0, None, 2, 0]),
        encoded(["a", "c"], [1, None, 0, 1]),
    ],
    ids=["plain", "the same words", "in another order", "some of the words"],
)
def test_codes_count_words_whatever_the_dictionary(texts: pa.Array) -> None:
    codes = codes_of(texts, WORDS)
    assert (codes.type, codes.to_pylist()) == (pa.int8(), CODES)


def test_codes_of_the_same_words_are_not_copied() -> None:
    texts = encoded(["a", "b", "c"], [2, 1, 0])
    codes = codes_of(texts, WORDS)
    assert codes.buffers()[1].address == texts.indices.buffers()[1].address


def test_a_text_that_is_no_word_is_no_null() -> None:
    with pytest.raises(InternalError, match="texts that its dictionaries do not have"):
        codes_of(pa.array(["a", "z"]), WORDS)


def test_more_words_need_wider_codes() -> None:
    assert (code_type(128), code_type(129)) == (pa.int8(), pa.int16())
