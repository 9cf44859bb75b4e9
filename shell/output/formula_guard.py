"""Text that a spreadsheet would compute, made text again.

Spreadsheets take a cell of a CSV file that begins with `=`, `+`, `-` or `@`, also behind a tab or a
carriage return, for a formula, which may run programs or send data away (OWASP, CSV injection).
A single quote in front makes them show it. Numbers stay numbers: only text can be a formula.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# The last four are the full-width forms of the first, which spreadsheets read alike.
_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def guard_names(names: Sequence[str]) -> list[str]:
    """Names of columns that no spreadsheet computes."""
    return [_guard(name) for name in names]


def guard_batches(batches: Iterable[Sequence[Sequence[Any]]]) -> Iterator[list[list[Any]]]:
    """Batches of rows whose texts no spreadsheet computes; other values are as they were."""
    for batch in batches:
        yield [[_guard(v) if isinstance(v, str) else v for v in row] for row in batch]


def _guard(text: str) -> str:
    return "'" + text if text.startswith(_BEGINNINGS) else text
