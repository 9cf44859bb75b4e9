"""One rowset of a scan, and what is known of it before it is read."""

from collections.abc import Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.pruning import Range
from pykudu_sql.storage.tablet.rowset.rowset import RowSet


@dataclass(frozen=True, slots=True)
class RowSetRead:
    """One rowset of a scan.

    Attributes:
        own: a transaction's uncommitted changes of it.
        rows: that the scan's snapshot may see.
        rowset_index: by which row addresses name it.
        ranges: of ordinals, outside which no row matches; None where nobody has looked yet.
        tablet: the place of its tablet among those of the scan; 0 where rows have addresses.
    """

    rowset: RowSet
    own: OwnDeltas | None
    rows: int
    rowset_index: int = 0
    ranges: Sequence[Range] | None = None
    tablet: int = 0

    @property
    def size(self) -> int:
        """Bytes on disk, or in memory."""
        rowset = self.rowset
        if isinstance(rowset, DiskRowSet):
            return rowset.meta.total_size
        return rowset.memory if isinstance(rowset, MemRowSet) else 0

    def most_rows(self, row_filter: RowFilter | None, bound: SnapshotBound) -> int:
        """An upper bound of the rows to read, from metadata. `bound`: of the scan's snapshot."""
        if self.ranges is not None:
            return sum([stop - start for start, stop in self.ranges])
        rowset = self.rowset
        if isinstance(rowset, DiskRowSet) and not rowset.may_match(row_filter, bound):
            return 0
        return self.rows
