"""Messages of several lines that fit a terminal. A pure function.

A line of a statement with marks below it is cut around the marks, so that these stay below what
they are about; other lines are broken at blanks.
"""

import re
from collections.abc import Sequence

from pykudu_sql.shell.output.display import ELLIPSIS, width
from pykudu_sql.shell.output.wrapping import wrap_text

_PLACE = re.compile(r"LINE \d+: ")
_MARKS = re.compile(r" *\^+")
_MOST_LINES = 50
_LEAST_COLUMNS = 40


def wrap_message(lines: Sequence[str], columns: int) -> list[str]:
    """The lines, none of them wider than so many columns of a terminal."""
    if columns < _LEAST_COLUMNS:
        return list(lines)
    output_lines: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        place = _PLACE.match(line)
        if place is not None and _MARKS.fullmatch(below) and line.isascii():
            output_lines += _around_marks(line, below, place.end(), columns)
        elif not (output_lines and _MARKS.fullmatch(line)):
            output_lines += wrap_text(line, columns, _MOST_LINES)
    return output_lines


def _around_marks(line: str, marks: str, begins: int, columns: int) -> tuple[str, str]:
    """A statement's line and the marks below it. `begins`: where the statement does."""
    if width(line) <= columns:
        return line, marks
    head, text = line[:begins], line[begins:]
    first = max(marks.index("^") - begins, 0)
    room = columns - begins
    start = 0
    if first + (len(marks) - begins - first) > room - 1:
        start = min(max(first - room // 3, 0), max(len(text) - room, 0))
    part = text[start : start + room]
    if start:
        part = ELLIPSIS + part[1:]
    if start + room < len(text):
        part = part[:-1] + ELLIPSIS
    shifted = " " * (begins + first - start) + marks.strip()
    return head + part, shifted[:columns]
