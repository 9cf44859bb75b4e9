"""Texts with an offset from UTC that are used as a TIMESTAMP: `'2026-01-31T12:00:00+02:00'`.

A column stores the moment that such a text names. The engine would drop the offset where it casts
the text, and find another row than the one that was written. So a literal becomes the same moment
in UTC before anything reads it, and so do the values of a stored text (see `compared_timestamps`).
What an expression makes is cast by the engine, which drops offsets.
"""

import datetime as dt

from sqlglot import exp

from pykudu_sql.storage.errors import ValueOutOfRangeError

_SHORTEST = len("2026-01-31 12:00Z")


def in_utc(text: str) -> str:
    """A time that says its offset from UTC as one in UTC that does not; other text as it is.

    Raises ValueOutOfRangeError: in UTC the time is outside the years 1 to 9999.
    """
    if len(text) < _SHORTEST:
        return text
    try:
        # Python reads a blank before an offset behind some fractions of a second only.
        moment = dt.datetime.fromisoformat(text.strip().replace(" +", "+").replace(" -", "-"))
        if moment.tzinfo is None:
            return text
        return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(sep=" ")
    except ValueError:
        return text
    except OverflowError:
        raise ValueOutOfRangeError(
            f"value {text!r:.80} is out of range for TIMESTAMP",
            hint="in UTC it is outside the years 1 to 9999",
        ) from None


def literal_to_utc(node: exp.Expr) -> None:
    """Convert a literal that is used as a TIMESTAMP to UTC, in place; leave other nodes alone."""
    if isinstance(node, exp.Literal) and node.is_string:
        node.set("this", in_utc(node.name))


def is_timestamp(target: exp.DataType) -> bool:
    """Whether a type of CAST is TIMESTAMP, without time zone."""
    return target.is_type(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ)


def utc_cast(node: exp.Expr) -> exp.Expr:
    """`CAST('..+02:00' AS TIMESTAMP)` is the moment in UTC; the engine would drop the offset."""
    if isinstance(node, exp.Cast) and is_timestamp(node.to):
        literal_to_utc(node.this)
    return node
