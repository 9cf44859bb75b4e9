"""The RowSetTree: which DiskRowSets may hold a key.

An interval tree over [min_key, max_key] (Kudu's `tablet/rowset_tree.h`), kept as arrays: rowsets
sorted by their lowest key, and for each the highest key of all up to it. A stab walks left from
the last rowset that starts at or below the key, and stops where that running maximum falls short.
The tree is immutable.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field
from itertools import accumulate

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class RowSetTree:
    """An immutable set of DiskRowSets.

    `rowsets`: by their lowest key, in whichever order they are given.
    """

    rowsets: Sequence[DiskRowSet]
    _lows: Sequence[bytes] = field(init=False, repr=False)
    _highest: Sequence[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.rowsets, key=lambda r: (r.meta.min_key, r.meta.id)))
        # A frozen dataclass is set up in no other way.
        object.__setattr__(self, "rowsets", ordered)
        object.__setattr__(self, "_lows", [rowset.meta.min_key for rowset in ordered])
        highest = list(accumulate((rowset.meta.max_key for rowset in ordered), max))
        object.__setattr__(self, "_highest", highest)

    def __len__(self) -> int:
        return len(self.rowsets)

    def overlapping(self, low: bytes, high: bytes) -> list[DiskRowSet]:
        """The rowsets whose interval overlaps [low, high]."""
        rowsets = []
        index = bisect_right(self._lows, high)
        while index and self._highest[index - 1] >= low:
            index -= 1
            rowset = self.rowsets[index]
            if rowset.meta.max_key >= low:
                rowsets.append(rowset)
        return rowsets

    def replace(self, removed: Sequence[DiskRowSet], added: Sequence[DiskRowSet]) -> "RowSetTree":
        """The tree with some rowsets exchanged for others."""
        removed_ids = {rowset.id for rowset in removed}
        return RowSetTree([*(r for r in self.rowsets if r.id not in removed_ids), *added])
