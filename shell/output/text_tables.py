"""Results as plain tables without types, as other shells draw them: all rows, never cut.

Their columns are as wide as the widest value, so the whole result is held.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from pykudu_sql.shell.output.display import escape, pad, width
from pykudu_sql.shell.output.values import to_text
from pykudu_sql.storage.common.noun_count import noun_count

Batches = Iterable[Sequence[Sequence[Any]]]


def box(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """A box of lines, as SQLite's `.mode box`."""
    rows, widths, right = _cells(names, batches, null)
    rule = ["─" * (w + 2) for w in widths]
    yield f"┌{'┬'.join(rule)}┐\n"
    for number, row in enumerate(rows):
        cells = (
            pad(cell, w, right=is_number and number > 0)
            for cell, w, is_number in zip(row, widths, right, strict=True)
        )
        yield f"│ {' │ '.join(cells)} │\n"
        if number == 0:
            yield f"├{'┼'.join(rule)}┤\n"
    yield f"└{'┴'.join(rule)}┘\n"


def psql(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """As PostgreSQL's psql aligns it, its count of rows included."""
    rows, widths, right = _cells(names, batches, null)
    for number, row in enumerate(rows):
        if number == 0:
            # Names stand in the middle.
            cells = [_centred(cell, w) for cell, w in zip(row, widths, strict=True)]
            yield f" {' | '.join(cells)} ".rstrip(" ") + "\n"
            yield "+".join("-" * (w + 2) for w in widths) + "\n"
            continue
        cells = [
            pad(cell, w, right=is_number)
            for cell, w, is_number in zip(row, widths, right, strict=True)
        ]
        yield f" {' | '.join(cells)} ".rstrip(" ") + "\n"
    yield f"({noun_count(len(rows) - 1, 'row')})\n"


def _centred(cell: str, columns: int) -> str:
    return pad(" " * ((columns - width(cell)) // 2) + cell, columns)


def _cells(
    names: Sequence[str], batches: Batches, null: str
) -> tuple[list[list[str]], list[int], list[bool]]:
    """Names and cells as texts, how wide each column is, and which hold numbers alone."""
    values = list(chain.from_iterable(batches))
    rows = [[escape(name) for name in names]]
    rows += [[null if v is None else escape(to_text(v)) for v in row] for row in values]
    widths = [max(width(row[i]) for row in rows) for i in range(len(names))]
    right = [
        bool(values) and all(row[i] is None or _is_number(row[i]) for row in values)
        for i in range(len(names))
    ]
    return rows, widths, right


def _is_number(value: object) -> bool:
    # Decimal is no Number of the standard library's tower, but it has a sign and digits.
    return hasattr(value, "__float__") and not isinstance(value, bool)
