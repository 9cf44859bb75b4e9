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
    literal = "'" + text.replace("'", "''") + "'"
    return f"snapshot({literal})" if text in snapshots else literal


def wall_time(timestamp: int) -> datetime.datetime:
    """The time of day, UTC, of a hybrid timestamp."""
    micros = timestamp >> _LOGICAL_BITS
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)
