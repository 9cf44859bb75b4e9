"""One dictionary for a column: order of codes, unused and equal words, and its limit."""

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.encoding import dictionary


@pytest.mark.parametrize(
    ("words", "kind"), [(128, "i1"), (129, "i2"), (1 << 15, "i2"), (32769, "i4")]
)
def test_codes_are_as_narrow_as_the_number_of_words_permits(words: int, kind: str) -> None:
    assert dictionary.code_type(words) == np.dtype(f"<{kind}")


def test_words_ascend_so_that_codes_compare_as_values_do() -> None:
    column = dictionary.build(pa.array(["b", "a", "c", "a"]), pa.string(), 1000)
    assert column is not None
    assert column.words.to_pylist() == ["a", "b", "c"]
    assert column.codes.tolist() == [1, 0, 2, 0]


def test_equal_words_of_a_given_dictionary_get_one_code() -> None:
    given = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), ["b", "a", "b"])
    column = dictionary.build(given, pa.string(), 1000)
    assert column is not None
    assert (column.words.to_pylist(), column.codes.tolist()) == (["a", "b"], [1, 0, 1])


def test_words_that_a_column_does_not_have_are_left_out_of_a_large_dictionary() -> None:
    words = [f"w{number:03d}" for number in range(200)]
    given = pa.DictionaryArray.from_arrays(pa.array([7, 3, 7], pa.int32()), words)
    column = dictionary.build(given, pa.string(), 1 << 20)
    assert column is not None
    assert column.words.to_pylist() == ["w003", "w007"]


def test_no_dictionary_is_made_that_is_empty_or_beyond_its_limit() -> None:
    words = pa.array(["abc", "d"])
    size = dictionary.words_size(words)
    assert size == 4 + 2 * 4
    assert dictionary.build(words, pa.string(), size) is not None
    assert dictionary.build(words, pa.string(), size - 1) is None
    assert dictionary.build(pa.array([None], pa.string()), pa.string(), 1000) is None
