"""The command lines with their options and arguments, read from their parsers."""

import argparse

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.arguments import parser_of
from pykudu_sql.shell.cli import build_parser
from pykudu_sql.shell.subcommands import SUBCOMMANDS

PROGRAM = "pykudu-sql"
_WITHOUT_PARSER = frozenset({"help"})


@dataclass(frozen=True, slots=True)
class Option:
    """An option.

    Attributes:
        flags: its spellings, such as `-f` and `--file`.
        value: what it takes, as the help names it; None for nothing.
        choices: the values there are; empty for any.
        help: what it does.
    """

    flags: tuple[str, ...]
    value: str | None
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line.

    Attributes:
        name: of the subcommand; empty for the shell itself.
        summary: what it does.
        arguments: what it takes besides options, as the help names it.
        choices: of its first argument; empty for any.
        options: in the order of the help.
    """

    name: str
    summary: str
    arguments: str
    choices: tuple[str, ...]
    options: tuple[Option, ...]


def command_lines() -> list[CommandLine]:
    """The shell's own and those of all subcommands."""
    lines = [_build_command_line("", "the shell, and scripts of SQL", "[DB]", build_parser())]
    for command in SUBCOMMANDS:
        parser = None if command.name in _WITHOUT_PARSER else parser_of(command.run)
        lines.append(_build_command_line(command.name, command.summary, command.arguments, parser))
    return lines


def _build_command_line(
    name: str, summary: str, arguments: str, parser: argparse.ArgumentParser | None
) -> CommandLine:
    actions = [] if parser is None else parser._actions
    first = next((action for action in actions if not action.option_strings), None)
    return CommandLine(
        name,
        summary,
        arguments,
        tuple(map(str, (first and first.choices) or ())),
        tuple(_option(action) for action in actions if action.option_strings),
    )


def _option(action: argparse.Action) -> Option:
    value = None
    if action.nargs != 0:
        value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return Option(
        tuple(action.option_strings),
        value,
        tuple(map(str, action.choices or ())),
        (action.help or "").replace("%%", "%"),
    )
