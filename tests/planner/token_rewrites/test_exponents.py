"""Signs and words that touch a number belong to what follows it."""

import pytest
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.token_rewrites.exponents import (
    has_odd_numbers,
    plain_numbers,
    signs_behind_exponents,
    with_signs,
    without_signs,
)


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("1e1-1", [3]),
        ("1e-1-1", []),
        ("1.5e10+2", [6]),
        ("'1e1-1'", []),
        ('"1e1-1"', []),
        ("/* 1e1-1 */ 2", []),
        ("x1e1-1", []),
        ("1 -1", []),
    ],
)
def test_a_sign_behind_a_whole_exponent_is_an_operator(text: str, offsets: list[int]) -> None:
    assert list(signs_behind_exponents(text)) == offsets


def test_a_text_without_its_signs_gives_the_tokens_of_the_text() -> None:
    text = "1e1-1"
    signs = signs_behind_exponents(text)
    tokens = with_signs(DuckDB().tokenize(without_signs(text, signs)), text, signs)
    assert [token.text for token in tokens] == ["1e1", "-", "1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("1.e1", ["1.0e1"]), ("2ELSE", ["2", "ELSE"]), ("2e", ["2", "e"]), ("1e5", ["1e5"])],
)
def test_a_number_ends_where_it_does_for_the_engine(text: str, words: list[str]) -> None:
    tokens = DuckDB().tokenize(text)
    assert [token.text for token in plain_numbers(tokens, DuckDB().tokenize)] == words
    assert has_odd_numbers(text) == (text != "1e5")
