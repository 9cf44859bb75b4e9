"""Batches of changes in memory, and which of them changed a row: point reads of a DeltaMemStore.

Kudu's DeltaMemStore is a tree keyed by row and time, one entry a change. Here a batch stays as it
came, as columns, and only an entry of 16 bytes a change is put in order: the row, and where its
cells stand. Entries are sorted runs that are merged like those of an LSM tree, so a change is moved
as often as the logarithm of their number says, and its cells never.

Batches that set the same columns in the same way have an index of their own. In it, the last change
of a row below a bound says all that the earlier ones do, however many there are.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.row_history import NewestCells

# An entry is the number of its batch, and in the low bits the place in that batch.
_PLACE_BITS: Final = 32
_PLACE_MASK: Final = (1 << _PLACE_BITS) - 1


@dataclass(frozen=True, slots=True)
class _Run:
    """Entries sorted by ordinal and then by time.

    `ordinals`: int64[n]; `entries`: int64[n].
    """

    ordinals: Ordinals
    entries: npt.NDArray[np.int64]


class BatchIndex:
    """Batches that are alike in kind and columns, in the order of their times.

    One thread adds at a time; others may read meanwhile.

    Attributes:
        kind: of all changes.
        column_ids: that all of them set.
    """

    __slots__ = ("_batches", "_runs", "_times", "column_ids", "kind")

    def __init__(self, kind: DeltaKind, column_ids: frozenset[int]) -> None:
        """No batches."""
        self.kind = kind
        self.column_ids = column_ids
        self._times: list[Timestamp] = []
        self._batches: list[tuple[int, Mapping[int, pa.Array]]] = []
        self._runs: tuple[_Run, ...] = ()

    def add(
        self,
        ordinals: Ordinals,
        columns: Mapping[int, pa.Array],
        timestamp: Timestamp,
        order: int,
    ) -> None:
        """Add a batch.

        Args:
            ordinals: ascending, int64[n].
            columns: the cells set, by column id, n each.
            timestamp: hybrid time, not below that of an earlier batch.
            order: see `RowChange`.
        """
        first = len(self._batches) << _PLACE_BITS
        # A reader meets an entry only after its batch.
        self._batches.append((order, columns))
        self._times.append(timestamp)
        run = _Run(ordinals, np.arange(first, first + len(ordinals), dtype=np.int64))
        self._runs = _with_run(self._runs, run)

    def gather(
        self, ordinal: int, bound: SnapshotBound, types: Mapping[int, DataType], newest: NewestCells
    ) -> None:
        """Add the combined effect of one row's changes below a bound."""
        entry = self._last_entry(ordinal, bound)
        if entry < 0:
            return
        number, place = entry >> _PLACE_BITS, entry & _PLACE_MASK
        order, columns = self._batches[number]
        cells = {
            i: array_to_cells(values.slice(place, 1), types[i])[0] for i, values in columns.items()
        }
        newest.add_cells(order, cells)
        if self.kind is not DeltaKind.UPDATE:
            newest.add_decision(order, self.kind)
        newest.timestamp = max(newest.timestamp, self._times[number])

    def _last_entry(self, ordinal: int, bound: SnapshotBound) -> int:
        """The entry of a row's last change below a bound, or -1."""
        runs = self._runs
        if not runs:
            return -1
        limit = _PLACE_MASK << _PLACE_BITS
        if self._times[-1] >= bound:
            limit = bisect_left(self._times, bound) << _PLACE_BITS
        for run in reversed(runs):
            # Python's bisection keeps the interpreter's lock; see `EncodedKeys`.
            ordinals, entries = run.ordinals.data, run.entries.data
            stop = bisect_right(ordinals, ordinal)
            if not stop or ordinals[stop - 1] != ordinal:
                continue
            if entries[stop - 1] < limit:
                return entries[stop - 1]
            first = bisect_left(ordinals, ordinal, 0, stop)
            below = bisect_left(entries, limit, first, stop)
            if below > first:
                return entries[below - 1]
        return -1


def _with_run(runs: tuple[_Run, ...], run: _Run) -> tuple[_Run, ...]:
    """The runs with a newer one, merged with earlier ones that are not much larger."""
    earlier = list(runs)
    while earlier and len(earlier[-1].ordinals) <= 2 * len(run.ordinals):
        before = earlier.pop()
        ordinals = np.concatenate((before.ordinals, run.ordinals))
        # Stable: of one row, the entries of the earlier run stay before those of the later one.
        order = ordinals.argsort(kind="stable")
        entries = np.concatenate((before.entries, run.entries))
        run = _Run(ordinals[order], entries[order])
    return (*earlier, run)
