"""Where the cells of a block lie that stores their bytes as they are: what is kept of it.

It is four bytes a row, or nearly nothing where lengths are alike, and leads to the one or two pages
that hold a cell.
"""

from collections.abc import Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.encoding.traits import ValuePlaces

# Of the object itself and of what it refers to, without the arrays.
_OVERHEAD = 400


@dataclass(frozen=True, slots=True)
class StoredCells:
    """The cells of one block.

    Attributes:
        start: place in the block at which the first value begins.
        ends: where each value ends, counted from there.
        validity: bitmap, None when no slot is NULL.
        own_bytes: memory of the arrays that no other block shares.
    """

    start: int
    ends: Sequence[int] | memoryview
    validity: bytes | None
    own_bytes: int

    @classmethod
    def of(cls, places: ValuePlaces, validity: bytes | None) -> "StoredCells":
        """Put places and bitmap together."""
        own_bytes = places.own_bytes + len(validity or b"")
        return cls(places.start, places.ends, validity, own_bytes)

    @classmethod
    def equal(cls, start: int, width: int, rows: int) -> "StoredCells":
        """Those of one length. `start`: of the first; `width`: bytes of each."""
        return cls(start, range(width, rows * width + 1, width), None, 0)

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return _OVERHEAD + self.own_bytes

    @property
    def null_count(self) -> int:
        """Slots that are NULL."""
        if self.validity is None:
            return 0
        return len(self.ends) - int.from_bytes(self.validity, "little").bit_count()

    def is_null(self, slot: int) -> bool:
        """Whether a slot is NULL."""
        validity = self.validity
        return validity is not None and not validity[slot >> 3] >> (slot & 7) & 1


# Stands in the cache for a block whose cells cannot be found so.
NOT_STORED = "not stored"
