"""From rows with REDO deltas to the latest image with UNDO deltas.

What Kudu does row by row when it flushes a MemRowSet (`tablet/compaction.cc`, pictures in
`docs/design-docs/tablet.md`), here on whole columns. For a row inserted at 1, updated at 2,
deleted at 3 and inserted again at 4:

    base image   what the row is after 4
    UNDO         @4 DELETE, @3 REINSERT (the image before), @2 UPDATE (the cells before), @1 DELETE
    REDO         none; a row whose last change is a DELETE keeps that one as REDO

Every row gets an UNDO DELETE at its insertion, so that a snapshot before it does not see the row.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patch
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    DeltaCells,
    Deltas,
    Ordinals,
    Timestamps,
    concat_values,
    last_of_each,
    reorder,
    reverse_time,
    select,
    winners,
)


@dataclass(frozen=True, slots=True)
class ImageWithUndo:
    """Rows as a DiskRowSet keeps them.

    Attributes:
        columns: the latest image, by column id.
        undo: the way back, in UNDO order.
        redo: the trailing DELETEs, in REDO order.
    """

    columns: Mapping[int, pa.Array]
    undo: Deltas
    redo: Deltas


def build_history(
    columns: Mapping[int, pa.Array],
    key_ids: tuple[int, ...],
    inserted: Timestamps,
    deltas: Deltas,
    types: Mapping[int, DataType],
) -> ImageWithUndo:
    """Turn REDO deltas into an image and UNDO deltas.

    Args:
        columns: the rows as inserted, by column id, n cells each.
        key_ids: the key's columns, which no delta changes.
        inserted: hybrid time of each row's insertion, uint64[n].
        deltas: all changes since, in REDO order.
    """
    rows = len(inserted)
    last = last_of_each(deltas.ordinals)
    trailing = last & (deltas.kinds == DeltaKind.DELETE)
    undone = select(deltas, ~trailing)
    image = {
        i: apply_patch(values, 0, winners(deltas, i), types[i]) for i, values in columns.items()
    }
    redo = select(deltas, trailing)
    insertions = Deltas(
        np.arange(rows, dtype=np.int64),
        inserted,
        np.full(rows, int(DeltaKind.DELETE), np.uint8),
        {},
    )
    values = {i: v for i, v in columns.items() if i not in key_ids}
    undo = _interleave(insertions, _invert(undone, values))
    return ImageWithUndo(image, reverse_time(undo), redo)


def _invert(undone: Deltas, columns: Mapping[int, pa.Array]) -> Deltas:
    """Each change's inverse, still in REDO order."""
    kinds = undone.kinds
    inverse = kinds.copy()
    inverse[kinds == DeltaKind.REINSERT] = DeltaKind.DELETE
    inverse[kinds == DeltaKind.DELETE] = DeltaKind.REINSERT
    deleted = np.flatnonzero(kinds == DeltaKind.DELETE)
    cells: dict[int, DeltaCells] = {}
    for column_id, original in columns.items():
        changes = undone.cells.get(column_id)
        updates = np.empty(0, np.int64)
        if changes is not None:
            updates = changes.positions[kinds[changes.positions] == DeltaKind.UPDATE]
        record_positions = np.union1d(updates, deleted)
        if len(record_positions):
            before = _values_before(record_positions, undone, changes, original)
            cells[column_id] = DeltaCells(record_positions, before)
    return Deltas(undone.ordinals, undone.timestamps, inverse, cells)


def undo_of_updates(deltas: Deltas, columns: Mapping[int, pa.Array], mark: SnapshotBound) -> Deltas:
    """The way back over the UPDATEs of some columns, in UNDO order.

    Args:
        deltas: all changes since the base image, in REDO order.
        columns: the base image of the columns, by column id.
        mark: nobody goes back to a snapshot below this bound.
    """
    recent = deltas.timestamps >= np.uint64(mark)
    record_mask = np.zeros(len(deltas), np.bool_)
    cells: dict[int, DeltaCells] = {}
    for column_id, original in columns.items():
        changes = deltas.cells.get(column_id)
        if changes is not None:
            record_positions = changes.positions[recent[changes.positions]]
            if len(record_positions):
                record_mask[record_positions] = True
                before = _values_before(record_positions, deltas, changes, original)
                cells[column_id] = DeltaCells(record_positions, before)
    inverse = Deltas(deltas.ordinals, deltas.timestamps, deltas.kinds, cells)
    return reverse_time(select(inverse, record_mask))


def _values_before(
    record_positions: Ordinals, deltas: Deltas, changes: DeltaCells | None, original: pa.Array
) -> pa.Array:
    """A column's cells just before some records: the change before, else the original cell."""
    rows = deltas.ordinals[record_positions]
    if changes is not None:
        earlier = np.searchsorted(changes.positions, record_positions, side="left") - 1
        same_row = earlier >= 0
        same_row[same_row] = deltas.ordinals[changes.positions[earlier[same_row]]] == rows[same_row]
        if same_row.any():
            index = np.where(same_row, len(original) + earlier, rows)
            return concat_values([original, changes.values]).take(integers(index))
    return concat_values([original.take(integers(rows))])


def _interleave(first: Deltas, second: Deltas) -> Deltas:
    """Two batches sorted by ordinal as one; within an ordinal those of `first` come first."""
    offset = len(first)
    joined = Deltas(
        np.concatenate([first.ordinals, second.ordinals]),
        np.concatenate([first.timestamps, second.timestamps]),
        np.concatenate([first.kinds, second.kinds]),
        {i: DeltaCells(offset + c.positions, c.values) for i, c in second.cells.items()},
    )
    return reorder(joined, np.argsort(joined.ordinals, kind="stable"))


def remap(deltas: Deltas, new_ordinals: npt.NDArray[np.int64]) -> Deltas:
    """Deltas with every ordinal o renamed to place[o], sorted again.

    `deltas`: in REDO order; `new_ordinals`: new ordinals by old, distinct.
    """
    renamed = replace(deltas, ordinals=new_ordinals[deltas.ordinals])
    return reorder(renamed, np.argsort(renamed.ordinals, kind="stable"))
