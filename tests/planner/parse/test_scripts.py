"""Scripts split where statements end, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.parse.scripts import is_complete, split_statements


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" ; ;; ", []),
        ("select 1", ["select 1"]),
        ("select 1;", ["select 1"]),
        ("select 1; select 2 ;", ["select 1", "select 2"]),
        ("select ';' ; select 2", ["select ';'", "select 2"]),
        ("select 'it''s;' ; x", ["select 'it''s;'", "x"]),
        ('select "a;b", `c;d`; x', ['select "a;b", `c;d`', "x"]),
        ("-- a; b\nselect 1 -- c;\n; x", ["select 1", "x"]),
        ("/* a; b */ select /* ; */ 1; x", ["select /* ; */ 1", "x"]),
        ("select 1; select 'open; x", ["select 1", "select 'open; x"]),
        ("select 1 /* open; x", ["select 1 /* open; x"]),
    ],
)
def test_a_script_splits_at_semicolons_outside_quotes_and_comments(
    script: str, expected: list[str]
) -> None:
    assert [statement.text for statement in split_statements(script)] == expected


def test_statements_know_their_offset_and_line() -> None:
    script = "select 1;\n\n  -- note\n  select 2;"
    second = split_statements(script)[1]
    assert script[second.offset :].startswith("select 2")
    assert second.line == 4


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("  -- only a comment", True),
        ("select 1", False),
        ("select 1;", True),
        ("select 1; -- done", True),
        ("select 1; select 2", False),
        ("select ';", False),
        ("select 1 /* ;", False),
        ("insert into t values (1,\n2);", True),
    ],
)
def test_a_text_is_complete_when_its_last_statement_is_closed(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


_PIECES = st.sampled_from(
    [
        "select 1",
        "'a;b'",
        '"x;"',
        "`y;`",
        "-- c;\n",
        "/* ; */",
        " ",
        "\n",
        "a.b",
        "?",
        ":p",
        "'it''s'",
    ]
)


@given(st.lists(st.lists(_PIECES, min_size=1, max_size=5), max_size=5))
def test_joined_statements_split_into_themselves(groups: list[list[str]]) -> None:
    texts = ["".join(["select ", *group]) for group in groups]
    script = ";".join(texts) + ";"
    split = split_statements(script)
    assert len(split) == len(texts)
    for statement, text in zip(split, texts, strict=True):
        assert text.startswith(statement.text)
        assert script[statement.offset :].startswith(statement.text)
    assert is_complete(script)


@given(st.text(alphabet="'\"`-/*;ab \n", max_size=40))
def test_any_text_splits_without_an_error(text: str) -> None:
    for statement in split_statements(text):
        assert statement.text == text[statement.offset :][: len(statement.text)]
        assert statement.text.strip()
