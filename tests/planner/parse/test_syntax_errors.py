"""Where a syntax error stands, and what is suggested."""

import pytest
from sqlglot.errors import ParseError

from pykudu_sql.planner.parse.syntax_errors import unparsed


def error(line: int, column: int, word: str, description: str = "Invalid expression") -> ParseError:
    details = {"line": line, "col": column, "highlight": word, "description": description}
    return ParseError("", [details])


def test_the_place_counts_the_lines_before_it() -> None:
    text = "SELECT 1\nFROM t\nWHERE )"
    found = unparsed(error(3, 7, ")"), text)
    assert found.span is not None
    assert text[found.span.start :] == ")"
    assert found.message == 'syntax error at or near ")"'


def test_an_error_without_a_word_is_at_the_end() -> None:
    found = unparsed(error(1, 6, ""), "SELECT")
    assert found.span is not None
    assert (found.span.start, found.message) == (6, "syntax error at the end of the statement")


@pytest.mark.parametrize(
    ("before", "word", "hint"),
    [
        ("SELECT a FORM ", "t", "did you mean 'FROM' by 'form'?"),
        ("SELECT a FROM t WHERE a = %", "s", "parameters are written ? or :name"),
        ("SELECT a FROM t WHERE a = %(h)", "s", "parameters are written ? or :name"),
        ("SELECT a FROM ", ")", None),
        ("SELECT a FROM t GROUP ", "a", "write GROUP BY"),
        ("SELECT sum(a) OVER (PARTITION ", "a", "write PARTITION BY"),
        ("SELECT 1 AS ", "select", 'write AS "select": the word alone begins a clause'),
    ],
)
def test_a_hint_says_how_it_is_written_here(before: str, word: str, hint: str | None) -> None:
    found = unparsed(error(1, len(before) + len(word), word), before + word)
    assert found.hint == hint
