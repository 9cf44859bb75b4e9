"""What the commands for jobs have in common: options, errors, and what they print.

A job that fails has changed nothing; see `exit_codes`.
"""

import argparse
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from pykudu_sql import Error
from pykudu_sql.shell.arguments import ArgumentParser
from pykudu_sql.shell.exit_codes import ExitCode, exit_code
from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.output.terminal import print_error

if TYPE_CHECKING:
    from pykudu_sql.jobs.options import RunOptions
    from pykudu_sql.jobs.report import JobReport

_PERIOD: Final = 0.2
_CLEAR: Final = "\x1b[K"

Job = Callable[[], "JobReport"]
OptionsT = TypeVar("OptionsT", bound="RunOptions")


def run_job(name: str, job: Job, arguments: argparse.Namespace) -> int:
    """Do a job and print what it did, or why it did not.

    Args:
        job: runs it, and imports what it needs.
        arguments: the command line; with `verbose` Spark's log and traces are printed, too.

    Returns the exit code.
    """
    if arguments.verbose:
        os.environ.setdefault("PYKUDU_SPARK_LOG", "WARN")
    try:
        report = job()
    except Error as error:
        _end_line()
        print_error(f"pykudu-sql {name}: {error}")
        if arguments.verbose:
            traceback.print_exception(error, file=sys.stderr)
        return exit_code(error)
    _end_line()
    print(f"{name}: {report.text()}")
    return ExitCode.OK


def progress_printer(name: str) -> Callable[[str], None]:
    """A function that shows a job's progress in one line of the terminal, if there is one.

    `name`: of the command.
    """
    if not sys.stderr.isatty():
        return lambda text: None
    start = last_update = time.monotonic()

    def show(text: str) -> None:
        nonlocal last_update
        now = time.monotonic()
        if now - last_update >= _PERIOD:
            last_update = now
            sys.stderr.write(f"\r{_CLEAR}{name}: {escape(text)}, {now - start:.0f} s")
            sys.stderr.flush()

    return show


def _end_line() -> None:
    """Take the line of `progress_printer` away."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{_CLEAR}")


def build_job_parser(name: str, description: str) -> argparse.ArgumentParser:
    """The parser of a command, with the options that all of them have."""
    parser = ArgumentParser(f"pykudu-sql {name}", description)
    default = os.environ.get("PYKUDU_SPARK_MASTER", "local[*]")
    parser.add_argument(
        "--engine",
        default="auto",
        choices=("auto", "local", "spark"),
        help="this process (local), Spark, or what fits: Spark where it is installed and more than "
        "16 GiB are read (auto, the default)",
    )
    parser.add_argument("--master", default=default, metavar="URL", help="where Spark runs")
    add_pairs(parser, "--conf", "a setting of the Spark session")
    text = "print the trace of what went wrong, and Spark's warnings"
    parser.add_argument("--verbose", action="store_true", help=text)
    return parser


def add_pairs(parser: argparse.ArgumentParser, option: str, text: str) -> None:
    """Add an option that may be repeated and takes NAME=VALUE."""
    parser.add_argument(
        option, action="append", default=[], metavar="NAME=VALUE", type=_pair, help=text
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def add_run_options(options: OptionsT, name: str, arguments: argparse.Namespace) -> OptionsT:
    """The options of a job, with what `build_job_parser` has read of where it runs.

    `options`: its own; `name`: of the command, for its progress.
    """
    return replace(
        options,
        master=arguments.master,
        conf=_conf(arguments),
        engine=arguments.engine,
        progress=progress_printer(name),
    )


def _conf(arguments: argparse.Namespace) -> dict[str, str]:
    """The session's settings; a progress line where somebody can see it."""
    on_terminal = "true" if sys.stderr.isatty() else "false"
    return {"spark.ui.showConsoleProgress": on_terminal, **dict(arguments.conf)}
