"""The beginning of a text file: encoding, names, delimiter."""

import pytest

from pykudu_sql.files.text_head import header_names, likely_delimiter, without_mark
from pykudu_sql.storage.errors import DataError


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32"])
def test_a_text_in_another_encoding_is_refused_by_its_name(encoding: str) -> None:
    with pytest.raises(DataError, match=f"'x.csv' is {encoding}") as caught:
        without_mark("id,name\n".encode(encoding), "x.csv")
    assert f"iconv -f {encoding}" in str(caught.value.hint)


def test_a_mark_of_utf_8_goes() -> None:
    assert without_mark("id\n".encode("utf-8-sig"), "x.csv") == b"id\n"


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["id", " name ", "\tn"], ["id", "name", "n"]),
        (["a", "A", "a_1", "a"], ["a", "A_2", "a_1", "a_3"]),
        (["a", "", " "], ["a", "column2", "column3"]),
        (["column2", ""], ["column2", "column2_1"]),
    ],
)
def test_each_column_of_a_header_has_a_name_of_its_own(cells: list[str], names: list[str]) -> None:
    assert header_names(cells) == names


def test_names_that_a_table_has_keep_their_blanks() -> None:
    assert header_names([" A", " b"], {" a"}) == [" A", "b"]


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("a,b", ","), ("a;b", ";"), ("a\tb\tc|d", "\t"), ("a|b", "|"), ("a", ","), ("", ","),
        ('"a;b"', ","), ("a,b;c;d", ","),
    ],
)  # fmt: skip
def test_the_delimiter_is_what_stands_between_names(header: str, delimiter: str) -> None:
    assert likely_delimiter(header, ",", '"') == delimiter
