"""The positional index of a CFile: one entry for each block, with its zone map.

Kudu's is a B-tree over first ordinals (`cfile/index_btree.h`); a CFile of a rowset has tens of
blocks, so here it is one flat stretch, read when the CFile is opened. Blocks of a CFile follow each
other without gaps, so offsets are sums of lengths.

    4n      length of each block in the file, u32
    4n      checksum of each block, u32
    .       zone map (see `zone_map`)
"""

import struct
from itertools import accumulate

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.block import MAX_BLOCK_ROWS, ROW_MULTIPLE
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.errors import CorruptionError


@dataclass(frozen=True, slots=True)
class PositionalIndex:
    """Where the blocks of a CFile lie and what is in them.

    Attributes:
        offsets: of each block in the file.
        lengths, checksums: of each block.
        zone_map: rows and bounds of each block.
    """

    offsets: tuple[int, ...]
    lengths: tuple[int, ...]
    checksums: tuple[int, ...]
    zone_map: ZoneMap

    def to_bytes(self) -> bytes:
        """The index as stored."""
        lengths = np.array(self.lengths, "<u4").tobytes()
        checksums = np.array(self.checksums, "<u4").tobytes()
        return lengths + checksums + self.zone_map.to_bytes()

    @classmethod
    def from_bytes(
        cls, data: memoryview, column_type: DataType, blocks: int, offset: int
    ) -> "PositionalIndex":
        """The inverse of `to_bytes`.

        `data`: exactly the index; `blocks`: how many the CFile has; `offset`: of the first block.
        Raises CorruptionError: the bytes are no index of so many blocks.
        """
        if len(data) < 8 * blocks:
            raise CorruptionError(f"an index of {blocks} blocks has only {len(data)} bytes")
        stored = struct.unpack_from(f"<{2 * blocks}I", data)
        lengths, checksums = stored[:blocks], stored[blocks:]
        zone_map = ZoneMap.from_bytes(data[8 * blocks :], column_type, blocks)
        rows = zone_map.row_counts.tolist()
        if max(rows, default=0) > MAX_BLOCK_ROWS or any(one % ROW_MULTIPLE for one in rows[:-1]):
            raise CorruptionError("an index has blocks of impossible size")
        offsets = tuple(accumulate(lengths, initial=offset))[:-1]
        return cls(offsets, lengths, checksums, zone_map)
