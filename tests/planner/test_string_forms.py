"""Other forms of strings become plain ones, and nothing else moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql import connect
from pykudu_sql.planner.parse.scripts import is_complete, split_statements
from pykudu_sql.planner.parse.written_literals import WrittenLiteral
from pykudu_sql.planner.string_forms import with_plain_strings
from pykudu_sql.storage.errors import ProgrammingError, SyntaxError


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (r"E'a\nb'", "'a\nb'"),
        (r"e'it\'s ''so'''", "'it''s ''so'''"),
        (r"E'\\\x41\u00e9\101\q'", "'\\AéAq'"),
        ("'E' || E''", "'E' || ''"),
        ("$$it's$$", "'it''s'"),
        ("$a$x$$y$a$", "'x$$y'"),
        ("$$$$", "''"),
    ],
)
def test_escapes_become_characters(written: str, plain: str) -> None:
    made, _ = with_plain_strings(f"SELECT {written}, x", double_quoted=False)
    assert made.replace(" ", "") == f"SELECT {plain}, x".replace(" ", "")
    assert made.index(", x") == len(f"SELECT {written}")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'E\\n', nE'x', \"E'x\" FROM t -- E'\\n'",
        "SELECT /* E'\\n' */ `E'\\n'`, \"a\"\"b\" FROM t",
        "SELECT date'2024-01-01'",
    ],
)
def test_what_is_no_such_string_stays(text: str) -> None:
    assert with_plain_strings(text, double_quoted=False) == (text, {})


def test_double_quotes_are_strings_where_the_setting_says_so() -> None:
    text = """SELECT "a", "it's", "x""y", '"', `n` -- "c"\n"""
    made, _ = with_plain_strings(text, double_quoted=True)
    assert made == """SELECT 'a', 'it''s', 'x"y' , '"', `n` -- "c"\n"""


@pytest.mark.parametrize("text", [r"E'\ud800'", r"E'\U00110000'", r"E'\0'"])
def test_an_escape_that_is_no_character_is_refused(text: str) -> None:
    with pytest.raises(SyntaxError, match="is no character") as failed:
        with_plain_strings(f"SELECT {text}", double_quoted=False)
    assert failed.value.span is not None
    assert failed.value.span.start == len("SELECT E'")


@given(st.text(alphabet="eE'\\\"`-/* a\n;x", max_size=30), st.booleans())
def test_any_text_is_taken(text: str, double_quoted: bool) -> None:
    made, _ = with_plain_strings(text, double_quoted=double_quoted)
    if not double_quoted:
        assert len(made) == len(text)


def test_a_script_is_cut_outside_of_strings_with_escapes() -> None:
    script = r"SELECT E'a\';b'; SELECT 2"
    assert [each.text for each in split_statements(script)] == [r"SELECT E'a\';b'", "SELECT 2"]
    assert not is_complete(r"SELECT E'a\';")
    assert is_complete(r"SELECT E'a\';'; ")


@pytest.mark.parametrize(
    "entry",
    [
        r"E'a\nb'",
        '"text"',
        "\"it's\" || E'\\t'",
        'upper( "a" )',
        "'plain' || \"b\"",
        "\"a\" = E'a'",
    ],
)
@pytest.mark.parametrize("before", ["", '"it\'s" AS first, '])
def test_a_heading_is_as_it_was_typed(before: str, entry: str) -> None:
    with connect(":memory:") as connection:
        connection.execute("SET double_quoted_strings = true")
        cursor = connection.execute(f"SELECT {before}{entry}, 1 + 1")
        assert [name for name, *_ in cursor.description or ()][-2:] == [entry, "1 + 1"]


def test_literals_are_known_by_their_places_in_the_plain_text() -> None:
    text, literals = with_plain_strings("SELECT \"it's\", E'a'", double_quoted=True)
    assert literals == {
        7: WrittenLiteral("'it''s'", '"it\'s"'),
        16: WrittenLiteral("'a' ", "E'a'"),
    }
    assert all(text.startswith(one.plain, start) for start, one in literals.items())


def test_a_string_in_dollars_with_many_quotes_keeps_the_places_behind_it() -> None:
    connection = connect()
    with pytest.raises(ProgrammingError) as caught:
        connection.execute("SELECT $$it's a 'b' 'c' 'd'$$, nope")
    position = caught.value.position
    assert position is not None and position.column == 36
    assert connection.execute("SELECT $q$a;'b$q$ AS x; ").fetchall() == [("a;'b",)]


def test_a_script_is_cut_outside_of_strings_in_dollars() -> None:
    texts = [one.text for one in split_statements("SELECT $$a;b$$; SELECT $t$;$$;$t$")]
    assert texts == ["SELECT $$a;b$$", "SELECT $t$;$$;$t$"]


@pytest.mark.parametrize("sql", ["SELECT $$abc", "SELECT $a$ $b$", "SELECT $$a$$ || $t$"])
def test_a_string_in_dollars_has_an_end(sql: str) -> None:
    with pytest.raises(SyntaxError, match="no end"):
        connect().execute(sql)
    assert not is_complete(f"{sql};")
