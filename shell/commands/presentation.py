"""Commands that say how results look."""

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.command import (
    ExternalAccess,
    command,
    parse_number,
    parse_switch,
    set_switch,
    show_switch,
)
from pykudu_sql.shell.output.clipboard import clipboard_program, copy_to_program
from pykudu_sql.shell.own_queries import query
from pykudu_sql.shell.settings import FORMATS, PAGERS, Settings, UsageError, replace_setting

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession


@command(
    ".mode",
    arguments="[FORMAT] [TABLE]",
    summary=f"how results look: {', '.join(FORMATS)} TABLE",
    examples=(".mode csv", ".mode insert stock", ".mode table"),
)
def mode(session: "ShellSession", arguments: Sequence[str]) -> None:
    if arguments:
        settings = replace_setting(session.settings, "format", arguments[0])
        if len(arguments) > 1:
            if arguments[0] != "insert":
                raise UsageError("only the format 'insert' takes a table")
            settings = replace_setting(settings, "insert_table", arguments[1])
        session.settings = settings
    else:
        session.output.write(f"{session.settings.format}\n")


@command(
    ".expanded",
    "\\x",
    arguments="[on|off]",
    summary="switch between a table and a line for each value",
)
def expanded(session: "ShellSession", arguments: Sequence[str]) -> None:
    enabled = session.settings.format != "line"
    if arguments:
        enabled = parse_switch(arguments[0], expanded.usage)
    new_format = "line" if enabled else "table"
    session.settings = replace_setting(session.settings, "format", new_format)
    if not arguments:
        show_switch(session, ".expanded", enabled)


@command(".timer", "\\timing", arguments="[on|off]", summary="show how long statements take")
def timer(session: "ShellSession", arguments: Sequence[str]) -> None:
    set_switch(session, "timer", arguments, timer)


@command(".null", arguments="TEXT", summary="how NULL is written, such as ''")
def null(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.settings = replace_setting(session.settings, "null", arguments[0])


@command(
    ".maxrows",
    arguments="N|auto",
    summary="rows of a table shown on a terminal; 0 for all, auto for as many as fit",
)
def maxrows(session: "ShellSession", arguments: Sequence[str]) -> None:
    if arguments[0] == "auto":
        session.settings = replace(session.settings, max_rows=None)
    else:
        session.settings = replace_setting(session.settings, "max_rows", parse_number(arguments[0]))


@command(".separators", arguments="[on|off]", summary="write numbers as 1,234,567")
def separators(session: "ShellSession", arguments: Sequence[str]) -> None:
    set_switch(session, "separators", arguments, separators)


@command(".headers", arguments="[on|off]", summary="names of columns in CSV and TSV")
def headers(session: "ShellSession", arguments: Sequence[str]) -> None:
    set_switch(session, "headers", arguments, headers)


@command(
    ".guard",
    arguments="[on|off]",
    summary="ask at the prompt before DELETE and UPDATE without WHERE, TRUNCATE, DROP and REPLACE",
)
def guard(session: "ShellSession", arguments: Sequence[str]) -> None:
    set_switch(session, "guard", arguments, guard)


@command(".last", summary="show the last result again, with all its rows and columns")
def last(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.show_last()


@command(
    ".copy",
    arguments="[FORMAT]",
    summary="put the last result into the clipboard, as tsv or in another format",
    access=ExternalAccess.PROCESS,
)
def copy(session: "ShellSession", arguments: Sequence[str]) -> None:
    format = replace_setting(
        session.settings, "format", arguments[0] if arguments else "tsv"
    ).format
    text = session.last_as(format)
    program = clipboard_program(os.environ)
    if program is not None and copy_to_program(program, text):
        session.output.write(f"Copied with {program[0]}.\n")
    elif not session.output.copy(text):
        raise UsageError(
            "there is no clipboard: neither wl-copy, xclip, xsel nor a terminal that takes "
            f"{len(text.encode()):,} bytes; .once FILE writes a file"
        )


@command(
    ".pager",
    arguments="[on|auto|off|COMMAND...]",
    summary="what goes through a pager: all that does not fit, what .last and .help show, nothing",
    examples=(".pager on", ".pager off", ".pager less -SRF"),
    access=ExternalAccess.PROCESS,
    raw=True,
)
def pager(session: "ShellSession", arguments: Sequence[str]) -> None:
    if not arguments:
        choice = session.settings
        session.output.write(f"{choice.pager} {choice.pager_command}".rstrip() + "\n")
    elif arguments[0] in PAGERS:
        session.settings = replace_setting(session.settings, "pager", arguments[0])
    else:
        session.settings = replace_setting(session.settings, "pager_command", arguments[0])


@command(".progress", arguments="[on|off]", summary="show how far statements of over a second are")
def progress(session: "ShellSession", arguments: Sequence[str]) -> None:
    set_switch(session, "progress", arguments, progress)


@command(".maxwidth", arguments="N", summary="width of a table; 0 for the terminal's")
def maxwidth(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.settings = replace_setting(session.settings, "max_width", parse_number(arguments[0]))


@command(
    ".settings", summary="show the choices in force, the shell's and the database's", paged=True
)
def settings(session: "ShellSession", arguments: Sequence[str]) -> None:
    for field in fields(Settings):
        choice_text = _choice_text(field.name, getattr(session.settings, field.name))
        session.output.write(f"{field.name}: {choice_text}\n")
    for name, value, *_ in query(session.connection, "SHOW SETTINGS"):
        session.output.write(f"SET {name} = {'DEFAULT' if value is None else value}\n")


def _choice_text(name: str, choice: str | int | None) -> str:
    """A choice as the commands take it."""
    match choice:
        case None:
            return "auto" if name == "max_rows" else "as the format has it"
        case bool():
            return "on" if choice else "off"
    return str(choice)
