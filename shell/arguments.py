"""The parser of every command line of ours.

What it prints may hold words of the command line, and a name of a file can hold anything: escape
sequences are spelled out, as everywhere in the shell.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.settings import UsageError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

ENVIRONMENT_PREFIX = "PYKUDU_SQL_"
_YES = frozenset({"1", "on", "true", "yes"})
_NO = frozenset({"0", "off", "false", "no", ""})
# A command line has no NUL, so that no argument of a user equals this.
_DESCRIBE = "\0describe"


class _ParserReturn(Exception):
    """Carries a parser out of the function that makes it and parses with it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


class ArgumentParser(argparse.ArgumentParser):
    """argparse's parser, without abbreviations, whose errors can be shown on a terminal."""

    def __init__(self, prog: str, description: str, **options: object) -> None:
        """See `argparse.ArgumentParser`."""
        super().__init__(prog, description=description, allow_abbrev=False, **options)  # type: ignore[arg-type]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See `argparse.ArgumentParser`."""
        if args == [_DESCRIBE]:
            raise _ParserReturn(self)
        return super().parse_known_args(args, namespace)

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print how it is called; argparse says nothing of a disk that is full.

        Raises OSError: it cannot be written.
        """
        if file is not None:
            file.write(self.format_help())
            return
        sys.stdout.write(self.format_help())
        sys.stdout.flush()

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and leave with exit code 2."""
        # Of a positional argument the usage says all that there is to say.
        missing = message.rpartition("arguments are required: ")[2].split(", ")
        hints = [
            f"\nHINT: {option.option_strings[-1]} {option.metavar}: {option.help}"
            for option in self._actions
            if option.required and "/".join(option.option_strings) in missing
        ]
        super().error(escape(message) + "".join(hints))


def parser_of(run: Callable[[Sequence[str]], int]) -> argparse.ArgumentParser:
    """The parser of a command line. `run`: the function that parses and runs it."""
    try:
        run([_DESCRIBE])
    except _ParserReturn as described:
        return described.parser
    raise AssertionError("a command line without a parser")


def environment_variable(action: argparse.Action) -> str | None:
    """The environment variable of an option; None for one that is an action, as --version is."""
    names = [flag for flag in action.option_strings if flag.startswith("--")]
    if not names or names[0] in _ACTION_FLAGS or action.const not in (None, True):
        return None
    return ENVIRONMENT_PREFIX + names[0][2:].replace("-", "_").upper()


_ACTION_FLAGS = frozenset({"--command", "--file", "--help", "--version"})


def environment_arguments(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> list[str]:
    """Options that environment variables stand for, to be put before those of a command line.

    Raises UsageError: one that takes no value has another than yes or no.
    """
    arguments = []
    for action in parser._actions:
        name = environment_variable(action)
        value = None if name is None else environ.get(name)
        if value is None:
            continue
        if action.nargs != 0:
            arguments.append(f"{action.option_strings[-1]}={value}")
        elif value.lower() in _YES:
            arguments.append(action.option_strings[-1])
        elif value.lower() not in _NO:
            raise UsageError(f"{name} is yes or no, not {value!r}")
    return arguments
