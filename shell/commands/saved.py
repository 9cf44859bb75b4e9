"""Statements saved under a name: a file each, in `queries` beside the file of settings."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.command import ExternalAccess, command
from pykudu_sql.shell.commands.repetition import last_statement
from pykudu_sql.shell.parameters import parse_value, split_arguments
from pykudu_sql.shell.scripts import read_script
from pykudu_sql.shell.settings import UsageError, queries_path, saved_names, suggest_name

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

# No separator and no leading dot: a name can reach nothing outside of the folder.
_NAME = re.compile(r"\w[\w.-]{0,99}")


@command(
    ".save",
    arguments="NAME [SQL...]",
    summary="save the last statement, or this one, under a name",
    examples=(".save top_sellers", ".save by_city SELECT * FROM t WHERE city = :city"),
    access=ExternalAccess.FILE,
    raw=True,
)
def save(session: "ShellSession", arguments: Sequence[str]) -> None:
    name, _, sql = arguments[0].partition(" ")
    path = _path(name)
    sql = sql.strip().rstrip(";") or last_statement(session)
    if session.read_only and path.exists():
        raise UsageError(
            f"{name!r} is saved already, and a read-only session replaces no file; "
            "give another name"
        )
    session.check_written(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(f"{sql};\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    session.output.write(f"Saved; .run {name} runs it.\n")


@command(
    ".run",
    arguments="[NAME] [ARGUMENT...]",
    summary="run a saved statement, values for its ? or name=value for its :name; list them",
    examples=(".run", ".run top_sellers 10", ".run by_city city=Rome least=10"),
    access=ExternalAccess.FILE,
)
def run_saved(session: "ShellSession", arguments: Sequence[str]) -> None:
    if not arguments:
        for path in sorted(queries_path().glob("*.sql")):
            session.output.write(f"{path.stem}: {' '.join(read_script(path).split())}\n")
        return
    name, *argument_words = arguments
    path = _path(name)
    if not path.is_file():
        near_one = suggest_name(name, saved_names())
        raise UsageError(f"nothing is saved as {name!r}{near_one} (.run lists all)")
    positional, named = split_arguments(argument_words)
    values = tuple(map(parse_value, positional))
    session.run_saved(path, values, {key: parse_value(text) for key, text in named.items()})


def _path(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name: letters, digits, '_', '-' and '.' make one")
    return queries_path() / f"{name}.sql"
