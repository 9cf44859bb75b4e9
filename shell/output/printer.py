"""Results printed in the format of the session.

A table makes Python values only of the rows it shows: the rest stays in Arrow. The other formats
pass batches through, so their results may be larger than memory.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pykudu_sql.shell.output.box import Preview, draw, footer
from pykudu_sql.shell.output.export import EXPORTS, NULL_TEXTS, SPREADSHEET_FORMATS, Batches
from pykudu_sql.shell.output.formula_guard import guard_batches, guard_names
from pykudu_sql.shell.output.terminal import Output
from pykudu_sql.shell.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from pykudu_sql import Cursor

_BATCH_ROWS = 10_000


def print_result(
    cursor: "Cursor", output: Output, settings: Settings, checkpoint: Callable[[], None]
) -> str:
    """Print all rows of a cursor and return a summary such as `3 rows`.

    Args:
        cursor: an executed query.
        settings: format, limits and the text of NULL.
        checkpoint: called between batches; raises to stop.
    """
    if settings.format == "table":
        return _print_table(cursor, output, settings, checkpoint)
    return _export(cursor, output, settings, checkpoint)


def _print_table(
    cursor: "Cursor", output: Output, settings: Settings, checkpoint: Callable[[], None]
) -> str:
    names, types = _columns(cursor)
    limit = settings.max_rows if output.is_terminal else 0
    if not limit or 0 <= cursor.rowcount <= limit:
        rows = cursor.fetchall()
        preview = Preview(names, types, rows, (), len(rows))
    else:
        preview = _preview(cursor.fetch_record_batch(), names, types, limit, checkpoint)
    null = "NULL" if settings.null is None else settings.null
    lines, shown_columns = draw(preview, null, settings.max_width or output.width())
    for line in lines:
        output.write(line + "\n")
    return footer(preview, shown_columns)


def _preview(
    batches: "pa.RecordBatchReader",
    names: tuple[str, ...],
    types: tuple[str, ...],
    limit: int,
    checkpoint: Callable[[], None],
) -> Preview:
    """The first and the last rows; no others are held."""
    import pyarrow as pa

    tail, total = limit // 2, 0
    first = last = batches.schema.empty_table()
    for batch in batches:
        checkpoint()
        total += batch.num_rows
        rows = pa.Table.from_batches([batch])
        if first.num_rows < limit:
            first = pa.concat_tables([first, rows.slice(0, limit - first.num_rows)])
        behind = pa.concat_tables([last, rows])
        last = behind.slice(max(0, behind.num_rows - tail))
    if total <= limit:
        return Preview(names, types, _rows(first), (), total)
    return Preview(names, types, _rows(first.slice(0, limit - tail)), _rows(last), total)


def _rows(table: "pa.Table") -> list[Sequence[Any]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _export(
    cursor: "Cursor", output: Output, settings: Settings, checkpoint: Callable[[], None]
) -> str:
    names, _ = _columns(cursor)
    rows = 0

    def batches() -> Iterator[Sequence[Sequence[Any]]]:
        nonlocal rows
        while batch := cursor.fetchmany(_BATCH_ROWS):
            checkpoint()
            rows += len(batch)
            yield batch

    null = settings.null
    if null is None:
        null = NULL_TEXTS.get(settings.format, "NULL")
    shown_names: Sequence[str] = names
    shown: Batches = batches()
    if settings.guard_formulas and settings.format in SPREADSHEET_FORMATS:
        shown_names, shown = guard_names(names), guard_batches(shown)
    for chunk in EXPORTS[settings.format](shown_names, shown, null):
        output.write(chunk)
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _columns(cursor: "Cursor") -> tuple[tuple[str, ...], tuple[str, ...]]:
    description = cursor.description or ()
    return tuple(c[0] for c in description), tuple(str(c[1]) for c in description)
