"""Nothing in data can act on a terminal, and everything lines up."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.output.display import elide, escape, pad, width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Zürich 東京 🦆", "Zürich 東京 🦆"),
        ("two\nlines\tand\r", "two\\nlines\\tand\\r"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x1b]52;c;AAAA\x07", "\\x1b]52;c;AAAA\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("a\u200bb", "a\\u200bb"),
        ("\ufeffbom", "\\ufeffbom"),
        ("hangul\u3164filler", "hangul\\u3164filler"),
        ("lone\ud800half", "lone\\ud800half"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("no\u00a0break", "no\u00a0break"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_control_and_invisible_characters_are_spelled_out(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_a_character_may_be_let_through() -> None:
    assert escape("a\nb\x00", keep="\n") == "a\nb\\x00"


@given(st.text())
def test_no_escaped_text_holds_a_character_a_terminal_obeys(text: str) -> None:
    forbidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not forbidden & {unicodedata.category(c) for c in escape(text)}


@given(st.text())
def test_escaping_twice_changes_nothing_more(text: str) -> None:
    assert escape(escape(text)) == escape(text)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("東京", 4), ("e\u0301", 1), ("\uff41\uff42", 4), ("🦆", 2), ("", 0)],
)
def test_width_counts_the_columns_of_a_terminal(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 5, "short"),
        ("abcdefghij", 7, "abc…hij"),
        ("abcdefghij", 6, "abc…ij"),
        ("東京東京東京", 7, "東…京"),
        ("abc", 1, "…"),
    ],
)
def test_long_text_is_cut_in_the_middle(text: str, limit: int, shown: str) -> None:
    assert elide(text, limit) == shown


@given(st.text(), st.integers(1, 40))
def test_cut_text_never_exceeds_the_limit(text: str, limit: int) -> None:
    assert width(elide(escape(text), limit)) <= limit


@given(st.text(max_size=20), st.booleans())
def test_padded_text_has_exactly_the_width(text: str, right: bool) -> None:
    shown = escape(text)
    assert width(pad(shown, width(shown) + 3, right=right)) == width(shown) + 3
