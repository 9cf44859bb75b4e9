"""Any text can be coloured while it is typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.editing.highlighter import styled_lines
from pykudu_sql.shell.editing.tokens import Kind, tokenize

SQL_TEXT = st.text(st.sampled_from("ab1'\"`-/*x; \n.,()?:é"), max_size=40)


@given(SQL_TEXT | st.text())
def test_tokens_put_together_are_the_text(text: str) -> None:
    assert "".join(token.text for token in tokenize(text)) == text


@given(SQL_TEXT | st.text())
def test_styled_lines_put_together_are_the_text(text: str) -> None:
    lines = ["".join(part[1] for part in line) for line in styled_lines(text)]
    assert "\n".join(lines) == text


@pytest.mark.parametrize(
    ("text", "kind", "closed"),
    [
        ("'it''s'", Kind.STRING, True),
        ("'it''s", Kind.STRING, False),
        ("'", Kind.STRING, False),
        ("''", Kind.STRING, True),
        ("x'00'", Kind.STRING, True),
        ('"a', Kind.QUOTED, False),
        ("`a b`", Kind.QUOTED, True),
        ("/* a", Kind.COMMENT, False),
        ("/**/", Kind.COMMENT, True),
        ("/*/", Kind.COMMENT, False),
        ("-- a", Kind.COMMENT, True),
        ("1.5e3", Kind.NUMBER, True),
        (":name", Kind.PARAMETER, True),
    ],
)
def test_one_token_is_known_with_its_end(text: str, kind: Kind, closed: bool) -> None:
    (token,) = tokenize(text)
    assert (token.kind, token.closed) == (kind, closed)


def test_words_are_coloured_by_what_they_are() -> None:
    (line,) = styled_lines("SELECT sum(a) 'x' -- c")
    styles = {text: style for style, text, *_ in line if text.strip()}
    assert styles["SELECT"] == "class:sql.keyword"
    assert styles["sum"] == "class:sql.function"
    assert styles["a"] == ""
    assert styles["'x'"] == "class:sql.string"
    assert styles["-- c"] == "class:sql.comment"
