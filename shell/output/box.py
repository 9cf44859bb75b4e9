"""A result drawn as a box that fits the terminal.

Names, numbers and times are never cut: names and long texts are broken into lines, columns that do
not fit are left out (`layout` says which), and of a long result the first and last rows are drawn.
`draw` returns how many columns are visible, for the footer. Types stand under the names, numbers on
the right. A pure function of its input.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.output.display import ELLIPSIS, elide, escape, pad, width
from pykudu_sql.shell.output.layout import BORDERS, Placement, SizeRequest, fits, place
from pykudu_sql.shell.output.spans import Line, Role, Span
from pykudu_sql.shell.output.values import is_number_type, is_text_type, to_grouped_text, to_text
from pykudu_sql.shell.output.wrapping import longest_piece, wrap_name, wrap_text
from pykudu_sql.storage.common.noun_count import noun_count

Row = Sequence[Any]

# A text is not cut, and a name not broken, below this many columns.
_NARROWEST = 8
_READABLE = 18
# Values without blanks up to this width are names or UUIDs, which are not cut.
_LONGEST_WORD = 36
_TIME = re.compile(r"\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?")
_WIDEST_TYPE = 16
# The most lines of a text in one cell, and in the only column of a result.
_CELL_LINES = 3
_LONE_LINES = 12
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
    def visible_rows(self) -> int:
        """Rows that are drawn."""
        return len(self.head) + len(self.tail)

    @property
    def rows(self) -> list[Row]:
        """All rows that are drawn."""
        return [*self.head, *self.tail]


@dataclass(frozen=True, slots=True)
class ValueStyle:
    """How values are written.

    Attributes:
        null: how NULL is.
        separators: whether numbers have `,` between thousands.
    """

    null: str = "NULL"
    separators: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """Columns and lines of a terminal; None where there is no limit."""

    columns: int | None = None
    lines: int | None = None


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: escaped texts of name, type and cells, which cells are NULL, how they stand."""

    name: str
    type: str
    cells: tuple[str, ...]
    nulls: frozenset[int]
    right: bool
    is_text: bool
    is_constant: bool

    def size_request(self) -> SizeRequest:
        """Its natural width, and the minimum at which it can be read."""
        cells = max(map(width, self.cells), default=0)
        natural = max(width(self.name), width(self.type), cells)
        name = min(max(longest_piece(self.name), _NARROWEST), _READABLE)
        minimum = max(name, min(width(self.type), _WIDEST_TYPE), self._least_values(cells))
        return SizeRequest(natural, min(natural, minimum), self.is_constant)

    def _least_values(self, widest: int) -> int:
        if not self.is_text:
            return widest
        is_word = widest <= _LONGEST_WORD and not any(map(_has_words, self.cells))
        return widest if is_word else min(widest, _READABLE)


def _has_words(cell: str) -> bool:
    """Whether a cell may be broken at a blank; a time is not."""
    return " " in cell and _TIME.fullmatch(cell) is None


def draw(preview: Preview, style: ValueStyle, screen: Screen) -> tuple[Iterator[Line], int]:
    """Lines of the box, and how many columns it shows."""
    columns = _columns(preview, style)
    placement = place([column.size_request() for column in columns], screen.columns)
    visible = [columns[i] for i in placement.visible]
    return _lines(preview, visible, placement, _depth(visible, placement, screen)), len(visible)


def is_too_wide(preview: Preview, style: ValueStyle, screen: Screen) -> bool:
    """Whether a box would leave columns out."""
    return not fits([column.size_request() for column in _columns(preview, style)], screen.columns)


def is_whole_within(preview: Preview, style: ValueStyle, screen: Screen) -> bool:
    """Whether a box with nothing broken or cut is no wider than the screen."""
    natural = sum(column.size_request().natural + BORDERS for column in _columns(preview, style))
    return screen.columns is None or natural < screen.columns


def footer(preview: Preview, visible_columns: int) -> str:
    """How many rows there are, and what of them is drawn: `12,345 rows (40 shown)`."""
    parts = [_count(preview.total, "row", preview.visible_rows)]
    if visible_columns < len(preview.names):
        parts.append(_count(len(preview.names), "column", visible_columns))
    return ", ".join(parts)


def _count(number: int, noun: str, visible: int) -> str:
    text = noun_count(number, noun)
    return text if visible == number else f"{text} ({visible:,} shown)"


