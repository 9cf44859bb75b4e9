"""Escaped texts broken into lines of a width: names behind `_` and their like, texts at blanks."""

import re

from pykudu_sql.shell.output.display import elide, take, width

_NAME_ENDS = "_ .,("  # behind these a name may be broken: `customer_`, `full_`, `name`
_NAME_PIECE = re.compile(rf"[^{_NAME_ENDS}]*[{_NAME_ENDS}]+|[^{_NAME_ENDS}]+")


def longest_piece(name: str) -> int:
    """The columns that a name needs when it is broken wherever it may be."""
    return max(map(width, _NAME_PIECE.findall(name)), default=0)


def wrap_name(name: str, columns: int) -> list[str]:
    """A name in lines of at most so many columns, none of it left out."""
    lines = []
    while width(name) > columns:
        fitting = len(take(name, columns)) or 1
        broken = [end.end() for end in _NAME_PIECE.finditer(name) if end.end() <= fitting]
        cut = broken[-1] if broken else fitting
        lines.append(name[:cut])
        name = name[cut:]
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
        cut = blank if blank > max(fitting // 2, len(indent)) else fitting
        wrapped.append(text[:cut].rstrip(" ") or text[:cut])
        text = indent + text[cut:].lstrip(" ")
    return [*wrapped, elide(text, columns)]
