"""Delta files: REDO or UNDO deltas of one rowset on disk, immutable.

One container of CFiles (Kudu's `tablet/deltafile.cc` has one binary CFile): `ordinal`, `timestamp`
and `kind` with one value a record, and for each changed column `<id>.position` and `<id>.value`.
Statistics stand in the tablet's metadata, so a file that a snapshot does not need is never opened.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.container import ContainerReader, ContainerWriter, FileIdentity
from pykudu_sql.storage.common.arrays import fixed_view, plain
from pykudu_sql.storage.common.types import Compression, DataType, Encoding, Kind
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.delta_store import DeltaCells, Deltas, DeltaStats, stats

BLOCK_SIZE = 256 * 1024
_INT64 = DataType(Kind.INT64)
_INT8 = DataType(Kind.INT8)


@dataclass(frozen=True, slots=True)
class DeltaFileMeta:
    """What the manifest knows of a delta file.

    Attributes:
        number: of the file in its tablet's folder.
        kind: "redo" or "undo".
        stats: see `DeltaStats`.
        size: bytes on disk.
    """

    number: int
    kind: str
    stats: DeltaStats
    size: int

    def to_json(self) -> dict[str, Any]:
        """The description as plain JSON values."""
        return {
            "number": self.number,
            "kind": self.kind,
            "stats": self.stats.to_json(),
            "size": self.size,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DeltaFileMeta":
        """The inverse of `to_json`."""
        stats_ = DeltaStats.from_json(value["stats"])
        return cls(value["number"], value["kind"], stats_, value["size"])


def write_delta_file(
    env: Env,
    path: str,
    identity: FileIdentity,
    deltas: Deltas,
    types: Mapping[int, DataType],
) -> DeltaFileMeta:
    """Write and fsync a delta file.

    Args:
        env: the disk.
        path: a new file.
        identity: kind "redo" or "undo", and the file's number.
        deltas: sorted for that kind, not empty.
        types: of the columns that they change.

    Raises:
        DiskError: the disk refused.
    """
    writer = ContainerWriter(env, path, identity, f"{identity.file_kind}.write")
    lz4 = Compression.LZ4
    for name, values in (("ordinal", deltas.ordinals), ("timestamp", deltas.timestamps)):
        numbers = pa.array(values.view(np.int64))
        writer.add_cfile(
            name, encode_column(_INT64, Encoding.BIT_SHUFFLE, lz4, BLOCK_SIZE, numbers)
        )
    kinds = pa.array(deltas.kinds.view(np.int8))
    writer.add_cfile("kind", encode_column(_INT8, Encoding.RLE, lz4, BLOCK_SIZE, kinds))
    for column_id, cells in deltas.cells.items():
        places = pa.array(cells.positions)
        writer.add_cfile(
            f"{column_id}.position",
            encode_column(_INT64, Encoding.BIT_SHUFFLE, lz4, BLOCK_SIZE, places),
        )
        kind = types[column_id]
        writer.add_cfile(
            f"{column_id}.value",
            encode_column(kind, kind.encodings()[0], lz4, BLOCK_SIZE, cells.values),
        )
    summary = writer.finish({"columns": sorted(deltas.cells)})
    return DeltaFileMeta(identity.file_number, identity.file_kind, stats(deltas), summary.size)


class DeltaFile:
    """A delta file opened on first use; its deltas are kept in the block cache."""

    def __init__(
        self, env: Env, path: str, identity: FileIdentity, meta: DeltaFileMeta, cache: BlockCache
    ) -> None:
        """Describe the file; nothing is read yet."""
        self.meta = meta
        self.path = path
        self._env = env
        self._identity = identity
        self._cache = cache

    def deltas(self) -> Deltas:
        """All deltas of the file.

        Raises:
            CorruptionError: the bytes are not what was written.
        """
        cached = self._cache.get((self.path, "deltas"))
        if isinstance(cached, Deltas):
            return cached
        reader = ContainerReader.open(self._env, self.path, self._identity, self._cache)
        try:
            loaded = self._load(reader)
        finally:
            reader.close()
        size = 17 * len(loaded) + sum(c.values.nbytes for c in loaded.cells.values())
        self._cache.put((self.path, "deltas"), loaded, size)
        return loaded

    def _load(self, reader: ContainerReader) -> Deltas:
        def numbers(name: str, kind: DataType) -> npt.NDArray[Any]:
            return fixed_view(reader.cfile(name).read_all(), kind)

        ordinals = numbers("ordinal", _INT64)
        records = len(ordinals)
        cells: dict[int, DeltaCells] = {}
        for column_id in reader.metadata["columns"]:
            positions = numbers(f"{column_id}.position", _INT64)
            values = plain(reader.cfile(f"{column_id}.value").read_all())
            ascending = bool((np.diff(positions) > 0).all()) and len(positions) == len(values)
            if not ascending or (
                len(positions) and not 0 <= positions[0] <= positions[-1] < records
            ):
                raise CorruptionError(f"{self.path}: column {column_id} names records out of range")
            cells[column_id] = DeltaCells(positions, values)
        timestamps = numbers("timestamp", _INT64).view(np.uint64)
        kinds = numbers("kind", _INT8).view(np.uint8)
        return Deltas(ordinals, timestamps, kinds, cells)
