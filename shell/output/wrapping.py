"""Texts broken into lines of a width: names behind `_` and their like, others at blanks."""

import re
from collections.abc import Iterator

from pykudu_sql.shell.output.display import elide, escape, pad, take, width
from pykudu_sql.shell.output.spans import Line, Role, Span, text_of

_NAME_ENDS = "_ .,("  # behind these a name may be broken: `customer_`, `full_`, `name`
_WORD = re.compile(r"[^ ]* +|[^ ]+")
_NAME_PIECE = re.compile(rf"[^{_NAME_ENDS}]*[{_NAME_ENDS}]+|[^{_NAME_ENDS}]+")


def longest_piece(name: str) -> int:
    """The columns that a name needs when it is broken wherever it may be."""
    return max(map(width, _NAME_PIECE.findall(name)), default=0)


def wrap_name(name: str, columns: int) -> list[str]:
    """A name in lines of at most so many columns, none of it left out."""
    lines = []
    while width(name) > columns:
        fitting = len(take(name, columns)) or 1
        piece_ends = [end.end() for end in _NAME_PIECE.finditer(name) if end.end() <= fitting]
        line_end = piece_ends[-1] if piece_ends else fitting
        lines.append(name[:line_end])
        name = name[line_end:]
    return [*lines, name]


def wrap_text(text: str, columns: int, lines: int) -> list[str]:
    """A text in at most so many lines, those behind the first indented as far as the first.

    What does not fit is left out of the last line, in the middle: the end of a text is worth as
    much as its beginning.
    """
    blanks = len(text) - len(text.lstrip(" "))
    indent = text[:blanks] if blanks <= columns // 2 else ""
    wrapped: list[str] = []
    while width(text) > columns and len(wrapped) < lines - 1:
        fitting = len(take(text, columns)) or 1
        blank = text.rfind(" ", 0, fitting + 1)
        # A word that would leave most of the line empty is broken itself.
        line_end = blank if blank > max(fitting // 2, len(indent)) else fitting
        wrapped.append(text[:line_end].rstrip(" ") or text[:line_end])
        text = indent + text[line_end:].lstrip(" ")
    return [*wrapped, elide(text, columns)]


def wrap_line(line: Line, columns: int | None, indent: int = 4) -> list[Line]:
    """A line in lines of at most so many columns, all but the first indented; None: as it is."""
    if columns is None or width(escape(text_of(line))) <= columns:
        return [line]
    lines, current, used, begins = list[Line](), list[Span](), 0, 0
    for word in _words(line, max(columns - indent, 1)):
        if used > begins and used + width(word.text.rstrip(" ")) > columns:
            lines.append((*current[:-1], Span(current[-1].text.rstrip(" "), current[-1].role)))
            current, used, begins = [Span(" " * indent)], indent, indent
        current.append(word)
        used += width(word.text)
    return [*lines, tuple(current)]


def _words(line: Line, longest: int) -> Iterator[Span]:
    """Words with the blanks behind them, in pieces where they are too long."""
    for text, role in line:
        for word in _WORD.findall(escape(text)):
            while width(word.rstrip(" ")) > longest:
                piece = take(word, longest) or word[0]
                yield Span(piece, role)
                word = word[len(piece) :]
            yield Span(word, role)


def wrap_entry(entry: str, text: str, column: int, columns: int | None) -> list[Line]:
    """An entry of a list and, from a column on, the text about it, below it if it is too long."""
    name = Span(pad(entry, column) if width(entry) <= column else entry, Role.NAME)
    explanation = (Span(" " * (column + 2)), Span(text))
    if width(entry) <= column:
        return wrap_line((name, Span("  "), Span(text)), columns, column + 2)
    return [(name,), *wrap_line(explanation, columns, column + 2)]
