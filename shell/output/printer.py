"""Results printed in the format of the session.

A table makes Python values only of the rows it shows: the rest stays in Arrow. The other formats
pass batches through, so their results may be larger than memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.output.box import (
    Preview,
    Row,
    Screen,
    ValueStyle,
    draw,
    footer,
    is_too_wide,
    is_whole_within,
)
from pykudu_sql.shell.output.export import (
    COLUMN_FORMATS,
    COUNTED_FORMATS,
    HEADED_FORMATS,
    NULL_TEXTS,
    ROW_EXPORTS,
    SPREADSHEET_FORMATS,
    Batches,
)
from pykudu_sql.shell.output.pager import PagerClosed
from pykudu_sql.shell.output.spans import Line, text_of
from pykudu_sql.shell.output.sql_literals import inserts
from pykudu_sql.shell.output.terminal import Output
from pykudu_sql.shell.output.values import unique_names
from pykudu_sql.shell.output.vertical import draw_vertical
from pykudu_sql.shell.settings import Settings
from pykudu_sql.storage.common.noun_count import noun_count

if TYPE_CHECKING:
    import pyarrow as pa

    from pykudu_sql import Cursor
    from pykudu_sql.shell.output.columnar.texts import Column, ColumnBatches

_BATCH_ROWS = 10_000
# Rows that are written from Python values: Arrow imports pandas to make columns of such rows.
_FEW_ROWS = 1000
_RETAINED_BYTES = 64 << 20
# Types that Arrow has no type for: their texts are made of Python values.
_PYTHON_ALONE = frozenset({"BIGNUM", "INTERVAL", "UHUGEINT"})
# Lines that the next prompt takes at least: its own and those of the menu below it.
PROMPT_LINES = 6
# Lines of a screen that a result leaves to its statement, its summary and the next prompt.
_AROUND = 2 + PROMPT_LINES
_FRAME = 6  # lines of a box around its rows, and the dots
_FEWEST_ROWS, _MOST_ROWS = 4, 40


@dataclass(frozen=True, slots=True)
class LastResult:
    """A result that was printed, retained to be printed again in full."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: "Sequence[Row] | pa.Table"

    def preview(self) -> Preview:
        """All of its rows."""
        rows = self.rows if isinstance(self.rows, Sequence) else _rows(self.rows)
        return Preview(self.names, self.types, rows, (), len(rows))


@dataclass(frozen=True, slots=True)
class PrintedResult:
    """What was printed of a result.

    Attributes:
        summary: such as `3 rows`.
        is_whole: whether every row and column was shown.
        retained: the result; None if it was larger than what is retained, or no table was printed.
    """

    summary: str
    is_whole: bool = True
    retained: LastResult | None = None


def print_result(
    cursor: "Cursor", output: Output, settings: Settings, cancel_check: Callable[[], None]
) -> PrintedResult:
    """Print all rows of a cursor.

    Args:
        cursor: an executed query.
        settings: format, limits and the text of NULL.
        cancel_check: called between batches; raises to stop.
    """
    if settings.format == "table":
        return _print_table(cursor, output, settings, cancel_check)
    return PrintedResult(_export(cursor, output, settings, cancel_check))


def reprint(retained: LastResult, output: Output, settings: Settings) -> str:
    """Print a result again with all its rows and columns, and return its summary."""
    preview, style, screen = retained.preview(), _value_style(settings), _screen(output, settings)
    if not output.is_paged and is_too_wide(preview, style, screen):
        lines = draw_vertical(preview, style, screen)
    else:
        lines, _ = draw(preview, style, Screen(None if output.is_paged else screen.columns))
    with suppress(PagerClosed):
        if not is_whole_within(preview, style, screen):
            output.scroll_sideways()
        for line in lines:
            output.write_line(line)
    return footer(preview, len(preview.names))


