"""docs/shell.md names everything the shell has."""

from pathlib import Path

import pytest

from pykudu_sql.shell.cli import build_parser
from pykudu_sql.shell.commands.registry import COMMANDS
from pykudu_sql.shell.settings import FORMATS
from pykudu_sql.shell.slt import command as slt

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "shell.md").read_text()
OPTIONS = {
    "--format",
    "--null",
    "--keep-going",
    "--no-init",
    "--safe",
    "--guard-formulas",
    "--no-header",
}
OPTIONS |= {"--state", "--label", "--implicit-primary-key", "--override", "--keep", "--junit"}


@pytest.mark.parametrize("name", [name for command in COMMANDS for name in command.names])
def test_every_command_is_documented(name: str) -> None:
    assert f"`{name}" in PAGE


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_documented(name: str) -> None:
    assert f"| `{name}` |" in PAGE


def test_the_options_documented_exist() -> None:
    known = build_parser().format_help() + slt.build_parser().format_help()
    assert {option for option in OPTIONS if option not in known or option not in PAGE} == set()


def test_every_command_is_listed_once() -> None:
    names = [name for command in COMMANDS for name in command.names]
    assert len(names) == len(set(names))
