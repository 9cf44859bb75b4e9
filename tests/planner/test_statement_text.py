"""Statements without their values, as statistics and logs show them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.statement_text import MOST_CHARACTERS, normalised


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT *\n FROM t1 -- why\n WHERE a = 5 AND b='x''y';",
            "SELECT * FROM t1 WHERE a = ? AND b=?",
        ),
        ("SELECT -1.5e3, .5, 0x1F /* one\n*/ , 1_000", "SELECT -?, .."),
        ("SELECT a FROM t WHERE a IN (1, 2,3)", "SELECT a FROM t WHERE a IN (?, ..)"),
        ("INSERT INTO t VALUES (1, 'a'), (?, :b), ($1, x'00')", "INSERT INTO t VALUES (?, ..), .."),
        ("VALUES (1), (2)", "VALUES (?), .."),
        ('SELECT "1", `2`, c3, t.x4, :: 5', 'SELECT "1", `2`, c3, t.x4, :: ?'),
        ("SELECT CAST(a AS DECIMAL(9,2)), a::INT", "SELECT CAST(a AS DECIMAL(?, ..)), a::INT"),
        ("SELECT E'a' , 'never ends", "SELECT ?, .."),
        ("SELECT 1., (2.), 3.e5", "SELECT ?, (?), ?"),
        ("", ""),
    ],
)
def test_values_comments_and_spaces_make_no_difference(text: str, expected: str) -> None:
    assert normalised(text, double_quoted_strings=False) == expected


def test_double_quoted_strings_are_values_where_they_are_strings() -> None:
    assert normalised('SELECT "secret"', double_quoted_strings=True) == "SELECT ?"
    assert normalised("SELECT `name`", double_quoted_strings=True) == "SELECT `name`"


def test_a_long_text_is_cut_and_shows_no_value() -> None:
    text = "SELECT '" + "secret" * MOST_CHARACTERS + "'"
    assert normalised(text, double_quoted_strings=False) == "SELECT ?"


@pytest.mark.parametrize("row", ["(1, 'x')", "(2 , 'y z')", "(?, .5)", "('), (1, ', 2)"])
def test_many_rows_are_as_two(row: str) -> None:
    for between in (",", ", ", "\n , "):
        text = "INSERT INTO t VALUES " + between.join([row] * 90)
        assert normalised(text, double_quoted_strings=False) == "INSERT INTO t VALUES (?, ..), .."


def test_rows_inside_a_string_are_one_value() -> None:
    text = "SELECT '), (1), (2), (3), (4), (5)', a"
    assert normalised(text, double_quoted_strings=False) == "SELECT ?, a"


VALUES = st.sampled_from(
    ["1", "0.5", "?", "'a'", "'x, y) ('", "''", "-1", "NULL", "1e5", "'a''b'", ":n", "1.", "'--'"]
)
HEADS = st.sampled_from(
    ["INSERT INTO t VALUES", "upsert into db.t2(a)\n values", "SELECT 3 IN (1, 2) VALUES", "VALUES"]
)
BETWEEN = st.sampled_from([",", ", ", " ,\n"])
TAILS = st.sampled_from(["", ";", " ; ", " RETURNING a", " ON CONFLICT DO NOTHING"])


@given(
    HEADS, BETWEEN, BETWEEN, st.lists(st.lists(VALUES, min_size=1), min_size=1, max_size=6), TAILS
)
def test_an_insert_is_what_it_is_behind_a_comment(
    head: str, between: str, behind: str, rows: list[list[str]], tail: str
) -> None:
    """One of plain values is read in one match, where it does not begin with a comment."""
    text = f"{head} {behind.join(f'({between.join(row)})' for row in rows)}{tail}"
    expected = normalised("/**/" + text, double_quoted_strings=False)
    assert normalised(text, double_quoted_strings=False) == expected
