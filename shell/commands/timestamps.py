"""Read timestamps as people type them: `10 min ago`, a snapshot's name, a time, a number."""

import datetime
from collections.abc import Collection

_LOGICAL_BITS = 12  # below the microseconds of a hybrid timestamp


def timestamp_sql(text: str, snapshots: Collection[str]) -> str:
    """The SQL expression of a read timestamp, where a literal or a function may stand.

    `text`: as typed; `snapshots`: the names there are.
    """
    text = text.strip()
    if text.isdecimal() and text.isascii():
        return text
    name = snapshot_name(text, snapshots)
    literal = "'" + (name or text).replace("'", "''") + "'"
    return f"snapshot({literal})" if name else literal


def snapshot_name(text: str, snapshots: Collection[str]) -> str | None:
    """The snapshot that a text names, `x` or `snapshot x` as behind AS OF; None if it names none.

    `text`: as typed; `snapshots`: the names there are.
    """
    word, _, name = text.strip().partition(" ")
    named = name.strip() if word.lower() == "snapshot" else ""
    return next((each for each in (text.strip(), named) if each in snapshots), None)


def wall_time(timestamp: int) -> datetime.datetime:
    """The time of day, UTC, of a hybrid timestamp."""
    micros = timestamp >> _LOGICAL_BITS
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)
