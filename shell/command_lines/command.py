"""`pykudu-sql completions` and `pykudu-sql man`: texts for shells and for `man`."""

from collections.abc import Sequence

from pykudu_sql import __version__
from pykudu_sql.shell.arguments import ArgumentParser
from pykudu_sql.shell.command_lines.command_line import command_lines
from pykudu_sql.shell.command_lines.completions import SHELLS
from pykudu_sql.shell.command_lines.man_page import man_page
from pykudu_sql.shell.exit_codes import ExitCode


def completions(argv: Sequence[str]) -> int:
    """Run `pykudu-sql completions`; returns the exit code."""
    parser = ArgumentParser(
        "pykudu-sql completions",
        'Print a script that completes the command line: eval "$(pykudu-sql completions bash)"',
    )
    parser.add_argument("shell", choices=tuple(SHELLS), help="which shell it is for")
    options = parser.parse_args(argv)
    print(SHELLS[options.shell](command_lines()), end="")
    return ExitCode.OK


def man(argv: Sequence[str]) -> int:
    """Run `pykudu-sql man`; returns the exit code."""
    parser = ArgumentParser(
        "pykudu-sql man", "Print the manual page: pykudu-sql man > pykudu-sql.1; man ./pykudu-sql.1"
    )
    parser.parse_args(argv)
    print(man_page(command_lines(), __version__), end="")
    return ExitCode.OK
