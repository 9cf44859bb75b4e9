"""Rows with their history as versions: what each row was, from one commit to the next.

A `RowSlice` holds each row's latest image and the way back from it. Every record of that way stands
for one step into the past, so a row with k records has k + 1 states, here laid out one behind
another, newest first:

    row              0      0      0      1
    state            image  rec 0  rec 1  image
    valid to         -      130    100    -
    valid from       130    100    ?      ?

A column's cell in a state is the last one set before it in this order, which one running maximum
finds for all states of all rows. States between two records of one commit never existed for
anybody and are left out, as are those in which the row was not there.

Changes are the seams of versions: one that begins where none ended is an insert, one that ends
where none begins is a delete, and where one takes over from another there are an
`update_preimage` and an `update_postimage` (the names of Delta Lake's change data feed).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING, SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    Deltas,
    Ordinals,
    Timestamps,
    append_deltas,
    concat_values,
    reorder,
)
from pykudu_sql.storage.tablet.history.row_slice import RowSlice, way_back

CHANGE_TYPES = ("insert", "update_preimage", "update_postimage", "delete")
_INSERT, _PREIMAGE, _POSTIMAGE, _DELETE = range(4)
STILL_VALID = np.uint64(EVERYTHING)


@dataclass(frozen=True, slots=True)
class RowVersions:
    """Versions of rows, by row and from the oldest on.

    Attributes:
        rows: the row of each version, ascending, int64[n].
        valid_from: hybrid time of the commit that made it, 0 where that lies before the history
            that is kept, uint64[n].
        valid_to: hybrid time of the commit that ended it, `STILL_VALID` where none has.
        columns: n cells each, in the requested order.
    """

    rows: Ordinals
    valid_from: Timestamps
    valid_to: Timestamps
    columns: Sequence[pa.Array]

    def __len__(self) -> int:
        return len(self.rows)

    def ended_by(self, drop: Timestamp | None) -> "RowVersions":
        """The versions of a tablet that was dropped: those still valid end then, if it was."""
        if drop is None:
            return self
        valid = self.valid_to == STILL_VALID
        return replace(self, valid_to=np.where(valid, np.uint64(drop), self.valid_to))


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Changes of rows, by row and from the oldest on.

    Attributes:
        kinds: index into `CHANGE_TYPES`, int64[n].
        timestamps: hybrid time of the commit, uint64[n].
        columns: n cells each, in the requested order.
    """

    kinds: Ordinals
    timestamps: Timestamps
    columns: Sequence[pa.Array]

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True, slots=True)
class _States:
    """All states of some rows (see the module's text).

    Attributes:
        undo: the way back, ghosts' deaths included, by row and descending time.
        records: the state that each record leads to, ascending, int64[records].
        rows: of each state, int64[n].
        valid_from, valid_to: see `RowVersions`.
        alive: whether the row was there, bool[n].
    """

    undo: Deltas
    records: Ordinals
    rows: Ordinals
    valid_from: Timestamps
    valid_to: Timestamps
    alive: npt.NDArray[np.bool_]


def versions_of(
    rows: RowSlice,
    column_ids: Sequence[int],
    low: SnapshotBound,
    high: SnapshotBound,
    until: SnapshotBound,
) -> RowVersions:
    """The versions that some snapshot of a range shows.

    Args:
        rows: with their history back to `low` at least, as far as changes below `high` made it.
        column_ids: wanted, in order.
        low, high: a version counts if it began below `high` and did not end below `low`.
        until: commits at or above this bound are not seen.
    """
    states = _states_of(rows)
    mask = states.alive & (states.valid_from < states.valid_to)
    mask &= (states.valid_from < np.uint64(min(high, until))) & (states.valid_to >= np.uint64(low))
    selection = np.flatnonzero(mask)
    selection = selection[np.lexsort((states.valid_from[selection], states.rows[selection]))]
    valid_to = states.valid_to[selection]
    return RowVersions(
        states.rows[selection],
        states.valid_from[selection],
        np.where(valid_to < np.uint64(until), valid_to, STILL_VALID),
        [_cells(rows, states, i, selection) for i in column_ids],
    )


