"""Texts as codes of a dictionary, to whose end new words go."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.tablet.delta.word_codes import coded, codes_of, few_words, recoded

WORDS = ["a", "b", "c"]


@given(st.lists(st.sampled_from([*WORDS, "new", "", None]), min_size=1), st.booleans())
def test_texts_stay_what_they_are_and_words_keep_their_codes(
    texts: list[str | None], is_slice: bool
) -> None:
    values = pa.array(["first", None, *texts], pa.string()).slice(2)
    if not is_slice:
        values = pa.array(texts, pa.string())
    encoded = coded(pa.array(WORDS), values)
    assert encoded.to_pylist() == texts
    words = encoded.dictionary.to_pylist()
    assert words[: len(WORDS)] == WORDS
    assert len(set(words)) == len(words) and None not in words


def test_a_cell_without_a_text_has_a_code_of_the_dictionary() -> None:
    encoded = coded(pa.array(WORDS), pa.array(["c", None, "new", None]))
    assert np.array_equal(codes_of(encoded), [2, 0, 3, 0])
    assert encoded.null_count == 2


@given(
    st.lists(st.lists(st.sampled_from([*WORDS, "new", "", None]), min_size=1), min_size=1),
)
def test_arrays_with_dictionaries_get_codes_of_one(texts: list[list[str | None]]) -> None:
    arrays = [pa.array(each, pa.string()).dictionary_encode() for each in texts]
    codes, words = recoded(pa.array(WORDS), arrays)
    listed = words.to_pylist()
    assert listed[: len(WORDS)] == WORDS
    for each, of_each in zip(texts, codes, strict=True):
        assert len(of_each) == len(each) and (of_each >= 0).all() and (of_each < len(listed)).all()
        for text, code in zip(each, of_each.tolist(), strict=True):
            assert text is None or listed[code] == text


def test_a_batch_is_coded_where_its_texts_repeat_themselves() -> None:
    few = pa.array([f"word {i % 20}" if i % 7 else None for i in range(1000)])
    encoded = few_words(few)
    assert encoded is not None and encoded.to_pylist() == few.to_pylist()
    assert few_words(pa.array([f"text {i}" for i in range(1000)])) is None
    assert few_words(pa.array(["a"] * 500 + [f"text {i}" for i in range(500)])) is None
    assert few_words(few.slice(0, 10)) is None
