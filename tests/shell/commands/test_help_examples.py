"""`.help` shows examples that the commands take; switches tell a person what they are now."""

import io

import pytest

from pykudu_sql.shell.cli import main
from pykudu_sql.shell.commands import registry
from pykudu_sql.shell.commands.command import split_words
from pykudu_sql.shell.output.terminal import Output
from pykudu_sql.shell.session import ShellSession
from pykudu_sql.shell.settings import Settings

EXAMPLES = [(c, example) for c in registry.COMMANDS for example in c.examples]


def shown(capsys: pytest.CaptureFixture[str], *lines: str) -> str:
    capsys.readouterr()
    assert main([":memory:", *(word for line in lines for word in ("-c", line))]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("command", "example"), EXAMPLES, ids=lambda each: str(each)[:20])
def test_an_example_is_a_call_of_its_command(command: registry.Command, example: str) -> None:
    name, _, rest = example.partition(" ")
    assert name in command.names
    words = ([rest] if rest else []) if command.raw else split_words(rest)
    assert command.accepts(len(words))


def test_examples_stand_in_the_help_of_one_command_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "\n  .import new.csv stock\n" in shown(capsys, ".help .import")
    assert ".import new.csv stock" not in shown(capsys, ".help")


@pytest.mark.parametrize(
    ("is_interactive", "printed"),
    [(False, ""), (True, ".timer is on.\n.expanded is on.\n.expanded is off.\n")],
)
def test_a_switch_without_an_argument_says_what_it_is_now_at_a_prompt(
    is_interactive: bool, printed: str
) -> None:
    session = ShellSession(":memory:", Settings(), registry.run)
    stream = io.StringIO()
    session.output, session.is_interactive = Output(stream), is_interactive
    for line in (".timer", "\\x", "\\x", ".separators on"):
        registry.run(session, line)
    session.close()
    assert stream.getvalue() == printed


def test_rows_go_down_the_screen_as_psql_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ("\\x on", "SELECT 1 AS a", "\\x on", "SELECT 2 AS b", "\\x off", "SELECT 3 AS c")
    printed = shown(capsys, *lines)
    assert "a = 1" in printed and "b = 2" in printed and "│   c │" in printed
