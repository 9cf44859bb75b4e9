"""Columns as JSON: Python's reader gets the values back."""

import json
import math

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.files.writing.json_texts import json_texts


def read(array: pa.Array) -> list[object]:
    return [json.loads(text) for text in json_texts(array).to_pylist()]


@given(texts=st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))))
def test_pythons_reader_gets_texts_back(texts: list[str | None]) -> None:
    assert read(pa.array(texts, pa.string())) == texts


@given(numbers=st.lists(st.one_of(st.none(), st.floats())))
def test_numbers_keep_every_digit_and_what_json_has_not_is_null(
    numbers: list[float | None],
) -> None:
    finite = [x if x is not None and math.isfinite(x) else None for x in numbers]
    assert read(pa.array(numbers, pa.float64())) == finite


def test_lists_and_structs_are_arrays_and_objects() -> None:
    values = [[{"a": 1, "b": 'x"'}], [], None, [{"a": None, "b": "\\"}]]
    assert read(pa.array(values)) == values
