"""What rows of a rowset take once they are decoded, from footers: no block is read.

What they take on disk says little: texts that repeat themselves are packed to a hundredth.
"""

from collections.abc import Sequence

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS
from pykudu_sql.storage.tablet.rowset.rowset import RowSet


def decoded_bytes(rowset: RowSet, columns: Sequence[ColumnSchema], bound: SnapshotBound) -> int:
    """Bytes of some columns of all rows of a rowset with their changes.

    `bound`: of the snapshot. Raises CorruptionError: a footer is not what was written.
    """
    if isinstance(rowset, DiskRowSet):
        return sum([_on_disk(rowset, column, bound) for column in columns])
    rows = rowset.row_count(bound)
    size = rows * sum(column.type.width for column in columns)
    if isinstance(rowset, MemRowSet) and any(column.type.is_variable for column in columns):
        size += rowset.memory
    return size


def _on_disk(rowset: DiskRowSet, column: ColumnSchema, bound: SnapshotBound) -> int:
    if column.id == ROW_ADDRESS.id:
        return rowset.meta.rows * column.type.width
    size = rowset.base.decoded_bytes(column)
    return size if rowset.tracker.is_empty else size + rowset.tracker.cell_bytes(column, bound)
