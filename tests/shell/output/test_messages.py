"""Messages that fit a terminal: marks stay below what they are about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.output.messages import wrap_message

COLUMNS = 60


def marked(text: str, first: int, last: int) -> list[str]:
    return [f"LINE 1: {text}", " " * (8 + first) + "^" * (last - first)]


def test_what_fits_stays_as_it_is() -> None:
    lines = ["ERROR 42703: no column", *marked("SELECT nope FROM t", 7, 11), "HINT: try"]
    assert wrap_message(lines, COLUMNS) == lines


@given(st.integers(0, 300), st.integers(1, 12), st.integers(0, 300), st.sampled_from([60, 80, 120]))
def test_marks_stay_below_their_word(before: int, length: int, behind: int, columns: int) -> None:
    text = "a" * before + "W" * length + "b" * behind
    line, marks = wrap_message(marked(text, before, before + length), columns)
    assert len(line) <= columns and len(marks) <= columns
    assert [line[i] for i, c in enumerate(marks) if c == "^"] == ["W"] * length


@pytest.mark.parametrize("text", ["HINT: " + "some words " * 20, "x" * 200])
def test_other_lines_are_broken(text: str) -> None:
    lines = wrap_message([text], COLUMNS)
    assert max(map(len, lines)) <= COLUMNS
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_line_with_wide_letters_is_broken_without_its_marks() -> None:
    lines = wrap_message(marked("表" * 60, 2, 4), COLUMNS)
    assert not any("^" in line for line in lines)


def test_a_very_narrow_terminal_gets_the_message_as_it_is() -> None:
    lines = marked("x" * 100, 2, 4)
    assert wrap_message(lines, 20) == lines
