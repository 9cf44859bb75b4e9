"""Collapsing REDO deltas: what no snapshot at or above the history mark can see goes."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.common.types.from_buffers import flags
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    DeltaCells,
    Deltas,
    Ordinals,
    last_of_each,
    select,
)


def collapse(deltas: Deltas, mark: SnapshotBound) -> Deltas:
    """REDO deltas without those that no snapshot at or above a mark can see.

    A record's cell is superseded when the next record of the row that sets the column is below the
    mark too, or of the same commit; a row deleted below the mark keeps only its DELETE. The last
    record of each row stays, so the newest time of each row does. `deltas`: in REDO order; `mark`:
    snapshots have this bound or a higher one.
    """
    last = last_of_each(deltas.ordinals)
    buried = last & (deltas.kinds == DeltaKind.DELETE) & (deltas.timestamps < np.uint64(mark))
    lengths = np.diff(np.flatnonzero(last), prepend=-1)
    forgotten = np.repeat(buried[last], lengths) & ~last
    decisive = np.flatnonzero((deltas.kinds != DeltaKind.UPDATE) & ~forgotten)
    keep = np.zeros(len(deltas), np.bool_)
    keep[decisive[_distinct(deltas, decisive, mark)]] = True
    cells: dict[int, DeltaCells] = {}
    for column_id, column in deltas.cells.items():
        cell_mask = _distinct(deltas, column.positions, mark) & ~forgotten[column.positions]
        positions = column.positions[cell_mask]
        keep[positions] = True
        if cell_mask.all():
            cells[column_id] = column
        elif len(positions):
            cells[column_id] = DeltaCells(positions, column.values.filter(flags(cell_mask)))
    return select(replace(deltas, cells=cells), keep)


def _distinct(deltas: Deltas, records: Ordinals, mark: SnapshotBound) -> npt.NDArray[np.bool_]:
    """Which of some records a snapshot at or above a mark may see without the next of its row."""
    ordinals, times = deltas.ordinals, deltas.timestamps
    if len(records) < len(ordinals):
        ordinals, times = ordinals[records], times[records]
    followed = ordinals[1:] == ordinals[:-1]
    together = (times[1:] < np.uint64(mark)) | (times[1:] == times[:-1])
    distinct = np.ones(len(records), np.bool_)
    distinct[:-1] = ~(followed & together)
    return distinct
