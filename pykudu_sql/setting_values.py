"""Values of settings as users write them: what each kind takes, and how it is read.

A reader takes what was given to `connect` or stands behind SET and returns the value; it raises
ValueError with what it takes.
"""

import os
import re
from collections.abc import Callable

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.table_properties import MAX_HISTORY_AGE

_UNITS = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}
_MILLISECONDS = {
    "": 1, "ms": 1, "s": 1_000, "sec": 1_000, "second": 1_000, "min": 60_000, "minute": 60_000,
    "h": 3_600_000, "hour": 3_600_000,
}  # fmt: skip
_SECONDS = {"": 1, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}


@dataclass(frozen=True, slots=True)
class Words:
    """Reads one of a few words."""

    words: tuple[str, ...]

    def __call__(self, value: object) -> str:
        text = str(value).lower()
        if text not in self.words:
            *first, last = map(repr, self.words)
            raise ValueError(f"{', '.join(first)} or {last}")
        return text


def one_of(*words: str) -> Words:
    """Reads one of some words."""
    return Words(words)


def spark_master(value: object) -> str:
    """Where Spark runs."""
    if not isinstance(value, str) or not value:
        raise ValueError("where Spark runs, such as 'local[*]' or 'spark://127.0.0.1:7077'")
    return value


def folder_of_files(value: object) -> str | bool:
    """A folder as its real path, or whether all files may be used."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str | os.PathLike) or not os.path.isdir(value):
        raise ValueError("a folder that exists, or True for all files, or False for none")
    return os.path.realpath(os.fsdecode(value))


def database_name(value: object) -> str:
    """The name of a database, in lower case."""
    if not isinstance(value, str) or not value:
        raise ValueError("the name of a database")
    return value.lower()


def directory(value: object) -> str:
    """A directory that exists; empty is the default one."""
    if not isinstance(value, str) or (value and not os.path.isdir(value)):
        raise ValueError("a directory that exists")
    return value


def boolean(value: object) -> bool:
    """Read as SQL reads a boolean."""
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text not in ("true", "false", "on", "off", "1", "0"):
        raise ValueError("true or false")
    return text in ("true", "on", "1")


def size(value: object) -> int:
    """Bytes, also of texts such as `512MB`."""
    match = re.fullmatch(r"(\d{1,18})\s*([kmgt]?b)?", str(value).strip().lower())
    if match is None or isinstance(value, bool):
        raise ValueError("a number of bytes, or text such as '512MB'")
    return int(match.group(1)) * _UNITS[match.group(2) or ""]


def duration(value: object) -> int:
    """Milliseconds, also of texts such as `5 min`."""
    text = str(value).strip().lower()
    match = re.fullmatch(r"(\d{1,9})\s*([a-z]*)", text)
    unit = match.group(2) if match is not None else "none"
    scale = _MILLISECONDS.get(unit, _MILLISECONDS.get(unit.removesuffix("s")))
    if match is None or scale is None or isinstance(value, bool):
        raise ValueError("a number of milliseconds, or text such as '30s' or '5 min'")
    return int(match.group(1)) * scale


def count(least: int, most: int) -> Callable[[object], int]:
    """Reads a whole number within bounds."""

    def read(value: object) -> int:
        text = str(value).strip()
        if isinstance(value, bool) or not text.isdecimal() or not least <= int(text) <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return int(text)

    return read


def history_age(value: object) -> int:
    """Seconds for which history is kept; -1 is for ever."""
    text = str(value).strip().lower()
    match = re.fullmatch(r"(\d{1,12})\s*([a-z]*?)s?", text)
    if text in ("forever", "-1"):
        return -1
    if match is None or isinstance(value, bool) or match.group(2) not in _SECONDS:
        raise ValueError("seconds, text such as '7 days' or '12 hours', or 'forever'")
    return min(int(match.group(1)) * _SECONDS[match.group(2)], MAX_HISTORY_AGE)


def timestamp(value: object) -> Timestamp:
    """A hybrid timestamp; `SET as_of` gives times as such."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a hybrid timestamp; SET as_of = '2026-01-31 12:00:00' takes times too")
    return Timestamp(value)
