"""How many rows go into so many bytes: asked wherever rows are taken a batch at a time.

Batches are sized by bytes, never by rows alone: 64k rows of numbers are 500 KB, of texts of 60 kB
they are 4 GB. Whoever takes rows says what a row takes, as known from footers or observed, and how
many rows are worth a call; the allowance of bytes comes from the accountant (`memory_budget`).
"""

from collections.abc import Iterable

from pykudu_sql.storage.common.types.types import Cell

LEAST_WIDE_BYTES = 1024
"""Of a cell in the mean, from where on cells are read as they are needed and not kept."""


def text_bytes(cells: Iterable[Cell]) -> int:
    """About what the texts of some cells take beyond small ones."""
    size = 0
    for cell in cells:
        if type(cell) is str or type(cell) is bytes:
            size += len(cell)
    return size


def rows_within(size: int, row_bytes: float, most: int) -> int:
    """Rows of a width that take at most some bytes: at least one, and at most `most`."""
    if row_bytes * most <= size:
        return most
    return max(1, int(size / row_bytes))
