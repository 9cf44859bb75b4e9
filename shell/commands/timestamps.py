"""Read timestamps as people type them: `10 min ago`, a snapshot's name, a time, a number."""

import datetime
import re
from collections.abc import Collection, Mapping

from pykudu_sql.shell.settings import UsageError, suggest_name

_AGO = re.compile(r"(\d{1,9})\s*([a-z]+)\s+ago", re.IGNORECASE)
_UNITS: Mapping[str, str] = {
    "s": "SECONDS", "sec": "SECONDS", "second": "SECONDS",
    "m": "MINUTES", "min": "MINUTES", "minute": "MINUTES",
    "h": "HOURS", "hour": "HOURS", "d": "DAYS", "day": "DAYS", "w": "WEEKS", "week": "WEEKS",
    "month": "MONTHS", "year": "YEARS",
}  # fmt: skip
_LOGICAL_BITS = 12  # below the microseconds of a hybrid timestamp


def timestamp_sql(text: str, snapshots: Collection[str]) -> str:
    """The SQL expression of a read timestamp, where a literal or a function may stand.

    `text`: as typed; `snapshots`: the names there are. Raises UsageError: no such unit of time.
    """
    text = text.strip()
    if match := _AGO.fullmatch(text):
        word = match[2].lower()
        unit = _UNITS.get(word) or _UNITS.get(word.removesuffix("s"))
        if unit is None:
            raise UsageError(f"no unit of time {match[2]!r}{suggest_name(word, _UNITS)}")
        return f"now() - INTERVAL {int(match[1])} {unit}"
    if text.lower() == "now":
        return "now()"
    if text.isdecimal() and text.isascii():
        return text
    literal = "'" + text.replace("'", "''") + "'"
    return f"snapshot({literal})" if text in snapshots else literal


def wall_time(timestamp: int) -> datetime.datetime:
    """The time of day, UTC, of a hybrid timestamp."""
    micros = timestamp >> _LOGICAL_BITS
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)
