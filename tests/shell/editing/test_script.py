"""Scripts fall apart into SQL and commands, with the right lines."""

import pytest

from pykudu_sql.planner.parse.scripts import is_complete
from pykudu_sql.shell.editing.script import CommandPart, SqlPart, is_command, split_script


def test_commands_stand_on_lines_of_their_own_between_statements() -> None:
    script = "select 1;\n.mode csv\n\nselect\n2;\n  \\dt x \n"
    assert list(split_script(script, is_complete)) == [
        SqlPart("select 1;\n", 1),
        CommandPart(".mode csv", 2),
        SqlPart("\n\nselect\n2;\n", 2),
        CommandPart("\\dt x", 6),
    ]


@pytest.mark.parametrize(
    "script",
    [
        "select 'a\n.mode csv\n';",
        "select /*\n.quit\n*/ 1;",
        "select 1,\n.5;",
        "select a\n.b from a;",
    ],
)
def test_a_line_inside_a_statement_is_no_command(script: str) -> None:
    assert list(split_script(script, is_complete)) == [SqlPart(script, 1)]


def test_blank_text_has_no_parts() -> None:
    assert list(split_script(" \n\n", is_complete)) == []


@pytest.mark.parametrize(
    ("text", "command"),
    [(".help", True), ("\\d t", True), (" .tables", True), ("select .5", False), (".5", False)],
)
def test_a_command_is_told_from_sql(text: str, command: bool) -> None:
    assert is_command(text) == command
