"""The lexer reads any text in time that grows with its length, and refuses what it cannot read."""

from collections.abc import Callable

import pytest

from pykudu_sql.planner.dml.values import read_values
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.guards import guard_text
from pykudu_sql.planner.parse.lexer import MAX_NUMBER_CHARACTERS, tokenize, without_comments
from pykudu_sql.planner.parse.long_list import LEAST_VALUES, extract_long_lists
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.storage.errors import StatementTooComplexError, SyntaxError

Reader = Callable[[str], object]
READERS: list[Reader] = [
    lambda text: list(tokenize(text)),
    lambda text: guard_text(text, 0),
    lambda text: extract_long_lists(text, 0, 10_000_000),
]
_COMMAS = "," * LEAST_VALUES


@pytest.mark.parametrize("read", READERS)
def test_a_number_of_too_many_digits_is_refused_where_it_stands(read: Reader) -> None:
    digits = "1" * (MAX_NUMBER_CHARACTERS + 1)
    with pytest.raises(StatementTooComplexError, match="a number of 4097 characters") as raised:
        read(f"SELECT {digits}, 1{_COMMAS}")
    assert raised.value.span is not None and raised.value.span.start == 7


def test_a_number_of_as_many_digits_as_it_may_have_is_read() -> None:
    digits = "1" * MAX_NUMBER_CHARACTERS
    assert [token.text for token in tokenize(digits)] == [digits, ""]


@pytest.mark.parametrize("read", READERS)
def test_nobody_reads_on_behind_a_comment_without_an_end(read: Reader) -> None:
    """Each of the beginnings would be looked for to the end of the text, which takes hours."""
    with pytest.raises(SyntaxError, match="this comment has no end"):
        read("SELECT 1 " + "/* " * 1_000_000 + _COMMAS)


@pytest.mark.parametrize("number", ["1" * 1_000_000, "1." + "1" * 1_000_000, "1" * 1_000_000 + "x"])
def test_values_that_are_no_plain_numbers_are_left_to_the_parser(number: str) -> None:
    """No split of the digits in two is tried but one."""
    assert read_values(SourceText(f"VALUES (1, {number}x)", 6)) is None


def test_a_point_without_digits_belongs_to_its_number() -> None:
    assert [token.text for token in tokenize("1. .5 1.5e3 1.e1")] == [
        "1.", ".5", "1.5e3", "1.e1", ""
    ]  # fmt: skip


@pytest.mark.parametrize("literal", ["x'4'", "X'0ag0'", "x'zz'", "x'0a '"])
def test_a_binary_of_half_a_byte_or_of_other_digits_is_refused_with_its_place(literal: str) -> None:
    for before in ("SELECT ", "SELECT x'00', "):
        with pytest.raises(SyntaxError, match="is no binary") as caught:
            parse(before + literal)
        assert caught.value.span is not None
        assert caught.value.span.start == len(before)
    assert read_values(SourceText(f"({literal})")) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a/* it's\n\"b\" */'--' c--d\n5 - -1 -- e", "a       \n      '--' c   \n5 - -1     "),
        ("'a' /*b*/, 'it''s', '' --c", "'a'      , 'it''s', ''    "),
        ('"/*" `--` /*`*/ x', '"/*" `--`       x'),
        (r"E'it\'s -- ' --'", r"E'it\'s -- '    "),
        (r"e'' '--' name'--'--", r"e'' '--' name'--'  "),
        ("$$ -- a $$ $t$ -- $$ /* $t$ --", "$$ -- a $$ $t$ -- $$ /* $t$   "),
        ("$1 -- a$$b", "$1        "),
        ("a - b / c", "a - b / c"),
    ],
)
def test_comments_become_blanks_and_all_else_stays_in_its_place(text: str, plain: str) -> None:
    assert without_comments(text) == plain


@pytest.mark.parametrize("text", ["a /* b", "a '-- b", 'a "-- b', "a $$ -- b", "/* " * 200_000])
def test_a_comment_or_string_without_an_end_is_left_to_who_reads_the_text(text: str) -> None:
    assert without_comments(text + "\n/* c") == text + "\n/* c"


def test_rows_of_texts_with_marks_of_comments_are_passed_over_by_the_hundred() -> None:
    rows = ", ".join(["(1, '-- a', \"b\", '/* c */')"] * 50_000)
    assert without_comments(rows) == rows
