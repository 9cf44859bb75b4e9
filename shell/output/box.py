"""A result drawn as a box that fits the terminal.

Columns too wide are cut in the middle, columns too many are left out in the middle, and a result
too long shows its first and last rows; `draw` says how much of each is shown, so the footer can.
Types stand under the names, numbers on the right. A pure function of its input.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pykudu_sql.shell.output.display import ELLIPSIS, elide, escape, pad, width
from pykudu_sql.shell.output.values import is_number_type, to_text

Row = Sequence[Any]

# A column is not cut below this many characters; whole columns are left out instead.
_NARROWEST = 8
_BORDERS = 3  # "│ " before a cell and " " after it
_GAP = _BORDERS + 1  # the column in place of those left out
_DOT = "·"


@dataclass(frozen=True, slots=True)
class Preview:
    """The part of a result that is drawn.

    Attributes:
        names: column names.
        types: their SQL types, such as `BIGINT`.
        head: the first rows.
        tail: the last rows, when rows between are left out.
        total: rows of the whole result.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    head: Sequence[Row]
    tail: Sequence[Row]
    total: int

    @property
    def shown(self) -> int:
        """Rows that are drawn."""
        return len(self.head) + len(self.tail)


@dataclass(frozen=True, slots=True)
class _Column:
    """One column ready to draw: texts of name, type and cells, and where they line up."""

    cells: tuple[str, ...]
    right: bool
    columns: int

    def lines(self) -> tuple[str, ...]:
        return tuple(
            pad(elide(cell, self.columns), self.columns, right=self.right) for cell in self.cells
        )


def draw(preview: Preview, null: str, max_width: int | None) -> tuple[Iterator[str], int]:
    """Lines of the box, and how many columns it shows.

    Args:
        preview: what to draw.
        null: how NULL is written.
        max_width: columns of the terminal, or None for no limit.
    """
    columns = _columns(preview, null)
    kept = _keep(columns, max_width)
    capped = _cap([columns[i] for i in kept], max_width, gap=len(kept) < len(columns))
    return _lines(preview, capped, _gap_position(kept)), len(kept)


def footer(preview: Preview, shown_columns: int) -> str:
    """How many rows there are, and what of them is drawn: `12,345 rows (40 shown)`."""
    parts = [_count(preview.total, "row", preview.shown)]
    if shown_columns < len(preview.names):
        parts.append(_count(len(preview.names), "column", shown_columns))
    return ", ".join(parts)


def _count(number: int, noun: str, shown: int) -> str:
    text = f"{number:,} {noun}{'' if number == 1 else 's'}"
    return text if shown == number else f"{text} ({shown:,} shown)"


def _columns(preview: Preview, null: str) -> list[_Column]:
    columns = []
    rows = [*preview.head, *preview.tail]
    for i, (name, sql_type) in enumerate(zip(preview.names, preview.types, strict=True)):
        values = [null if row[i] is None else to_text(row[i]) for row in rows]
        if len(preview.names) == preview.total == 1:  # A statement, a plan: text to be read.
            values = values[0].splitlines() or [""]
        texts = (escape(name), escape(sql_type), *map(escape, values))
        columns.append(_Column(texts, is_number_type(sql_type), max(map(width, texts))))
    return columns


def _keep(columns: Sequence[_Column], max_width: int | None) -> list[int]:
    """Positions of the columns that fit when each is cut as far as may be: some from both ends."""
    everything = list(range(len(columns)))
    needed = [min(column.columns, _NARROWEST) + _BORDERS for column in columns]
    if max_width is None or sum(needed) < max_width:
        return everything
    room = max_width - 1 - _GAP
    left, right = 0, len(columns)
    while left < right:
        # The left end is filled first: key columns stand there.
        from_left = left <= len(columns) - right
        position = left if from_left else right - 1
        room -= needed[position]
        if room < 0:
            break
        left, right = (left + 1, right) if from_left else (left, right - 1)
    return everything[:left] + everything[right:] or everything[:1]


def _cap(columns: list[_Column], max_width: int | None, *, gap: bool) -> list[_Column]:
    """The same columns, the widest cut to one common width so that all fit."""
    if max_width is None or not columns:
        return columns
    room = max_width - 1 - _BORDERS * len(columns) - (_GAP if gap else 0)
    cap = min(max(column.columns for column in columns), max(room, 1))
    while cap > 1 and sum(min(column.columns, cap) for column in columns) > room:
        cap -= 1
    return [_Column(c.cells, c.right, min(c.columns, cap)) for c in columns]


def _gap_position(kept: Sequence[int]) -> int | None:
    """Before which kept column others are left out; None when none are between."""
    return next((i for i, position in enumerate(kept) if i != position), None)


def _lines(preview: Preview, columns: Sequence[_Column], gap: int | None) -> Iterator[str]:
    widths = [column.columns for column in columns]
    texts = [column.lines() for column in columns]
    if gap is not None:
        widths.insert(gap, 1)
        texts.insert(gap, (ELLIPSIS,) * (2 + preview.shown))
    yield _rule("┌", "┬", "┐", widths)
    rows = list(zip(*texts, strict=True))
    yield from map(_row, rows[:2])
    yield _rule("├", "┼", "┤", widths)
    split = 2 + len(preview.head)
    yield from map(_row, rows[2:split])
    if preview.shown < preview.total:
        yield _row([_DOT.center(w) for w in widths])
    yield from map(_row, rows[split:])
    yield _rule("└", "┴", "┘", widths)


def _row(cells: Sequence[str]) -> str:
    return "│ " + " │ ".join(cells) + " │"


def _rule(left: str, middle: str, right: str, widths: Sequence[int]) -> str:
    return left + middle.join("─" * (w + 2) for w in widths) + right
