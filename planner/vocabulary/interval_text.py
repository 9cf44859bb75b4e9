"""The text of an interval, read as PostgreSQL reads it and written as the engine does.

The engine takes no `+`, and what stands behind a time of day is lost on it: AGO, more units.
"""

import re

from pykudu_sql.planner.vocabulary.time_units import interval_unit
from pykudu_sql.storage.errors import InvalidValueError, SourceSpan, ValueOutOfRangeError

_MAX_DIGITS = 40  # what reads the number behind us takes the square of its digits

_NUMBER = re.compile(r"\s*(?:\+(?!-))?(-?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*")
_AGO = re.compile(r"(?i)(?<![^\W\d_])ago$")
_PIECE = re.compile(
    r"(?P<sign>[+-]?)\s*(?:(?P<hours>[0-9]+):(?P<minutes>[0-5]?[0-9])"
    r"(?::(?P<seconds>[0-5]?[0-9](?:\.[0-9]*)?))?(?![\w.:])|"
    r"(?P<count>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?P<unit>[^\W\d_]+|(?![\w.:-])))\s*"
)


def is_number(text: str) -> bool:
    """Whether a text has no unit of its own."""
    return _NUMBER.fullmatch(text) is not None


def interval_text(text: str, span: SourceSpan | None) -> str:
    """An interval's text as numbers with a sign and a unit each; a number alone stays one.

    Raises InvalidValueError: it is no interval, or a unit is none; ValueOutOfRangeError: a number
    has too many digits.
    """
    alone = _NUMBER.fullmatch(text)
    if alone is not None:
        return alone[1] + _digits(alone[2], span)
    stripped = text.strip().removeprefix("@").lstrip()
    body = _AGO.sub("", stripped)
    is_ago = body != stripped
    pieces: list[str] = []
    offset = 0
    while match := _PIECE.match(body, offset):
        offset = match.end()
        sign = "-" if (match["sign"] == "-") is not is_ago else ""
        pieces.extend(f"{sign}{count} {unit}" for count, unit in _counts(match, span))
    if not pieces or offset < len(body):
        raise InvalidValueError(
            f"'{text:.60}' is no interval", hint="write INTERVAL '1 day 2 hours'", span=span
        )
    return " ".join(pieces)


def _counts(piece: re.Match[str], span: SourceSpan | None) -> list[tuple[str, str]]:
    if piece["unit"] == "":
        reason = "a number of an interval has no unit of time"
        raise InvalidValueError(
            reason, hint="write it behind the number: '5 min'", span=span, sqlstate="22023"
        )
    if piece["unit"] is not None:
        return [(_digits(piece["count"], span), interval_unit(piece["unit"], span).lower())]
    numbers = (piece["hours"], piece["minutes"], piece["seconds"] or "0")
    times = [_digits(number, span) for number in numbers]
    return list(zip(times, ("hours", "minutes", "seconds"), strict=True))


def _digits(count: str, span: SourceSpan | None) -> str:
    if len(count) > _MAX_DIGITS:
        raise ValueOutOfRangeError(
            f"a number of {len(count)} digits is too long for an interval",
            hint=f"a number of an interval has at most {_MAX_DIGITS}",
            span=span,
        )
    return f"0{count}" if count.startswith(".") else count
