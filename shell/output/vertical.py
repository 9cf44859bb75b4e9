"""A result with a line for each value: how few rows of many columns can be read.

Nothing is left out: values longer than the line go on below themselves. A pure function.
"""

from collections.abc import Iterator

from pykudu_sql.shell.output.box import Preview, Screen, ValueStyle
from pykudu_sql.shell.output.display import escape, pad, width
from pykudu_sql.shell.output.spans import Line, Role, Span
from pykudu_sql.shell.output.values import to_grouped_text, to_text
from pykudu_sql.shell.output.wrapping import wrap_text

_LEAST = 20  # columns for values, however long the names are


def draw_vertical(preview: Preview, style: ValueStyle, screen: Screen) -> Iterator[Line]:
    """Lines of all rows, a heading before each."""
    names = [escape(name) for name in preview.names]
    column = max([*map(width, names), len(_heading(preview.total)) - 1])
    room = None if screen.columns is None else max(_LEAST, screen.columns - column - 3)
    text_of = to_grouped_text if style.separators else to_text
    first_of_tail = preview.total - len(preview.tail)
    for i, row in enumerate(preview.rows):
        number = i if i < len(preview.head) else first_of_tail + i - len(preview.head)
        heading = _heading(number + 1)
        yield (Span(heading + "─" * max(0, column + 1 - len(heading)) + "┬─", Role.FRAME),)
        for name, value in zip(names, row, strict=True):
            text = escape(style.null if value is None else text_of(value))
            lines = [text] if room is None else wrap_text(text, room, len(text) + 1)
            role = Role.NULL if value is None else Role.PLAIN
            for position, line in enumerate(lines):
                label = name if position == 0 else ""
                yield (
                    Span(pad(label, column), Role.NAME),
                    Span(" │ ", Role.FRAME),
                    Span(line, role),
                )


def _heading(number: int) -> str:
    return f"─[ {number:,} ]"
