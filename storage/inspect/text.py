"""Values as text for a person. Nothing that comes from data can control a terminal."""

from pykudu_sql.storage.common.types.hybrid_time import Timestamp, logical_of, to_datetime
from pykudu_sql.storage.common.types.types import Cell

_LONGEST = 60


def time_text(timestamp: Timestamp) -> str:
    """A hybrid time: the wall clock, the count within a microsecond, and the number itself."""
    try:
        wall = to_datetime(timestamp).isoformat(sep=" ", timespec="microseconds")
    except OverflowError:
        return str(timestamp)
    return f"{wall} +{logical_of(timestamp)} ({timestamp})"


def cell_text(cell: Cell) -> str:
    """A cell; long ones are cut."""
    if cell is None:
        return "NULL"
    text = repr(cell)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def name_text(name: str) -> str:
    """A name, spelled out where it cannot be printed."""
    return name if name.isprintable() else repr(name)


def key_text(key: bytes) -> str:
    """An encoded key in hexadecimal; long ones are cut."""
    text = key.hex()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def size_text(size: int) -> str:
    """A number of bytes."""
    return f"{size:,} bytes"
