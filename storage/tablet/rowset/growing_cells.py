"""Cells of a column in memory that grow at their end, as one Arrow array.

Whoever reads a MemRowSet while it grows wants whole arrays, and a copy of all cells for each batch
behind them would cost more than the read. So fixed-width cells without NULLs stand in a buffer with
room for more. An array taken earlier stays what it was: what is added lies behind its cells.
"""

from collections.abc import Sequence

import pyarrow as pa

from pykudu_sql.storage.common.types.value_bytes import has_whole_bytes
from pykudu_sql.storage.tablet.delta.delta_store import concat_values

# A buffer that is full becomes larger by one part in so many.
_GROWTH = 4


class GrowingCells:
    """See the module's text. One thread extends it at a time; readers need no lock.

    `cells`: all so far.
    """

    def __init__(self, parts: Sequence[pa.Array], most: int) -> None:
        """No room is left behind the first cells: there may be no others.

        Args:
            parts: the first cells, at least one array.
            most: cells that there will be.
        """
        self.cells: pa.Array = concat_values(parts)
        self._most = most
        self._buffer: pa.Buffer | None = None

    def extend(self, parts: Sequence[pa.Array]) -> None:
        """Add cells of the same type."""
        kind = self.cells.type
        if not all(part.type == kind and _is_plain(part) for part in (self.cells, *parts)):
            self.cells, self._buffer = concat_values([self.cells, *parts]), None
            return
        rows, width = len(self.cells), kind.bit_width // 8
        stop = rows + sum(map(len, parts))
        if self._buffer is None or self._buffer.size < stop * width:
            room = max(stop, min(stop + stop // _GROWTH, self._most))
            old, self._buffer = self.cells, pa.allocate_buffer(room * width)
            _fill(self._buffer, 0, [old])
        _fill(self._buffer, rows * width, parts)
        self.cells = pa.Array.from_buffers(kind, stop, [None, self._buffer])


def _is_plain(cells: pa.Array) -> bool:
    """Whether cells are bytes of one width, none of them NULL."""
    return has_whole_bytes(cells.type) and not cells.null_count


def _fill(buffer: pa.Buffer, start: int, parts: Sequence[pa.Array]) -> None:
    """Copy plain cells into a buffer from a byte on.

    By memory views, which keep the interpreter's lock: a short read has to wait to get it back.
    """
    into = memoryview(buffer)
    for part in parts:
        stored = _bytes_of(part)
        into[start : start + len(stored)] = stored
        start += len(stored)


def _bytes_of(cells: pa.Array) -> memoryview:
    width = cells.type.bit_width // 8
    first = cells.offset * width
    return memoryview(cells.buffers()[1])[first : first + len(cells) * width]
