"""Hive's layout of files: `a=1/b=x/part.parquet` says of all rows of a file what `a` and `b` are.

Values are texts, in which characters that a path cannot have are `%` and two hexadecimal digits;
NULL has a name of its own, whose first letter is written so where a text is that name.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, unquote

NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_PLAIN: Final = " ,;!$()+@'"


def folder_of(names: Sequence[str], values: Sequence[str | None]) -> str:
    """The folder of the rows that have some values, as texts, in some columns."""
    return "/".join(
        f"{quote(name, safe=_PLAIN)}={_value(text)}"
        for name, text in zip(names, values, strict=True)
    )


def _value(text: str | None) -> str:
    if text is None:
        return NULL
    quoted = quote(text, safe=_PLAIN)
    return f"%{ord(NULL[0]):02X}{NULL[1:]}" if quoted == NULL else quoted


def partitions_of(folders: Sequence[str]) -> Mapping[str, str | None]:
    """What folders say of the rows below them: texts by names of columns in lower case."""
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return {
        unquote(name).lower(): None if text == NULL else unquote(text) for name, _, text in pairs
    }