def print_plan(document: str, output: Output) -> PrintedResult | None:
    """Draw the plan that a document of EXPLAIN (FORMAT JSON) describes; None if it has no tree."""
    import json

    from pykudu_sql.shell.output.drawings.plan_tree import draw_plan

    plan = json.loads(document)
    if "operators" not in plan:
        return None
    for line in draw_plan(plan, output.width()):
        output.write_line(line)
    whole = [(text_of(line),) for line in draw_plan(plan, None)]
    return PrintedResult("Plan", True, LastResult(("plan",), ("STRING",), whole))


def _print_table(
    cursor: "Cursor", output: Output, settings: Settings, cancel_check: Callable[[], None]
) -> PrintedResult:
    names, types = _columns(cursor)
    screen = _screen(output, settings)
    limit = _row_limit(settings, output.height())
    if not limit or 0 <= cursor.rowcount <= limit:
        rows = cursor.fetchall()
        preview = Preview(names, types, rows, (), len(rows))
        retained: LastResult | None = LastResult(names, types, rows)
    else:
        preview, table = _preview(cursor.fetch_record_batch(), names, types, limit, cancel_check)
        retained = None if table is None else LastResult(names, types, table)
    if not output.is_terminal:
        retained = None  # nobody looks at it, so nobody asks for it again
    style = _value_style(settings)
    if output.is_paged and retained is not None:
        return PrintedResult(reprint(retained, output, settings), True, retained)
    lines = _vertical_lines(preview, style, screen)
    visible_columns = len(names)
    if lines is None:
        lines, visible_columns = draw(preview, style, screen)
    for line in lines:
        output.write_line(line)
    is_whole = visible_columns == len(names) and preview.visible_rows == preview.total
    return PrintedResult(footer(preview, visible_columns), is_whole, retained)


def _vertical_lines(preview: Preview, style: ValueStyle, screen: Screen) -> Iterable[Line] | None:
    """A line for each value, where columns would be left out and all values fit the screen."""
    least = preview.visible_rows * (len(preview.names) + 1)
    if (
        screen.lines is None
        or preview.visible_rows < preview.total
        or not 0 < least <= screen.lines
    ):
        return None
    if not is_too_wide(preview, style, screen):
        return None
    lines = list(draw_vertical(preview, style, screen))
    return lines if len(lines) <= screen.lines else None


def _value_style(settings: Settings) -> ValueStyle:
    return ValueStyle("NULL" if settings.null is None else settings.null, settings.separators)


def _screen(output: Output, settings: Settings) -> Screen:
    height = output.height()
    return Screen(
        settings.max_width or output.width(), None if height is None else height - _AROUND
    )


def _row_limit(settings: Settings, height: int | None) -> int:
    """Rows of a table that are shown; 0 for all."""
    if height is None:
        return 0
    if settings.max_rows is not None:
        return settings.max_rows
    return max(_FEWEST_ROWS, min(_MOST_ROWS, height - _AROUND - _FRAME))


def _preview(
    batches: "pa.RecordBatchReader",
    names: tuple[str, ...],
    types: tuple[str, ...],
    limit: int,
    cancel_check: Callable[[], None],
) -> "tuple[Preview, pa.Table | None]":
    """The first and the last rows, and all of them if they are not too large to be retained."""
    import pyarrow as pa

    tail, total = limit // 2, 0
    first = last = batches.schema.empty_table()
    batches_so_far: list[pa.RecordBatch] = []
    retained_bytes = 0
    for batch in batches:
        cancel_check()
        total += batch.num_rows
        retained_bytes += batch.nbytes
        if retained_bytes <= _RETAINED_BYTES:
            batches_so_far.append(batch)
        else:
            batches_so_far.clear()
        rows = pa.Table.from_batches([batch])
        if first.num_rows < limit:
            first = pa.concat_tables([first, rows.slice(0, limit - first.num_rows)])
        behind = pa.concat_tables([last, rows])
        last = behind.slice(max(0, behind.num_rows - tail))
    fits = retained_bytes <= _RETAINED_BYTES
    retained = pa.Table.from_batches(batches_so_far, batches.schema) if fits else None
    if total <= limit:
        return Preview(names, types, _rows(first), (), total), retained
    head = _rows(first.slice(0, limit - tail))
    return Preview(names, types, head, _rows(last) if tail else (), total), retained