def changes_of(
    rows: RowSlice,
    column_ids: Sequence[int],
    low: SnapshotBound,
    high: SnapshotBound,
    dropped: Timestamp | None = None,
) -> RowChanges:
    """The changes by commits at times low <= t < high; see `versions_of`.

    `dropped`: when their tablet was, which deletes the rows of `high`; None where it was not.
    """
    versions = versions_of(rows, column_ids, low, high, high).ended_by(dropped)
    begins = versions.valid_from >= np.uint64(low)
    ends = versions.valid_to != STILL_VALID
    goes_on = np.zeros(len(versions), np.bool_)
    goes_on[:-1] = versions.rows[1:] == versions.rows[:-1]
    goes_on[:-1] &= versions.valid_from[1:] == versions.valid_to[:-1]
    takes_over = np.zeros(len(versions), np.bool_)
    takes_over[1:] = goes_on[:-1]
    seams = np.flatnonzero(np.column_stack((begins, ends)).ravel())
    kinds = np.column_stack(
        (np.where(takes_over, _POSTIMAGE, _INSERT), np.where(goes_on, _PREIMAGE, _DELETE))
    ).ravel()[seams]
    times = np.column_stack((versions.valid_from, versions.valid_to)).ravel()[seams]
    selection = integers(seams // 2)
    return RowChanges(kinds, times, [column.take(selection) for column in versions.columns])


def _states_of(rows: RowSlice) -> _States:
    """Every state that a slice's rows ever were in."""
    count = len(rows.keys)
    undo = _with_deaths(rows)
    records = np.arange(len(undo), dtype=np.int64) + undo.ordinals + 1
    total = count + len(undo)
    images = np.ones(total, np.bool_)
    images[records] = False
    valid_to = np.full(total, STILL_VALID, np.uint64)
    valid_to[records] = undo.timestamps
    valid_from = np.zeros(total, np.uint64)
    valid_from[:-1] = np.where(images[1:], np.uint64(0), valid_to[1:])
    alive = np.ones(total, np.bool_)
    alive[images] = rows.deleted_at == 0
    alive[records] = undo.kinds == DeltaKind.REINSERT
    decides = images.copy()
    decides[records] = undo.kinds != DeltaKind.UPDATE
    return _States(
        undo, records, np.cumsum(images) - 1, valid_from, valid_to, alive[_last_marked(decides)]
    )


def _with_deaths(rows: RowSlice) -> Deltas:
    """The way back, in which a ghost's image is what it was until it died."""
    ghosts = np.flatnonzero(rows.deleted_at)
    kinds = np.full(len(ghosts), int(DeltaKind.REINSERT), np.uint8)
    deaths = Deltas(ghosts, rows.deleted_at[ghosts], kinds, {})
    undo = append_deltas([deaths, way_back(rows.undo, rows.inserted_at)])
    # Several batches may stand behind the way back, each of other columns and of its own times.
    return reorder(undo, np.lexsort((~undo.timestamps, undo.ordinals)))


def _last_marked(marks: npt.NDArray[np.bool_]) -> Ordinals:
    """For each place the last marked one up to it; the first place is marked."""
    return np.maximum.accumulate(np.where(marks, np.arange(len(marks), dtype=np.int64), 0))


def _cells(rows: RowSlice, states: _States, column_id: int, selection: Ordinals) -> pa.Array:
    """A column's cells in some states."""
    image = plain(rows.columns[column_id])
    changes = states.undo.cells.get(column_id)
    if changes is None:
        return image.take(integers(states.rows[selection]))
    sets = np.zeros(len(states.rows), np.bool_)
    sets[1:] = states.rows[1:] != states.rows[:-1]
    sets[:1] = True
    indices = np.where(sets, states.rows, 0)
    changed = states.records[changes.positions]
    sets[changed] = True
    indices[changed] = len(image) + np.arange(len(changed), dtype=np.int64)
    cells = concat_values([image, changes.values])
    return in_type(cells.take(integers(indices[_last_marked(sets)[selection]])), image.type)
