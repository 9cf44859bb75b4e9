"""Splicing the histories of one key, which may lie in many rowsets, into one row with one history.

A key that was deleted on disk and inserted again has a ghost where it lived before (Kudu's
`tablet/compaction.cc`, "MergeCompactionInput", and KUDU-237). A life lasts from an insertion to the
DELETE behind it; no two lives of a key overlap in time. The instance with the newest life becomes
the row of the output; the way back from it leads through each older life in turn:

    base image    the newest life
    UNDO          its own, down to DELETE at its insertion
                  REINSERT of the older life's image, at the time when that one died
                  its own UNDO, and so on

One instance may have several lives, and those of two instances may alternate: a compaction of some
rowsets joins the first and the third life of a key whose second one lies in a rowset that was not
chosen. So lives are sorted by time, not instances. A REINSERT holds all cells, whatever lies before
it.

Everything below the ancient history mark is left out, and a row that died before it altogether.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    DeltaCells,
    Deltas,
    Ordinals,
    Timestamps,
    append_deltas,
    no_deltas,
    reorder,
    select,
)
from pykudu_sql.storage.tablet.history.row_slice import RowSlice, gather, with_insertions

_ALIVE = np.uint64((1 << 64) - 1)


@dataclass(frozen=True, slots=True)
class SplicedRows:
    """Rows of distinct keys with their history, and where the input's rows went.

    Attributes:
        rows: the rows.
        ordinals: for each input slice, the ordinal of each of its rows in `rows`; -1 for a row that
            no snapshot can see any more.
    """

    rows: RowSlice
    ordinals: Sequence[Ordinals]


def splice(slices: Sequence[RowSlice], key_ids: Sequence[int], mark: SnapshotBound) -> SplicedRows:
    """The rows of some slices of one key range as one.

    `slices`: at least one; keys are distinct within each; `mark`: the ancient history mark.
    """
    keys, order, first = _by_key(slices)
    if first.all() and not any(len(s.undo) or s.deleted_at.any() for s in slices):
        return _untouched(slices, keys, order)
    if not first.all():
        slices = [with_insertions(s) for s in slices]
        order = _newest_first(order, first, slices)
    died = np.concatenate([s.deleted_at for s in slices])[order]
    forgotten = first & (died != 0) & (died < np.uint64(mark))
    group = np.cumsum(first) - 1
    survivors = ~forgotten[np.flatnonzero(first)]
    new_ordinals = np.where(survivors, np.cumsum(survivors) - 1, -1)[group]
    leaders = np.flatnonzero(first & (new_ordinals >= 0))
    undo = _undo(slices, key_ids, order, first, died, mark)
    newest = order[leaders]
    untouched = len(slices) == 1 and _is_identity(newest, len(keys))
    rows = RowSlice(
        keys if untouched else keys.take(leaders),
        gather([s.columns for s in slices], None if untouched else newest),
        _rename(undo, new_ordinals),
        died[leaders],
        np.concatenate([s.inserted_at for s in slices])[newest],
    )
    return SplicedRows(rows, _by_slice(slices, order, new_ordinals))


def _by_key(slices: Sequence[RowSlice]) -> tuple[EncodedKeys, Ordinals, npt.NDArray[np.bool_]]:
    """All keys ascending, where in the slices they are, and which of them differ from the last."""
    if len(slices) == 1:
        keys = slices[0].keys
        return keys, np.arange(len(keys), dtype=np.int64), np.ones(len(keys), np.bool_)
    keys = EncodedKeys.concat([s.keys for s in slices])
    order = keys.argsort()
    ordered = keys.take(order)
    return ordered, order, ordered.begins()


def _untouched(slices: Sequence[RowSlice], keys: EncodedKeys, order: Ordinals) -> SplicedRows:
    """Rows of distinct keys that nothing has happened to since they were inserted.

    Args:
        slices: whose rows they are.
        keys: of all rows, ascending.
        order: where each of these lies in the slices, one behind another.
    """
    alone = len(slices) == 1
    rows = RowSlice(
        keys,
        gather([s.columns for s in slices], None if alone else order),
        no_deltas(),
        np.zeros(len(keys), np.uint64),
        slices[0].inserted_at if alone else np.concatenate([s.inserted_at for s in slices])[order],
    )
    new_ordinals = np.arange(len(order), dtype=np.int64)
    return SplicedRows(rows, _by_slice(slices, order, new_ordinals))


def _by_slice(
    slices: Sequence[RowSlice], order: Ordinals, new_ordinals: Ordinals
) -> Sequence[Ordinals]:
    """New ordinals of rows that are given in `order`, by slice and in its order."""
    by_input = np.empty(len(order), np.int64)
    by_input[order] = new_ordinals
    return np.split(by_input, np.cumsum([len(s.keys) for s in slices])[:-1])


def _newest_first(
    order: Ordinals, first: npt.NDArray[np.bool_], slices: Sequence[RowSlice]
) -> Ordinals:
    """An order by key, of one key the newest first."""
    died = np.concatenate([s.deleted_at for s in slices])[order]
    latest = ~np.where(died == 0, _ALIVE, died)
    # A commit that deletes a key, inserts it anew and deletes that too ends two lives at once.
    youngest = ~_insertion_times(slices)[order]
    newest: Ordinals = order[np.lexsort((youngest, latest, np.cumsum(first)))]
    return newest


def _insertion_times(slices: Sequence[RowSlice]) -> Timestamps:
    """When each row's newest life began, by the UNDO records; 0 where that was before the mark."""
    times = [np.zeros(len(s.keys), np.uint64) for s in slices]
    for inserted, s in zip(times, slices, strict=True):
        # Backwards, for the newest of a row comes first and is to stand at last.
        insertions = np.flatnonzero(s.undo.kinds == DeltaKind.DELETE)[::-1]
        inserted[s.undo.ordinals[insertions]] = s.undo.timestamps[insertions]
    return np.concatenate(times)


