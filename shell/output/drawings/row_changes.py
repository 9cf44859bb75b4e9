"""What became of rows between two moments, a line a row: `~ id=1  balance 10 → 12`.

A pure function of the commits' changes, in the order of key and commit.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from pykudu_sql.shell.output.spans import Line, Role, Span
from pykudu_sql.shell.output.values import to_text

Row = Sequence[Any]
_BEFORE = ("delete", "update_preimage")
_AFTER = ("insert", "update_postimage")


def net_changes(
    changes: Iterable[tuple[str, Row]], keys: int
) -> Iterator[tuple[Row | None, Row | None]]:
    """Each row before and after all changes; None where there was, or is, none.

    `changes`: kind and row, those of a key together and in order; `keys`: how many columns at the
    beginning of a row are its key. Rows that ended as they began are left out.
    """
    for _, events in groupby(changes, lambda change: tuple(change[1][:keys])):
        (first, before), *others = events
        last, after = others[-1] if others else (first, before)
        old = before if first in _BEFORE else None
        new = after if last in _AFTER else None
        if old != new:
            yield old, new


def change_line(names: Sequence[str], keys: int, old: Row | None, new: Row | None) -> Line:
    """One row's change: its key, and the cells that differ, or all of a row that came or went."""
    row = new if old is None else old
    assert row is not None
    mark, role = (
        ("+", Role.NEW) if old is None else ("-", Role.OLD) if new is None else ("~", Role.NAME)
    )
    key = " ".join(f"{name}={_text(value)}" for name, value in zip(names, row[:keys], strict=False))
    spans = [Span(f"{mark} {key}", role)]
    separator = "  "
    for i in range(keys, len(names)):
        if old is not None and new is not None and old[i] == new[i]:
            continue
        spans.append(Span(f"{separator}{names[i]} "))
        if old is not None:
            spans.append(Span(_text(old[i]), Role.OLD))
        if old is not None and new is not None:
            spans.append(Span(" → "))
        if new is not None:
            spans.append(Span(_text(new[i]), Role.NEW))
        separator = ", "
    return tuple(spans)


def _text(value: object) -> str:
    return "NULL" if value is None else to_text(value)
