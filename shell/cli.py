"""`pykudu-sql`: the command line.

Nothing ends in a traceback but in a code of `exit_codes`. What is not needed is not imported: a
statement on the command line loads no terminal library.
"""

import argparse
import errno
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.arguments import ArgumentParser, environment_arguments
from pykudu_sql.shell.exit_codes import ExitCode, exit_code
from pykudu_sql.shell.output.terminal import print_error
from pykudu_sql.shell.parameters import Value, parse_assignment, parse_value
from pykudu_sql.shell.settings import (
    FORMATS,
    Settings,
    UsageError,
    config_path,
    load_settings,
    replace_setting,
    startup_path,
)
from pykudu_sql.shell.subcommands import (
    check_database_name,
    help_lines,
    subcommand,
    unknown_command,
)

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

_EPILOG = f"""\
Without -c or -f, statements are read from standard input; at a terminal the interactive shell
starts. -c and -f may be repeated and run in the order given; `-f -` is standard input.
Options have environment variables, such as PYKUDU_SQL_MAX_ROWS for --max-rows.

subcommands:
{help_lines()}
"""


# Settings that `--set` does not take, and what to write.
_OWN_OPTIONS = {
    "read_only": "--read-only does it",
    "autocommit": "each statement commits itself, unless it stands between BEGIN and COMMIT",
    "engine": "--engine does it",
    "spark_master": "--spark-master does it",
    "files": "statements may use files unless --safe is given",
    "frames": "there are no variables that statements could read",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One -c or -f. `text`: SQL, or the name of a file; `is_file`: which of the two."""

    text: str
    is_file: bool


class _AddStep(argparse.Action):
    """Collects -c and -f in one list, so their order is kept."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        step = Step(str(values), self.dest == "file")
        namespace.steps = [*namespace.steps, step]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    `argv`: arguments without the program's name; those of the process if None.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is spelled out instead of an error.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return ExitCode.BROKEN_PIPE
    except UsageError as error:
        print_error(f"pykudu-sql: {error}")
        return ExitCode.USAGE
    except OSError as error:
        is_closed = error.errno == errno.EBADF
        print_error(f"pykudu-sql: {'standard output is closed' if is_closed else error}")
        _drop_output()
        return ExitCode.FAILED
    except Exception as error:
        if os.environ.get("PYKUDU_SQL_TRACEBACK"):
            raise
        print_error(f"pykudu-sql: internal error: {type(error).__name__}: {error}")
        print_error("Set PYKUDU_SQL_TRACEBACK=1 to see where, and please report it.")
        return ExitCode.FAILED
    return code


def _drop_output() -> None:
    """Let go of what cannot be written: the interpreter must not try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Open what a caller closed (`>&-`), lest a file of the database gets a standard number.

    What is printed would be written into it. It fails to be written, as it does on a full disk;
    what is said of that, and of other errors, is lost.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        descriptor = os.open(os.devnull, mode)
        if descriptor != number:  # it is open
            os.close(descriptor)
        else:
            os.set_inheritable(descriptor, True)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _dispatch(arguments: list[str]) -> int:
    command = subcommand(arguments[0]) if arguments else None
    return _run(_parse_options(arguments)) if command is None else command.run(arguments[1:])


def print_help(arguments: Sequence[str]) -> int:
    """`pykudu-sql help`: how to call it. Of a subcommand, `pykudu-sql help check` does."""
    match arguments:
        case [] | ["-h" | "--help"]:
            build_parser().print_help()
        case [name] if (command := subcommand(name)) is not None and name != "help":
            return command.run(["--help"])
        case [name] if name != "help":
            raise unknown_command(name)
        case _:
            raise UsageError(f"usage: pykudu-sql help [COMMAND]\ncommands:\n{help_lines()}")
    return ExitCode.OK


def _parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; leaves with exit code 2 when they are wrong."""
    parser = build_parser()
    all_arguments = [*environment_arguments(parser, os.environ), *arguments]
    options, extra_arguments = parser.parse_known_args(all_arguments)
    text = "unrecognized arguments: " + " ".join(extra_arguments)
    if extra_arguments and extra_arguments[0].startswith("-"):
        parser.error(text)
    check_database_name(options.db)
    if extra_arguments:
        parser.error(f"{text} (statements are given with -c SQL)")
    return options


def build_parser() -> argparse.ArgumentParser:
    """The parser of everything but the subcommands."""
    parser = ArgumentParser(
        "pykudu-sql",
        "Kudu's tablets and Impala's SQL over local files.",
        usage="%(prog)s [DB] [-c SQL]... [-f FILE]... [options]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("db", nargs="?", metavar="DB", default=":memory:", help="directory of the database")
    add("-c", "--command", metavar="SQL", action=_AddStep, help="run statements and leave")
    add("-f", "--file", metavar="FILE", action=_AddStep, help="run a script and leave")
    add("--format", choices=FORMATS, help="how results look (default: table)")
    add("--csv", dest="format", action="store_const", const="csv", help="short for --format csv")
    add("--json", dest="format", action="store_const", const="json", help="--format json")
    add(
        "-p", "--param", metavar="NAME=VALUE", action="append", default=[],
        help="the value of :name in statements; may be repeated",
    )  # fmt: skip
    add(
        "--set", metavar="NAME=VALUE", action="append", default=[],
        help="a setting of the database, such as memory_limit=2GB; may be repeated",
    )  # fmt: skip
    add("--null", metavar="TEXT", help="how NULL is written")
    add(
        "--guard-formulas",
        action="store_true",
        default=None,
        help="keep spreadsheets from computing text of CSV and TSV: ' before =, +, -, @",
    )
    add("--no-header", action="store_true", help="leave names of columns out of CSV and TSV")
    add("--max-rows", metavar="N", type=int, help="rows of a table shown on a terminal, 0 for all")
    add("--max-width", metavar="N", type=int, help="columns of a table, 0 for the terminal's")
    add("--timer", action="store_true", default=None, help="show how long statements take")
    add("--read-only", action="store_true", help="open without the right to write")
    add("--safe", action="store_true", help="refuse commands that take a file, such as .read")
    add("--engine", choices=("duckdb", "spark", "auto"), help="what computes queries")
    add("--spark-master", metavar="URL", help="where Spark runs (default: local[*])")
    add("--keep-going", action="store_true", help="run on after a failed statement")
    add("--init", metavar="FILE", help="a script to run first, in place of startup.sql")
    add("--no-init", action="store_true", help="do not read config.toml and startup.sql")
    add("--version", action="store_true", help="show the version and leave")
    parser.set_defaults(steps=[])
    return parser


def _run(options: argparse.Namespace) -> int:
    if options.version:
        from pykudu_sql import __version__

        print(f"pykudu-sql {__version__}")
        return ExitCode.OK
    at_terminal = not options.steps and sys.stdin.isatty()
    variables = _assignments("--param", options.param)
    database_settings = _database_settings(options.set)
    settings = _settings(options, at_terminal)
    scripts = [] if at_terminal else _read_steps(options.steps or [Step("-", is_file=True)])
    first = _first_script(options, at_terminal)

    # Loading the database makes many objects and no garbage; looking for it takes a sixth more.
    gc.disable()
    import pykudu_sql
    from pykudu_sql.shell.scripts import ScriptPosition, print_statement_error
    from pykudu_sql.shell.session import ShellSession

    try:
        session = ShellSession(
            options.db,
            settings,
            _run_command,
            read_only=options.read_only,
            safe=options.safe,
            keep_going=options.keep_going,
            engine=options.engine,
            spark_master=options.spark_master,
            database_settings=database_settings,
        )
    except pykudu_sql.Error as error:
        print_statement_error(error, ScriptPosition(None))
        return exit_code(error)
    finally:
        gc.enable()
    session.variables.update(variables)
    try:
        if at_terminal:
            return _run_interactively(session, first)
        return _run_scripts(session, [*first, *scripts])
    finally:
        session.close()


def _run_interactively(session: "ShellSession", first: Sequence[tuple[str, str | None]]) -> int:
    from pykudu_sql import __version__
    from pykudu_sql.shell.first_prompt import first_prompt, welcome

    print(welcome(session.connection, __version__))
    # What the user's own script prints comes before any prompt.
    with nullcontext() if first else first_prompt(session.connection):
        from pykudu_sql.shell.repl import Repl

        repl = Repl(session)
    return repl.run(first)


def _run_command(session: "ShellSession", text: str) -> None:
    # The commands are a tenth of the start, and most scripts have none.
    from pykudu_sql.shell.commands import registry

    registry.run(session, text)


def _assignments(option: str, texts: Sequence[str]) -> dict[str, Value]:
    """The values that an option of the command line gives to names."""
    values = {}
    for text in texts:
        pair = parse_assignment(text)
        if pair is None:
            raise UsageError(f"{option} {text!r}: a name, '=' and a value are expected: a=1")
        values[pair[0]] = parse_value(pair[1])
    return values


def _database_settings(texts: Sequence[str]) -> dict[str, Value]:
    """Settings of `--set`, but those that the shell has options for."""
    values = _assignments("--set", texts)
    for name in values:
        if (option := _OWN_OPTIONS.get(name.lower())) is not None:
            raise UsageError(f"--set {name}: in the shell {option}")
    return values


def _first_script(options: argparse.Namespace, at_terminal: bool) -> list[tuple[str, str | None]]:
    """The script that runs before all others; at a terminal the user's own, if there is one."""
    if options.init is not None:
        return _read_steps([Step(options.init, is_file=True)])
    startup_script = startup_path()
    if options.no_init or not at_terminal or not startup_script.exists():
        return []
    return _read_steps([Step(str(startup_script), is_file=True)])


def _settings(options: argparse.Namespace, at_terminal: bool) -> Settings:
    settings = Settings(timer=at_terminal)
    if not options.no_init:
        settings = load_settings(settings, config_path())
    for name in ("format", "null", "guard_formulas", "max_rows", "max_width", "timer"):
        value = getattr(options, name)
        if value is not None:
            settings = replace_setting(settings, name, value)
    return replace_setting(settings, "headers", False) if options.no_header else settings


def _read_steps(steps: Sequence[Step]) -> list[tuple[str, str | None]]:
    """Text and name of every script; all are read before the first one changes anything."""
    from pykudu_sql.shell.scripts import decode_script, read_script

    texts: list[tuple[str, str | None]] = []
    for step in steps:
        if not step.is_file:
            texts.append((step.text, None))
        elif step.text == "-":
            texts.append((decode_script(sys.stdin.buffer.read(), "<stdin>"), "<stdin>"))
        else:
            texts.append((read_script(Path(step.text)), step.text))
    return texts


def _run_scripts(session: "ShellSession", scripts: Sequence[tuple[str, str | None]]) -> int:
    from pykudu_sql.shell.commands.command import Quit
    from pykudu_sql.shell.editing.interruptible import run_interruptibly
    from pykudu_sql.shell.session import StatementFailed

    def run_all() -> None:
        for text, source in scripts:
            session.run_script(text, source)

    with suppress(StatementFailed, Quit):
        run_interruptibly(run_all, session.cancel, session.show_progress)
    is_unfinished = session.connection.in_transaction
    return ExitCode.FAILED if session.failures or is_unfinished else ExitCode.OK
