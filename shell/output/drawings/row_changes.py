"""What became of rows between two moments, a line a row: `~ id=1  balance 10 → 12`.

And what became of one row from version to version. Pure functions of the commits' changes, in the
order of key and commit, and of versions in the order of their times.
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
    spans = [Span(f"{mark} {_key_text(names, row[:keys])}", role)]
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


def version_lines(
    names: Sequence[str], keys: int, versions: Iterable[tuple[object, object, Row]]
) -> Iterator[Line]:
    """The life of a row: a line for each version, with the cells that it changed, and each delete.

    `versions`: when each began and ended, None for before and after all history, and its cells.
    """
    old, end = None, None
    for begin, next_end, row in versions:
        if old is not None and begin != end:
            yield _delete_line(names, old[:keys], end)
            old = None
        yield (_time(begin), *change_line(names, keys, old, row))
        old, end = row, next_end
    if old is not None and end is not None:
        yield _delete_line(names, old[:keys], end)


def _delete_line(names: Sequence[str], key: Row, moment: object) -> Line:
    return _time(moment), Span(f"- {_key_text(names, key)}", Role.OLD)


def _time(moment: object) -> Span:
    text = "before the history" if moment is None else to_text(moment)
    return Span(f"{text:<26}  ", Role.FRAME)


def _key_text(names: Sequence[str], key: Row) -> str:
    return " ".join(f"{name}={_text(value)}" for name, value in zip(names, key, strict=False))


def _text(value: object) -> str:
    return "NULL" if value is None else to_text(value)