def _is_identity(order: Ordinals, count: int) -> bool:
    return len(order) == count and bool((order[:-1] < order[1:]).all())


def _undo(
    slices: Sequence[RowSlice],
    key_ids: Sequence[int],
    order: Ordinals,
    first: npt.NDArray[np.bool_],
    died: Timestamps,
    mark: SnapshotBound,
) -> Deltas:
    """The way back for all rows, by their place in `order`."""
    older = np.flatnonzero(~first & (died >= np.uint64(mark)))
    if not len(older) and not any(len(s.undo) for s in slices):
        return no_deltas()
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order), dtype=np.int64)
    parts = [_reinsertions(slices, key_ids, order[older], older, died[older])] if len(older) else []
    start = 0
    for s in slices:
        parts.append(
            Deltas(position[start + s.undo.ordinals], s.undo.timestamps, s.undo.kinds, s.undo.cells)
        )
        start += len(s.keys)
    joined = append_deltas(parts)
    joined = reorder(joined, np.argsort(joined.ordinals, kind="stable"))
    if len(older) and any((s.undo.kinds == DeltaKind.REINSERT).any() for s in slices):
        return _sort_lives(joined, np.cumsum(first, dtype=np.int64)[joined.ordinals], died)
    return joined


def _sort_lives(undo: Deltas, keys: Ordinals, died: Timestamps) -> Deltas:
    """The way back with the lives of each key from the newest to the oldest.

    Args:
        undo: by places of instances, of each instance from its newest life to its oldest.
        keys: of each record, the number of its key.
        died: when each instance died, by place; 0 for one alive.
    """
    is_reinsert = undo.kinds == DeltaKind.REINSERT
    begins = is_reinsert.copy()
    begins[:1] = True
    begins[1:] |= undo.ordinals[1:] != undo.ordinals[:-1]
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(begins)) - 1
    last = died[undo.ordinals[starts]]
    death = np.where(is_reinsert[starts], undo.timestamps[starts], np.where(last, last, _ALIVE))
    is_insertion = undo.kinds[ends] == DeltaKind.DELETE
    birth = np.where(is_insertion, undo.timestamps[ends], np.uint64(0))
    # A commit may end several lives at once; the one that began last is the newest of them.
    rank = np.empty(len(starts), np.int64)
    rank[np.lexsort((~birth, ~death, keys[starts]))] = np.arange(len(starts))
    return reorder(undo, np.argsort(rank[np.cumsum(begins) - 1], kind="stable"))


def _reinsertions(
    slices: Sequence[RowSlice],
    key_ids: Sequence[int],
    rows: Ordinals,
    positions: Ordinals,
    died: Timestamps,
) -> Deltas:
    """What brings the images of older instances back."""
    everything = np.arange(len(rows), dtype=np.int64)
    image = gather([s.columns for s in slices], rows)
    cells = {i: DeltaCells(everything, plain(image[i])) for i in image if i not in key_ids}
    return Deltas(positions, died, np.full(len(rows), int(DeltaKind.REINSERT), np.uint8), cells)


def _rename(undo: Deltas, new_ordinals: Ordinals) -> Deltas:
    """Deltas with every ordinal o renamed to place[o], which ascends; those of -1 are left out."""
    ordinals = new_ordinals[undo.ordinals]
    renamed = Deltas(ordinals, undo.timestamps, undo.kinds, undo.cells)
    return select(renamed, ordinals >= 0)
