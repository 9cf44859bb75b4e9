"""A DiskRowSet as a merging compaction reads it: key range by key range, rows with their history.

Kudu's `CompactionInput` (`tablet/compaction.cc`) walks rows; here a slice of a rowset is a handful
of columns (see `row_slice`). The deltas of a rowset are read whole, once, but for those of large
texts; base data only as far as a slice needs them, each column when it is needed, so that a merge
has one column in memory and not all of them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.key_index import INTERVAL
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.value_bytes import value_bytes
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patch
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    ColumnPatch,
    Deltas,
    Ordinals,
    Timestamps,
    between,
    merge_redo,
    merge_undo,
    of_rows,
    select,
    winners,
    within,
    without_columns,
)
from pykudu_sql.storage.tablet.delta.delta_tracker import visible_redo
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.history.row_slice import ColumnGather, RowSlice, choose_rows
from pykudu_sql.storage.tablet.history.undo_builder import undo_of_updates
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

# Of so many rows one is wanted: then it is less to take cells than to read all and choose.
_APART = 8


class ReadColumn(Protocol):
    """Reads base cells: `CFileSet.column`, or `column_once` for who does not come back."""

    def __call__(self, column: ColumnSchema, start: int, stop: int, /) -> pa.Array: ...


class CompactionInput:
    """One rowset at the moment a compaction begins.

    `rowset`: the rowset; `bound`: deltas at or above it are not part of the input.
    """

    def __init__(
        self,
        rowset: DiskRowSet,
        read_column: ReadColumn,
        columns: Sequence[ColumnSchema],
        encoder: KeyEncoder,
        bound: SnapshotBound,
        mark: SnapshotBound,
    ) -> None:
        """Fix what is read.

        Args:
            read_column: of its base data.
            columns: wanted; missing ones have their read default.
            encoder: of the table's key.
            bound: no commit below it is on its way any more.
            mark: the ancient history mark.
        """
        self.rowset = rowset
        self.bound = bound
        self._read_column = read_column
        self._columns = columns
        self._encoder = encoder
        self._mark = mark
        # Taken once: a delta flush meanwhile moves what a store in memory holds to a file.
        self._tracker = rowset.tracker
        self._memory = [visible_redo(store.deltas(), bound) for store in self._tracker.stores]
        self._redo: Deltas | None = None
        self._undo: Deltas | None = None
        self._patches: dict[int, ColumnPatch | None] = {}
        self._is_wide = False

    def load(self) -> None:
        """Read the deltas.

        Raises CorruptionError: a file is not what was written; DiskError: the disk refused.
        """
        self._is_wide = any(file.has_wide for file in self._tracker.files)
        if self._is_wide:
            return
        self._redo, self._undo = self._read_redo(0, self.rows), self._read_undo(0, self.rows)
        self._patches = {i: winners(self._redo, i) for i in self._redo.cells}

    def _read_redo(self, start: int, stop: int) -> Deltas:
        column_ids = {column.id for column in self._columns}
        in_files = [file.rows_between(start, stop, column_ids) for file in self._tracker.redo]
        in_memory = [between(deltas, start, stop) for deltas in self._memory]
        redo = merge_redo([*in_files, *in_memory])
        return without_columns(redo, set(redo.cells) - column_ids)

    def _read_undo(self, start: int, stop: int) -> Deltas:
        column_ids = {column.id for column in self._columns}
        files = self._tracker.undo
        undo = merge_undo([file.rows_between(start, stop, column_ids) for file in files])
        recent = select(undo, undo.timestamps >= np.uint64(self._mark))
        return without_columns(recent, set(recent.cells) - column_ids)

    def _redo_between(self, start: int, stop: int) -> Deltas:
        """The REDO deltas of some rows, by ordinals counted from start."""
        if self._redo is None:
            return self._read_redo(start, stop)
        return between(self._redo, start, stop)

    def _undo_between(self, start: int, stop: int) -> Deltas:
        if self._undo is None:
            return self._read_undo(start, stop)
        return between(self._undo, start, stop)

    @property
    def rows(self) -> int:
        """Of the rowset, ghosts included."""
        return self.rowset.meta.rows

    @property
    def stored_bytes(self) -> int:
        """That the rowset takes on disk."""
        return self.rowset.meta.total_size

    @property
    def decoded_bytes(self) -> int:
        """That the rows and their changes take in memory."""
        return sum(map(self.column_bytes, self._columns))

    @property
    def change_bytes(self) -> int:
        """That the changes alone take of them."""
        return sum(map(self._change_bytes, self._columns))

    def column_bytes(self, column: ColumnSchema) -> int:
        """That a column and its changes take in memory."""
        return self.rowset.base.decoded_bytes(column) + self._change_bytes(column)

    def _change_bytes(self, column: ColumnSchema) -> int:
        in_files = sum(file.cell_bytes(column.id) for file in self._tracker.files)
        changed = (deltas.cells.get(column.id) for deltas in self._memory)
        return in_files + sum(value_bytes(cells.values) for cells in changed if cells is not None)

    def sample(self, rows: int) -> list[bytes]:
        if rows >= INTERVAL:
            return self.rowset.base.key_index.sample(rows)
        places = np.arange(0, self.rows, rows, dtype=np.int64)
        return self.keys(0, self.rows).take(places).to_pylist()

    def changed(self, low: SnapshotBound, high: SnapshotBound) -> npt.NDArray[np.bool_]:
        """Rows that a commit at a time low <= t < high touched, bool[rows]."""
        inserted_at = self.rowset.meta.inserted_at
        mask = np.full(self.rows, inserted_at is not None and low <= inserted_at < high)
        column_ids = {column.id for column in self._columns}
        in_files = (
            _touching(file, column_ids)
            for file in self._tracker.files
            if file.meta.stats.min_timestamp < high and file.meta.stats.max_timestamp >= low
        )
        in_memory = (without_columns(d, set(d.cells) - column_ids) for d in self._memory)
        for deltas in (*in_files, *in_memory):
            mask[deltas.ordinals[within(deltas.timestamps, low, high)]] = True
        return mask

    def lower_bound(self, key: bytes) -> int:
        meta, base = self.rowset.meta, self.rowset.base
        if key <= meta.min_key:
            return 0
        if key > meta.max_key:
            return meta.rows
        start, stop = base.key_index.find_range(key)
        return start + self.keys(start, stop).lower_bound(key)

    def keys(self, start: int, stop: int) -> EncodedKeys:
        """The keys of the rows start <= ordinal < stop."""
        return self._encoder.encode(self._base(self._encoder.columns, start, stop))

    def _base(
        self, columns: Sequence[ColumnSchema], start: int, stop: int
    ) -> Mapping[int, pa.Array]:
        return {column.id: self._read_column(column, start, stop) for column in columns}

    def read(self, start: int, stop: int) -> RowSlice:
        """The rows start <= ordinal < stop; `load` was called."""
        redo = self._redo_between(start, stop)
        changed = self._base([c for c in self._columns if c.id in redo.cells], start, stop)
        undo = merge_undo(
            [undo_of_updates(redo, changed, self._mark), self._undo_between(start, stop)]
        )
        keys = self._base(self._encoder.columns, start, stop)
        return RowSlice(
            self._encoder.encode(keys),
            ColumnGather([_Image(self, keys, start, stop)], None),
            undo,
            _deaths(redo, stop - start),
            np.full(stop - start, self._inserted_at, np.uint64),
        )

    def read_rows(self, ordinals: Ordinals) -> RowSlice:
        """Some rows, by ascending ordinals, at least one; `load` was called.

        Where they lie far apart, no cells of others come into memory but those of their blocks.
        """
        start, stop = int(ordinals[0]), int(ordinals[-1]) + 1
        if self._is_wide or stop - start <= len(ordinals) * _APART:
            return choose_rows(self.read(start, stop), ordinals - start)
        places = ordinals - start
        redo = of_rows(self._redo_between(start, stop), places)
        changed = self._base_of([c for c in self._columns if c.id in redo.cells], ordinals)
        back = of_rows(self._undo_between(start, stop), places)
        undo = merge_undo([undo_of_updates(redo, changed, self._mark), back])
        keys = self._base_of(self._encoder.columns, ordinals)
        others = {c.id: c for c in self._columns if c.id not in keys}
        return RowSlice(
            self._encoder.encode(keys),
            ColumnGather([_ScatteredRows(self.rowset.base, keys, others, ordinals, redo)], None),
            undo,
            _deaths(redo, len(ordinals)),
            np.full(len(ordinals), self._inserted_at, np.uint64),
        )

    def _base_of(
        self, columns: Sequence[ColumnSchema], ordinals: Ordinals
    ) -> Mapping[int, pa.Array]:
        """Base cells of some rows."""
        return {column.id: self.rowset.base.take_once(column, ordinals) for column in columns}

    def latest(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        """The latest cells of a column in the rows start <= ordinal < stop; `load` was called."""
        cells = self._read_column(column, start, stop)
        if self._is_wide:
            redo = merge_redo(
                [
                    *(file.rows_between(start, stop, {column.id}) for file in self._tracker.redo),
                    *(between(deltas, start, stop) for deltas in self._memory),
                ]
            )
            return apply_patch(cells, 0, winners(redo, column.id), column.type)
        return apply_patch(cells, start, self._patches.get(column.id), column.type)

    @property
    def columns(self) -> Sequence[ColumnSchema]:
        """Those that are read."""
        return self._columns

    @property
    def _inserted_at(self) -> int:
        """The one commit that inserted all rows; 0 without one, or where nobody looks so far."""
        inserted_at = self.rowset.meta.inserted_at or 0
        return inserted_at if inserted_at >= self._mark else 0


class _Image(Mapping[int, pa.Array]):
    """A `ColumnPiece` of the latest cells of some rows: the key's columns, and the others, each of
    which is read when it is needed and not kept."""

    def __init__(
        self, source: CompactionInput, keys: Mapping[int, pa.Array], start: int, stop: int
    ) -> None:
        self.rows = stop - start
        self._source = source
        self._keys = keys
        self._others = {c.id: c for c in source.columns if c.id not in keys}
        self._range = (start, stop)

    def __getitem__(self, column_id: int) -> pa.Array:
        key_column = self._keys.get(column_id)
        if key_column is not None:
            return key_column
        return self._source.latest(self._others[column_id], *self._range)

    def __iter__(self) -> Iterator[int]:
        yield from self._keys
        yield from self._others

    def __len__(self) -> int:
        return len(self._keys) + len(self._others)

    def slice(self, start: int, stop: int) -> "_Image":
        keys = {i: array.slice(start, stop - start) for i, array in self._keys.items()}
        first = self._range[0]
        return _Image(self._source, keys, first + start, first + stop)


class _ScatteredRows(Mapping[int, pa.Array]):
    """A `ColumnPiece` of the latest cells of rows that lie far apart; see `_Image`."""

    def __init__(
        self,
        base: CFileSet,
        keys: Mapping[int, pa.Array],
        others: Mapping[int, ColumnSchema],
        ordinals: Ordinals,
        redo: Deltas,
    ) -> None:
        """Nothing but the keys is read yet.

        Args:
            base: of the rowset.
            keys: the key's columns.
            others: the columns wanted besides.
            ordinals: of the rows.
            redo: their REDO deltas, by place among the rows.
        """
        self.rows = len(ordinals)
        self._base = base
        self._keys = keys
        self._others = others
        self._ordinals = ordinals
        self._redo = redo

    def __getitem__(self, column_id: int) -> pa.Array:
        key_column = self._keys.get(column_id)
        if key_column is not None:
            return key_column
        column = self._others[column_id]
        cells = self._base.take_once(column, self._ordinals)
        return apply_patch(cells, 0, winners(self._redo, column_id), column.type)

    def __iter__(self) -> Iterator[int]:
        yield from self._keys
        yield from self._others

    def __len__(self) -> int:
        return len(self._keys) + len(self._others)

    def slice(self, start: int, stop: int) -> "_ScatteredRows":
        return _ScatteredRows(
            self._base,
            {i: array.slice(start, stop - start) for i, array in self._keys.items()},
            self._others,
            self._ordinals[start:stop],
            between(self._redo, start, stop),
        )


def _touching(file: DeltaFile, column_ids: Collection[int]) -> Deltas:
    """The records of a file that concern some columns, without their cells."""
    records = file.deltas(())
    keep = records.kinds != DeltaKind.UPDATE
    for column_id in file.meta.stats.updates:
        if column_id in column_ids:
            keep[file.positions(column_id)] = True
    return select(records, keep)


def _deaths(redo: Deltas, rows: int) -> Timestamps:
    deleted_at = np.zeros(rows, np.uint64)
    deletions = redo.kinds == DeltaKind.DELETE
    deleted_at[redo.ordinals[deletions]] = redo.timestamps[deletions]
    return deleted_at
