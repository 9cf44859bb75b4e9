"""Commands that run the last statement again, edit it, or list what was typed."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.command import ExternalAccess, command, parse_path
from pykudu_sql.shell.editing.typed_keys import drawn_keys
from pykudu_sql.shell.settings import UsageError, replace_setting

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

_HISTORY_LINES = 50


@command(".again", "\\g", summary="run the last statement again")
def again(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.run_written(last_statement(session))


@command(".vertical", "\\gx", "\\G", summary="run it again, a line for each value")
def again_expanded(session: "ShellSession", arguments: Sequence[str]) -> None:
    sql, settings = last_statement(session), session.settings
    session.settings = replace_setting(settings, "format", "line")
    try:
        session.run_written(sql)
    finally:
        session.settings = settings


@command(
    ".edit",
    "\\e",
    arguments="[FILE]",
    summary="edit the last statement, or a file, with $VISUAL or $EDITOR",
    access=ExternalAccess.PROCESS,
)
def edit(session: "ShellSession", arguments: Sequence[str]) -> None:
    if not session.is_interactive:
        raise UsageError(".edit needs a terminal: there is no prompt to come back to")
    if arguments:
        path = parse_path(arguments[0])
        _run_editor(path)
        session.prefill = _text_of(path)
        return
    descriptor, name = tempfile.mkstemp(suffix=".sql", text=True)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            if session.last_statement is not None:
                file.write(session.last_statement + ";\n")
        _run_editor(path)
        session.prefill = _text_of(path)
    finally:
        path.unlink(missing_ok=True)


@command(
    ".history",
    "\\s",
    arguments="[TEXT]",
    summary="list what was typed, or what holds a text",
    paged=True,
)
def history(session: "ShellSession", arguments: Sequence[str]) -> None:
    pattern = arguments[0].lower() if arguments else ""
    # The last one is this command.
    matching_statements = [text for text in session.read_history()[:-1] if pattern in text.lower()]
    for text in matching_statements[-_HISTORY_LINES:]:
        session.output.write(f"{text}\n")


def last_statement(session: "ShellSession") -> str:
    """The statement that ran last. Raises UsageError: none has."""
    if session.last_statement is None:
        raise UsageError("no statement has been run yet")
    return session.last_statement


def _run_editor(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        with drawn_keys():
            process = subprocess.run([*shlex.split(editor), str(path)], check=False)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"cannot start the editor {editor!r}: {error}; $VISUAL or $EDITOR names one"
        ) from error
    if process.returncode:
        raise UsageError(f"the editor {editor!r} ended with code {process.returncode}")


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").rstrip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
