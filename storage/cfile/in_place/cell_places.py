"""Where the cells of blocks lie whose values have one length: so a cell is read by a single page.

Of columns that have checksums of pages (see `page_checksums`) a container keeps, if some block
stores values of one length as they are and without NULL:

    0       .   for each block in turn u32 the place in it at which its first value begins, u32 the
                bytes of each value; both 0 for blocks of other kinds
"""

from collections.abc import Sequence

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile import block
from pykudu_sql.storage.cfile.in_place import cell_in_place
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.errors import CorruptionError


@dataclass(frozen=True, slots=True)
class CellPlaces:
    """Those of one CFile.

    Attributes:
        starts: of each block where its first value begins.
        widths: of each block the bytes of a value, 0 where its cells have to be found otherwise.
    """

    starts: Sequence[int]
    widths: Sequence[int]

    @classmethod
    def from_bytes(
        cls,
        data: memoryview,
        lengths: Sequence[int],
        rows: Sequence[int],
        null_counts: Sequence[int],
    ) -> "CellPlaces":
        """The inverse of `cell_places`.

        `lengths`, `rows`, `null_counts`: of the blocks. Raises CorruptionError: these are none of
        such blocks.
        """
        if len(data) != 8 * len(lengths):
            raise CorruptionError(f"{len(data)} bytes for the places of {len(lengths)} blocks")
        pairs = np.frombuffer(data, "<u4").reshape(-1, 2).tolist()
        blocks = zip(pairs, lengths, rows, null_counts, strict=True)
        for number, ((start, width), length, cells, nulls) in enumerate(blocks):
            if width and (nulls or start + cells * width > length):
                raise CorruptionError(
                    f"block {number} of {length} bytes and {cells} rows, {nulls} of them NULL, is "
                    f"to have {width} bytes for each from byte {start}"
                )
        return cls([start for start, _ in pairs], [width for _, width in pairs])


def blob_name(cfile: str) -> str:
    """The blob of a container that says where a CFile's cells lie."""
    return f"places:{cfile}"


def cell_places(column_type: DataType, blocks: Sequence[bytes]) -> bytes | None:
    """The blob of a CFile; None where no block has such values. `blocks`: all of the CFile."""
    pairs = [place_of(column_type, data) for data in blocks]
    return np.array(pairs, "<u4").tobytes() if any(width for _, width in pairs) else None


def place_of(column_type: DataType, data: bytes) -> tuple[int, int]:
    """Where the first value of a block begins, and the bytes of each; zeros if they differ."""
    header = block.read_header(data, None)

    def read(start: int, stop: int) -> bytes:
        return data[start:stop]

    return cell_in_place.locate_equal(read, len(data), header, column_type) or (0, 0)
