"""Texts as codes of a dictionary, to whose end new words go."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.tablet.delta.word_codes import coded, codes_of

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
