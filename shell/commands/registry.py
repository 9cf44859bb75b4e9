"""All commands, and the look-up and run of the command of a line."""

import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands import (
    execution,
    files,
    import_export,
    introspection,
    presentation,
    repetition,
    saved,
    time_travel,
)
from pykudu_sql.shell.commands.command import Command, ExternalAccess, command, split_words
from pykudu_sql.shell.commands.other_shells import OTHER_SHELLS
from pykudu_sql.shell.manual import find_section, paragraphs
from pykudu_sql.shell.output.display import width
from pykudu_sql.shell.output.spans import Line, Role, Span
from pykudu_sql.shell.output.wrapping import wrap_entry, wrap_line
from pykudu_sql.shell.settings import UnknownCommandError, UsageError, suggest_name

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

_USAGE_COLUMNS = 28  # of the list of commands; a longer usage has a line of its own


def run(session: "ShellSession", text: str) -> None:
    """Run one command line.

    Raises UsageError: no such command, wrong arguments, or a NUL character; the message says what
    is right; Quit: it is the command to leave.
    """
    if "\0" in text:
        raise UsageError("a command holds a NUL character; leave it out")
    name, _, rest = text.strip().partition(" ")
    command = next((c for c in COMMANDS if name.rstrip(";") in c.names), None)
    if command is None:
        name = name.rstrip(";")
        names = [name for c in COMMANDS for name in c.names]
        other = OTHER_SHELLS.get(name)
        hint = f"; here it is {other}" if other else suggest_name(name, names)
        raise UnknownCommandError(f"unknown command '{name}'{hint} (.help lists all)")
    if command.access is not ExternalAccess.NOTHING and session.safe:
        raise UsageError(
            f"{name.rstrip(';')} is not available in safe mode: it {command.access} (--safe)"
        )
    arguments = _arguments(command, rest.strip())
    if not command.accepts(len(arguments)):
        raise UsageError(f"usage: {command.usage}")
    with session.paged() if command.paged else nullcontext():
        command.action(session, arguments)


def _arguments(command: Command, rest: str) -> list[str]:
    if command.raw:
        return [rest] if rest else []
    return split_words(rest)


@command(
    ".help",
    "\\?",
    "\\h",
    arguments="[COMMAND|STATEMENT...]",
    summary="list the commands, or explain one, or a statement such as select",
    examples=(".help .import", ".help create table", ".help all create table"),
    paged=True,
)
def help_command(session: "ShellSession", arguments: Sequence[str]) -> None:
    is_whole = len(arguments) > 1 and arguments[0].lower() == "all"
    topic = " ".join(arguments[is_whole:])
    pattern = topic.lstrip(".\\")
    commands = [c for c in COMMANDS if not topic or pattern in (n.lstrip(".\\") for n in c.names)]
    section = None if not topic or topic.startswith((".", "\\")) else find_section(topic)
    if not commands and section is None:
        from pykudu_sql.statements import list_statements

        names = [name for c in COMMANDS for name in c.names]
        hint = suggest_name(topic.lower(), (*names, *map(str.lower, list_statements())))
        raise UsageError(f"no command and no statement '{topic}'{hint} (.help lists all commands)")
    column = min(max((len(c.usage) for c in commands), default=0), _USAGE_COLUMNS)
    for c in commands:
        aliases = f"  (also {', '.join(c.names[1:])})" if c.names[1:] else ""
        for line in wrap_entry(c.usage, f"{c.summary}{aliases}", column, session.output.width()):
            session.output.write_line(line)
        for example in c.examples if topic else ():
            session.output.write_line((Span(f"  {example}", Role.NAME),))
    if section is not None:
        session.output.write_line((Span(section.heading, Role.NAME),))
        text = section.text if is_whole else section.summary(topic)
        for line in _page_lines(text, session.output.width(), fences=is_whole):
            session.output.write_line(line)
        if not is_whole and text != section.text:
            where = f".help all {topic}, or docs/sql/{section.page}.md"
            session.output.write(f"\nMore: {where}\n")
    if not topic:
        session.output.write("Everything else is SQL and ends with a semicolon.\n")


_GAP = re.compile(r" {2,}")  # between a form and a comment, or another form
_BOX = frozenset("│┌├└")  # a line of a result, which no blank may break


def _page_lines(text: str, columns: int | None, *, fences: bool) -> Iterator[Line]:
    """Lines of a page that fit the terminal; those of boxes stay as they are.

    `fences`: whether lines that begin and end a block are shown.
    """
    for paragraph, is_text in paragraphs(text):
        if is_text:
            indent = 2 if paragraph.startswith("- ") else 0
            yield from wrap_line((Span(paragraph),), columns, indent)
        elif not fences and paragraph.startswith("```"):
            continue
        elif _BOX.isdisjoint(paragraph):
            yield from _code_lines(paragraph, columns)
        else:
            yield (Span(paragraph),)


def _code_lines(line: str, columns: int | None) -> Iterator[Line]:
    """A line of code; one that is too long is broken at its gaps, then at blanks."""
    if columns is None or width(line) <= columns:
        yield (Span(line),)
        return
    indent = len(line) - len(line.lstrip(" "))
    first, *others = _GAP.split(line[indent:])
    yield from wrap_line((Span(" " * indent + first),), columns, indent + 4)
    for piece in others:
        yield from wrap_line((Span(" " * (indent + 4) + piece),), columns, indent + 8)


COMMANDS: tuple[Command, ...] = (
    help_command,
    introspection.tables, introspection.schema, introspection.describe, introspection.columns,
    introspection.databases, introspection.list_indexes, introspection.functions,
    time_travel.asof, time_travel.diff, time_travel.log, time_travel.layout, time_travel.why,
    repetition.again, repetition.again_expanded, repetition.edit, repetition.history,
    saved.save, saved.run_saved,
    presentation.mode, presentation.expanded, presentation.timer, presentation.null,
    presentation.maxrows, presentation.maxwidth, presentation.separators, presentation.headers,
    presentation.last,
    presentation.copy, presentation.pager, presentation.progress, presentation.guard,
    presentation.settings,
    import_export.import_command, import_export.export,
    execution.watch, execution.param, execution.bail, execution.echo,
    files.read, files.output, files.once, files.dump, files.shell, files.open_command,
    files.quit_command,
)  # fmt: skip
