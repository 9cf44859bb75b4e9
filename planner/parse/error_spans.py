"""The one place where the span of an error becomes a position that a person can read.

All of the planner raises errors with spans; `locate` is called at the boundaries that know the
statement's text: `planner.plan`, and the session's error boundary for what is planned while a
statement runs.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pykudu_sql.storage.errors import Error, SourcePosition, SourceSpan


@contextmanager
def errors_located(text: str, start: int = 0) -> Iterator[None]:
    """Errors of what is done inside show the position in the statement that their span means.

    Args:
        text: the statement, or the part of it that somebody wrote.
        start: where that begins in the whole.

    Raises Error: as it was raised inside.
    """
    try:
        yield
    except Error as error:
        locate(error, text, start)
        raise


def locate(error: Error, text: str, start: int = 0) -> None:
    """Turn an error's span, if it has one, into a position in a text; see `errors_located`."""
    if error.span is not None:
        error.position = _position(text, max(0, error.span.start - start), error.span.length)
    error.span = None


@contextmanager
def errors_at(span: SourceSpan | None) -> Iterator[None]:
    """Errors of what is done inside get this span, if they have none.

    Raises Error: as it was raised inside.
    """
    try:
        yield
    except Error as error:
        error.span = error.span or span
        raise


@contextmanager
def spans_dropped() -> Iterator[None]:
    """Errors of what is done inside, with a text that nobody wrote, lose their span.

    Raises Error: as it was raised inside.
    """
    try:
        yield
    except Error as error:
        error.span = None
        raise


def _position(text: str, start: int, length: int) -> SourcePosition:
    """Where an offset lies, as line and column with the line's text.

    Args:
        start: offset of the first character; behind the text for its end.
        length: in characters; cut at the end of the line.
    """
    start = min(start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : line_end if line_end >= 0 else len(text)].rstrip("\r")
    column = start - line_start
    if len(line) > 160:  # a thousand rows on one line: show the part that matters
        start_column = max(0, column - 60)
        line = line[start_column : start_column + 120]
        column -= start_column
    visible = max(1, min(length, len(line) - column))
    return SourcePosition(text.count("\n", 0, start) + 1, column + 1, line, visible)
