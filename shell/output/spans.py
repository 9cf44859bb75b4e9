"""Lines of text whose parts have a role, which a terminal shows as a colour.

Functions that draw give roles; only `Output` turns roles into colours, and it escapes the texts, so
that data cannot set a colour.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """What a part of a line is."""

    PLAIN = "plain"
    NAME = "name"
    FRAME = "frame"  # borders, types, whatever stands around the data
    NULL = "null"
    OLD = "old"
    NEW = "new"
    ERROR = "error"
    HINT = "hint"


class Span(NamedTuple):
    """A part of a line."""

    text: str
    role: Role = Role.PLAIN


Line = tuple[Span, ...]

# Colours of the sixteen that every terminal has, so that light and dark themes can both read them.
_CODES: Mapping[Role, str] = {
    Role.NAME: "1",
    Role.FRAME: "90",
    Role.NULL: "35",
    Role.OLD: "31",
    Role.NEW: "32",
    Role.ERROR: "1;31",
    Role.HINT: "36",
}


def text_of(line: Line) -> str:
    """The text of a line without its roles."""
    return "".join(span.text for span in line)


def add_colour(text: str, role: Role) -> str:
    """An escaped text with the codes that colour it on a terminal."""
    code = _CODES.get(role)
    return text if code is None or not text else f"\x1b[{code}m{text}\x1b[0m"
