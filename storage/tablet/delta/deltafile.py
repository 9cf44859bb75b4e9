"""Delta files: REDO or UNDO deltas of one rowset on disk, immutable.

One container of CFiles (Kudu's `tablet/deltafile.cc` has one binary CFile): `ordinal`, `timestamp`
and `kind` with one value a record, and for each changed column `<id>.position` and `<id>.value`.
Statistics stand in the tablet's metadata, so a file that a snapshot does not need is never opened.

A file that is written before its commit has no `timestamp`: all its deltas are of that commit, and
its statistics are given the time when it is published (`committed`).

Cells of a column are read and kept together, but for large texts (`is_wide`): those of some rows
are read when these are.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.container import ContainerReader, ContainerWriter, FileIdentity
from pykudu_sql.storage.cfile.encoding.dictionary import words_size
from pykudu_sql.storage.cfile.encoding.frame import BIT_SHUFFLE
from pykudu_sql.storage.cfile.encoding.rle import RLE
from pykudu_sql.storage.common.row_allowance import LEAST_WIDE_BYTES
from pykudu_sql.storage.common.types.arrays import fixed_view, plain
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import UNCOMMITTED, SnapshotBound
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Compression, DataType, Kind
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    DeltaCells,
    Deltas,
    Ordinals,
    between,
    no_deltas,
    stats,
)
from pykudu_sql.storage.tablet.delta.row_change import (
    RowChange,
    earlier,
    later,
    outcome_of,
    records_of,
)

BLOCK_SIZE = 256 * 1024
REDO = "redo"
UNDO = "undo"
_RECORDS = "records"
_POSITIONS = "positions"
# So many of the largest cells are never much, whatever the file has of them.
_FEW_CELLS = 64
_INT64 = DataType(Kind.INT64)
_INT8 = DataType(Kind.INT8)


def write_delta_file(
    env: Env, path: str, identity: FileIdentity, deltas: Deltas, types: Mapping[int, DataType]
) -> DeltaFileMeta:
    """Write and fsync a delta file.

    Args:
        path: a new file.
        identity: kind "redo" or "undo", and the file's number.
        deltas: sorted for that kind, not empty; all committed, or none.

    Raises DiskError: the disk refused.
    """
    writer = ContainerWriter(env, path, identity, f"{identity.file_kind}.write")
    lz4 = Compression.LZ4
    numbered = {"ordinal": deltas.ordinals.view(np.int64)}
    if deltas.timestamps[0] != UNCOMMITTED:
        numbered["timestamp"] = deltas.timestamps.view(np.int64)
    for name, values in numbered.items():
        numbers = integers(values)
        writer.add_cfile(name, encode_column(_INT64, BIT_SHUFFLE.name, lz4, BLOCK_SIZE, numbers))
    kinds = integers(deltas.kinds.view(np.int8))
    writer.add_cfile("kind", encode_column(_INT8, RLE.name, lz4, BLOCK_SIZE, kinds))
    for column_id, cells in deltas.cells.items():
        positions = integers(cells.positions)
        writer.add_cfile(
            f"{column_id}.position",
            encode_column(_INT64, BIT_SHUFFLE.name, lz4, BLOCK_SIZE, positions),
        )
        kind = types[column_id]
        values = in_type(cells.values, kind.arrow)
        encoded = encode_column(kind, AUTO_ENCODING, lz4, BLOCK_SIZE, values)
        if encoded.dictionary is not None:
            # They are read as the values themselves: to count codes would say little of them.
            encoded = replace(encoded, raw_size=words_size(plain(values)))
        writer.add_cfile(f"{column_id}.value", encoded)
    size = writer.finish({"columns": sorted(deltas.cells)})
    return DeltaFileMeta(identity.file_number, identity.file_kind, stats(deltas), size)


class DeltaFile:
    """A delta file, opened when some of it is needed; what was read stays in the block cache.

    Ordinals, times and kinds are read first, and each column's cells when they are wanted.
    """

    def __init__(
        self,
        env: Env,
        path: str,
        identity: FileIdentity,
        meta: DeltaFileMeta,
        rows: int,
        cache: BlockCache,
    ) -> None:
        """Describe the file; nothing is read yet.

        Args:
            identity: what its checksums cover besides the bytes.
            meta: as in the manifest.
            rows: of the rowset, which no ordinal reaches.
            cache: keeps what was read.
        """
        self.meta = meta
        self._rows = rows
        self.path = path
        self._cache_name = path
        self._env = env
        self._identity = identity
        self._cache = cache
        self._cell_bytes: Mapping[int, int] | None = None

    def move_to(self, path: str) -> None:
        """Read it from another place from here on, to which it was renamed.

        What was read of it before its commit stays apart from what is read after that.
        """
        self.path = path

    def is_needed(self, bound: SnapshotBound) -> bool:
        """Whether a snapshot needs any of its deltas: UNDO from its bound on, REDO below it."""
        if self.meta.kind == UNDO:
            return self.meta.stats.max_timestamp >= bound
        return self.meta.stats.min_timestamp < bound

    def is_whole(self, bound: SnapshotBound) -> bool:
        """Whether a snapshot needs all of its deltas."""
        if self.meta.kind == UNDO:
            return self.meta.stats.min_timestamp >= bound
        return self.meta.stats.max_timestamp < bound

    def needed(self, bound: SnapshotBound) -> npt.NDArray[np.bool_]:
        """The records that a snapshot needs, bool[n]."""
        timestamps = self._records().timestamps
        if self.meta.kind == UNDO:
            return timestamps >= np.uint64(bound)
        return timestamps < np.uint64(bound)

    def outcome_of(
        self,
        ordinal: int,
        bound: SnapshotBound,
        column_ids: Collection[int],
        types: Mapping[int, DataType],
    ) -> RowChange | None:
        """The combined effect of one row's deltas that a snapshot needs; None without any.

        `ordinal`: of the row; `column_ids`: whose cells are wanted.
        """
        changed = [i for i in column_ids if i in self.meta.stats.updates]
        if not changed and not self.meta.stats.decisions:
            return None
        records = self._records()
        first, stop = records_of(records, ordinal)
        if first == stop:
            return None
        if not self.is_whole(bound):
            end_of = later if self.meta.kind == UNDO else earlier
            stop = end_of(records.timestamps, first, stop, bound)
        if any(self.is_wide(column_id) for column_id in changed):
            own = self.rows_between(ordinal, ordinal + 1, changed)
            return outcome_of(own, 0, stop - first, changed, types)
        return outcome_of(self.deltas(changed), first, stop, changed, types)

    def cell_bytes(self, column_id: int) -> int:
        """Bytes of all its cells of a column in memory, 0 where those are no texts.

        Raises CorruptionError: the footer is not what was written.
        """
        if column_id not in self.meta.stats.updates:
            return 0
        if self._cell_bytes is None:
            reader = ContainerReader.open(self._env, self.path, self._identity, self._cache)
            try:
                entries = {i: reader.entry(f"{i}.value") for i in self.meta.stats.updates}
            finally:
                reader.close()
            self._cell_bytes = {
                i: entry.raw_size
                for i, entry in entries.items()
                if entry and entry.type.is_variable
            }
        return self._cell_bytes.get(column_id, 0)

    def is_wide(self, column_id: int) -> bool:
        """Whether the cells of a column are read when their rows are, and not kept.

        Raises CorruptionError: the footer is not what was written.
        """
        count = self.meta.stats.updates.get(column_id, 0)
        return count > _FEW_CELLS and self.cell_bytes(column_id) >= LEAST_WIDE_BYTES * count

    @property
    def has_wide(self) -> bool:
        """Whether the cells of any column are."""
        return any(map(self.is_wide, self.meta.stats.updates))

    def rows_between(self, start: int, stop: int, column_ids: Collection[int]) -> Deltas:
        """The records of the rows start <= ordinal < stop, by ordinals counted from start.

        `column_ids`: whose cells are wanted. Raises CorruptionError: the bytes are not what was
        written.
        """
        first, last = np.searchsorted(self._records().ordinals, (start, stop)).tolist()
        if first == last:
            return no_deltas()
        wide = [i for i in self.meta.stats.updates if i in column_ids and self.is_wide(i)]
        part = between(self.deltas([i for i in column_ids if i not in wide]), start, stop)
        cells = dict(part.cells)
        for column_id in wide:
            positions = self.positions(column_id)
            low, high = np.searchsorted(positions, (first, last)).tolist()
            if low < high:
                values = self.cells_at(column_id, np.arange(low, high, dtype=np.int64))
                cells[column_id] = DeltaCells(positions[low:high] - first, values)
        return replace(part, cells=cells)

    def positions(self, column_id: int) -> Ordinals:
        """The records that set a column, ascending, int64[m].

        Raises CorruptionError: the bytes are not what was written.
        """
        key = (self._cache_name, column_id, _POSITIONS)
        cached = self._cache.get(key)
        if isinstance(cached, np.ndarray):
            return cached
        reader = ContainerReader.open(self._env, self.path, self._identity, self._cache)
        try:
            positions = self._read_positions(reader, column_id, self.meta.stats.records)
        finally:
            reader.close()
        self._cache.put(key, positions, positions.nbytes)
        return positions

    def cells_at(self, column_id: int, places: Ordinals) -> pa.Array:
        """Some of the cells of a column; `places`: of them among all of it, ascending, int64[n].

        Raises CorruptionError: the bytes are not what was written.
        """
        reader = ContainerReader.open(self._env, self.path, self._identity, self._cache)
        try:
            return plain(reader.cfile(f"{column_id}.value").take_once(places))
        finally:
            reader.close()

    def deltas(self, column_ids: Collection[int] | None = None) -> Deltas:
        """All records, with the cells of some columns.

        `column_ids`: those wanted; None for all. Raises CorruptionError: the bytes are not what was
        written.
        """
        update_columns = [
            i for i in self.meta.stats.updates if column_ids is None or i in column_ids
        ]
        records = self._cache.get((self._cache_name, _RECORDS))
        cells = {i: self._cache.get((self._cache_name, i)) for i in update_columns}
        if not isinstance(records, Deltas) or None in cells.values():
            reader = ContainerReader.open(self._env, self.path, self._identity, self._cache)
            try:
                records = self._read_records(reader)
                cells = {i: self._read_cells(reader, i, len(records)) for i in update_columns}
            finally:
                reader.close()
        read = {i: c for i, c in cells.items() if isinstance(c, DeltaCells)}
        return Deltas(records.ordinals, records.timestamps, records.kinds, read)

    def _records(self) -> Deltas:
        """All records, without cells."""
        cached = self._cache.get((self._cache_name, _RECORDS))
        return cached if isinstance(cached, Deltas) else self.deltas(())

    def _read_records(self, reader: ContainerReader) -> Deltas:
        """Ordinals, times and kinds."""
        cached = self._cache.peek((self._cache_name, _RECORDS))
        if isinstance(cached, Deltas):
            return cached
        ordinals = _numbers(reader, "ordinal", _INT64)
        kinds = _numbers(reader, "kind", _INT8).view(np.uint8)
        count, times = self.meta.stats.records, self.meta.stats
        if reader.entry("timestamp") is not None:
            timestamps = _numbers(reader, "timestamp", _INT64).view(np.uint64)
        elif times.min_timestamp == times.max_timestamp:
            timestamps = np.full(len(ordinals), times.min_timestamp, np.uint64)
        else:
            raise CorruptionError(f"{self.path}: the times of its records are missing")
        if not len(ordinals) == len(timestamps) == len(kinds) == count:
            raise CorruptionError(f"{self.path}: its columns are not of {count} records each")
        if not count or ordinals[0] < 0 or not (ordinals[1:] >= ordinals[:-1]).all():
            raise CorruptionError(f"{self.path}: its records are not sorted by ordinal")
        if ordinals[-1] >= self._rows:
            raise CorruptionError(
                f"{self.path}: a record is for row {int(ordinals[-1])} of {self._rows}"
            )
        if int(kinds.max()) > max(DeltaKind):
            raise CorruptionError(f"{self.path}: a record is of kind {int(kinds.max())}")
        records = Deltas(ordinals, timestamps, kinds, {})
        self._cache.put((self._cache_name, _RECORDS), records, 17 * count)
        return records

    def _read_cells(self, reader: ContainerReader, column_id: int, records: int) -> DeltaCells:
        cached = self._cache.peek((self._cache_name, column_id))
        if isinstance(cached, DeltaCells):
            return cached
        positions = self._read_positions(reader, column_id, records)
        values = plain(reader.cfile(f"{column_id}.value").read_all())
        cells = DeltaCells(positions, values)
        self._cache.put((self._cache_name, column_id), cells, 8 * len(positions) + values.nbytes)
        return cells

    def _read_positions(self, reader: ContainerReader, column_id: int, records: int) -> Ordinals:
        positions = _numbers(reader, f"{column_id}.position", _INT64)
        values = reader.cfile(f"{column_id}.value").row_count
        ascending = bool((np.diff(positions) > 0).all()) and len(positions) == values
        if not ascending or (len(positions) and not 0 <= positions[0] <= positions[-1] < records):
            raise CorruptionError(f"{self.path}: column {column_id} names records out of range")
        return positions


def _numbers(reader: ContainerReader, name: str, kind: DataType) -> npt.NDArray[Any]:
    return fixed_view(reader.cfile(name).read_all(), kind)