def _columns(preview: Preview, style: ValueStyle) -> list[_Column]:
    columns = []
    rows = preview.rows
    text_of = to_grouped_text if style.separators else to_text
    for i, (name, sql_type) in enumerate(zip(preview.names, preview.types, strict=True)):
        values = [style.null if row[i] is None else text_of(row[i]) for row in rows]
        nulls = frozenset(number for number, row in enumerate(rows) if row[i] is None)
        if len(preview.names) == preview.total == 1:  # A statement, a plan: text to be read.
            values = values[0].splitlines() or [""]
        columns.append(
            _Column(
                escape(name),
                escape(sql_type),
                tuple(map(escape, values)),
                nulls,
                is_number_type(sql_type),
                is_text_type(sql_type),
                preview.visible_rows == preview.total > 1 and len(set(values)) == 1,
            )
        )
    return columns


def _depth(columns: Sequence[_Column], placement: Placement, screen: Screen) -> int:
    """In how many lines a text may be broken so that the box still fits the screen, at least one.

    A result of one column, such as a plan, is text to be read: it is shown whole.
    """
    if screen.columns is None:
        return 1
    if len(columns) == 1:
        return _LONE_LINES
    for depth in range(_CELL_LINES, 1, -1):
        lines = sum(
            max(
                len(_cell(column, cell, w, depth))
                for column, cell, w in zip(columns, row, placement.widths, strict=True)
            )
            for row in zip(*(column.cells for column in columns), strict=True)
        )
        if screen.lines is None or lines <= screen.lines:
            return depth
    return 1


def _cell(column: _Column, cell: str, columns: int, depth: int) -> list[str]:
    return wrap_text(cell, columns, depth) if column.is_text else [elide(cell, columns)]


def _lines(
    preview: Preview, columns: Sequence[_Column], placement: Placement, depth: int
) -> Iterator[Line]:
    widths, gaps = placement.widths, placement.gaps
    ruled = [
        w
        for i, column_width in enumerate(widths)
        for w in ([1, column_width] if i in gaps else [column_width])
    ]
    ruled += [1] if len(widths) in gaps else []
    yield _rule("┌", "┬", "┐", ruled)
    names = [wrap_name(column.name, w) for column, w in zip(columns, widths, strict=True)]
    types = [[elide(column.type, w)] for column, w in zip(columns, widths, strict=True)]
    yield from _row(columns, widths, gaps, _at_bottom(names), Role.NAME)
    yield from _row(columns, widths, gaps, types, Role.FRAME)
    yield _rule("├", "┼", "┤", ruled)
    split = len(preview.head) if preview.visible_rows < preview.total else -1
    number = 0
    for number, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if number == split:
            yield _dots(ruled)
        cells = [
            _cell(column, text, w, depth)
            for column, text, w in zip(columns, row, widths, strict=True)
        ]
        nulls = [number in column.nulls for column in columns]
        yield from _row(columns, widths, gaps, cells, Role.PLAIN, nulls)
    if split >= 0 and not preview.tail:
        yield _dots(ruled)
    yield _rule("└", "┴", "┘", ruled)


def _at_bottom(cells: list[list[str]]) -> list[list[str]]:
    deepest = max(map(len, cells))
    return [[""] * (deepest - len(lines)) + lines for lines in cells]


def _row(
    columns: Sequence[_Column],
    widths: Sequence[int],
    gaps: Collection[int],
    cells: Sequence[Sequence[str]],
    role: Role,
    nulls: Sequence[bool] = (),
) -> Iterator[Line]:
    """The lines of one row; parts of one role are one span."""
    for texts in zip_longest(*cells, fillvalue=""):
        spans = [Span("│", Role.FRAME)]
        for i, (column, w, text) in enumerate(zip(columns, widths, texts, strict=True)):
            if i in gaps:
                spans.append(Span(f" {ELLIPSIS} │", Role.FRAME))
            cell_role = Role.NULL if nulls and nulls[i] else role
            spans.append(Span(f" {pad(text, w, right=column.right)} ", cell_role))
            spans.append(Span("│", Role.FRAME))
        if len(columns) in gaps:
            spans.append(Span(f" {ELLIPSIS} │", Role.FRAME))
        yield tuple(spans)


def _dots(widths: Sequence[int]) -> Line:
    return (Span("│ " + " │ ".join(_DOT.center(w) for w in widths) + " │", Role.FRAME),)


def _rule(left: str, middle: str, right: str, widths: Sequence[int]) -> Line:
    return (Span(left + middle.join("─" * (w + 2) for w in widths) + right, Role.FRAME),)