def _rows(table: "pa.Table") -> list[Sequence[Any]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _export(
    cursor: "Cursor", output: Output, settings: Settings, cancel_check: Callable[[], None]
) -> str:
    """Print a result in another format than a table; its summary, unless the format has it."""
    names, types = _columns(cursor)
    rows = 0

    def row_batches() -> Iterator[Sequence[Sequence[Any]]]:
        nonlocal rows
        while batch := cursor.fetchmany(_BATCH_ROWS):
            cancel_check()
            rows += len(batch)
            yield batch

    def column_batches() -> "Iterator[Sequence[Column]]":
        nonlocal rows
        for batch in cursor.fetch_record_batch(_BATCH_ROWS):
            cancel_check()
            rows += batch.num_rows
            yield batch.columns

    if settings.format not in COLUMN_FORMATS:
        chunks = _row_chunks(names, row_batches(), settings)
    elif 0 <= cursor.rowcount <= _FEW_ROWS or any(name in _PYTHON_ALONE for name in types):
        chunks = _column_chunks(names, map(_transpose, row_batches()), settings)
    else:
        chunks = _column_chunks(names, column_batches(), settings)
    for chunk in chunks:
        output.write(chunk)
    return "" if settings.format in COUNTED_FORMATS else noun_count(rows, "row")


def format_last(retained: LastResult, settings: Settings) -> str:
    """All rows of a retained result, in the format of the settings."""
    preview = retained.preview()
    if settings.format == "table":
        lines, _ = draw(preview, _value_style(settings), Screen())
        return "".join(f"{text_of(line)}\n" for line in lines)
    if settings.format in COLUMN_FORMATS:
        columns = _transpose(preview.rows)
        return "".join(_column_chunks(retained.names, iter([columns] if columns else []), settings))
    return "".join(_row_chunks(retained.names, iter([preview.rows]), settings))


def _transpose(rows: Sequence[Row]) -> list[Sequence[Any]]:
    return list(zip(*rows, strict=True))


def _column_chunks(
    names: Sequence[str], batches: "ColumnBatches", settings: Settings
) -> Iterator[str]:
    """Columns in a format of `COLUMN_FORMATS`, in pieces of text."""
    from pykudu_sql.shell.output.columnar.exports import COLUMN_EXPORTS

    if settings.guard_formulas and settings.format in SPREADSHEET_FORMATS:
        from pykudu_sql.shell.output.columnar.formula_guard import guard_batches, guard_names

        names, batches = guard_names(names), guard_batches(batches)
    chunks = COLUMN_EXPORTS[settings.format](names, batches, _null_text(settings))
    if not settings.headers and settings.format in HEADED_FORMATS:
        return islice(chunks, 1, None)
    return chunks


def _row_chunks(names: Sequence[str], batches: Batches, settings: Settings) -> Iterator[str]:
    """Rows in `insert` or a format of `ROW_EXPORTS`, in pieces of text."""
    if settings.format == "insert":
        columns = ['"' + name.replace('"', '""') + '"' for name in unique_names(names)]
        return inserts(settings.insert_table, columns, batches)
    return ROW_EXPORTS[settings.format](names, batches, _null_text(settings))


def _null_text(settings: Settings) -> str:
    if settings.null is None:
        return NULL_TEXTS.get(settings.format, "NULL")
    return settings.null


def _columns(cursor: "Cursor") -> tuple[tuple[str, ...], tuple[str, ...]]:
    description = cursor.description or ()
    return tuple(c[0] for c in description), tuple(str(c[1]) for c in description)
