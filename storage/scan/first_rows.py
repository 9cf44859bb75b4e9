"""The first rows of blocks."""

from collections.abc import Iterator

from pykudu_sql.storage.tablet.rowset.rowset import RowBlock


def first_rows(blocks: Iterator[RowBlock], limit: int | None) -> Iterator[RowBlock]:
    """Blocks until they hold as many rows as a limit, the last one cut; all without a limit.

    No more blocks are asked for than have these rows.
    """
    if limit is None:
        yield from blocks
        return
    remaining = limit
    while remaining and (block := next(blocks, None)) is not None:
        rows = min(block.length, remaining)
        yield RowBlock([values.slice(0, rows) for values in block.columns], rows)
        remaining -= rows
