"""Commands that read scripts, write results to files and programs, and open databases."""

import subprocess
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pykudu_sql.shell.commands.catalog import find_relations
from pykudu_sql.shell.commands.command import (
    ExternalAccess,
    Quit,
    command,
    parse_path,
    quote_identifier,
    split_words,
)
from pykudu_sql.shell.commands.introspection import schema
from pykudu_sql.shell.editing.typed_keys import drawn_keys
from pykudu_sql.shell.output.sql_literals import inserts
from pykudu_sql.shell.own_queries import uncounted
from pykudu_sql.shell.settings import UsageError
from pykudu_sql.shell.subcommands import names_a_database

if TYPE_CHECKING:
    from pykudu_sql import Cursor
    from pykudu_sql.shell.session import ShellSession

_BATCH_ROWS = 10_000


@command(".read", "\\i", arguments="FILE", summary="run a script", access=ExternalAccess.FILE)
def read(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.run_file(parse_path(arguments[0]))


@command(
    ".output",
    "\\o",
    arguments="[FILE|COMMAND...]",
    summary="write results to a file, to a '|command', or here again",
    examples=(".output result.csv", ".output | sort -r", ".output"),
    access=ExternalAccess.FILE,
    raw=True,
)
def output(session: "ShellSession", arguments: Sequence[str]) -> None:
    if arguments:
        _redirect(session, arguments[0])
    else:
        session.output.restore()


@command(
    ".once",
    arguments="FILE|COMMAND...",
    summary="write the next result to a file or a '|command'",
    examples=(".once result.json", ".once | wc -l"),
    access=ExternalAccess.FILE,
    raw=True,
)
def once(session: "ShellSession", arguments: Sequence[str]) -> None:
    _redirect(session, arguments[0])
    session.is_once = True


def _redirect(session: "ShellSession", target: str) -> None:
    session.is_once = False
    if target.startswith("|"):
        session.output.pipe(target[1:].strip())
        return
    words = split_words(target)
    if len(words) != 1:
        raise UsageError(f"usage: {output.usage}")
    session.redirect(parse_path(words[0]))


@command(
    ".shell",
    "\\!",
    arguments="COMMAND...",
    summary="run a command of the system",
    access=ExternalAccess.PROCESS,
    raw=True,
)
def shell(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.output.flush()
    with drawn_keys():
        process = subprocess.run(arguments[0], shell=True, check=False)
    if process.returncode:
        raise UsageError(f"the command ended with code {process.returncode}")


@command(
    ".dump",
    arguments="[PATTERN]",
    summary="show the statements that make tables again with their rows",
    paged=True,
)
def dump(session: "ShellSession", arguments: Sequence[str]) -> None:
    schema.action(session, arguments)
    for table in find_relations(session, arguments):
        if table.is_view:
            continue
        with (
            uncounted(session.connection),
            session.connection.execute(f"SELECT * FROM {table.sql}") as cursor,
        ):
            names = [quote_identifier(column[0]) for column in cursor.description or ()]

            def batches(cursor: "Cursor" = cursor) -> Iterator[Sequence[Sequence[Any]]]:
                while batch := cursor.fetchmany(_BATCH_ROWS):
                    session.check_cancelled()
                    yield batch

            for text in inserts(table.sql, names, batches()):
                session.output.write(text)


@command(
    ".open",
    arguments="DB",
    summary="close this database and open another",
    access=ExternalAccess.FILE,
)
def open_command(session: "ShellSession", arguments: Sequence[str]) -> None:
    (name,) = arguments
    if not names_a_database(name):
        raise UsageError(
            f"there is no database '{name}'; a new one is named by a path with a separator or an "
            f"extension: ./{name}, {name}.db"
        )
    session.open(name)


@command(".quit", "\\q", ".exit", summary="leave")
def quit_command(session: "ShellSession", arguments: Sequence[str]) -> None:
    raise Quit
