"""Rows as lines of CSV: Python's reader gets the texts back, and NULL apart from all of them."""

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.files.writing.csv_texts import CsvStyle

CELLS = st.one_of(st.none(), st.text(alphabet='ab,;"\n\r\\ NULé', max_size=6))


def written(style: CsvStyle, *columns: list[str | None]) -> str:
    lines = style.lines([pa.array(column, pa.string()) for column in columns])
    return "".join(lines.to_pylist())


@pytest.mark.parametrize(("delimiter", "quote"), [(",", '"'), (";", "'"), ("\t", '"')])
@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20))
def test_pythons_reader_gets_the_texts_back(
    delimiter: str, quote: str, rows: list[tuple[str | None, str | None]]
) -> None:
    text = written(CsvStyle(delimiter, quote, ""), *([row[i] for row in rows] for i in (0, 1)))
    read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)
    assert list(read) == [[cell or "" for cell in row] for row in rows]


def test_a_text_that_is_the_text_for_null_is_quoted() -> None:
    assert written(CsvStyle(",", '"', "NULL"), [None, "NULL", "null"]) == 'NULL\n"NULL"\nnull\n'
    assert written(CsvStyle(",", '"', ""), [None, "", "a"], ["x"] * 3) == ',x\n"",x\na,x\n'


def test_numbers_are_quoted_where_the_delimiter_may_be_in_them() -> None:
    column = pa.array([-1.5, 2.0, None], pa.float64())
    assert "".join(CsvStyle("-", '"', "").lines([column]).to_pylist()).startswith('"-1.5"\n2')


def test_words_of_a_dictionary_are_written_as_their_texts() -> None:
    column = pa.array(["a,b", None, "c"]).dictionary_encode()
    assert "".join(CsvStyle(",", '"', "").lines([column]).to_pylist()) == '"a,b"\n\nc\n'
