"""Whether a scan fills the block cache: not if it decodes more than that holds.

The last blocks of such a scan would push out the first, so that the next one finds nothing, and all
that others keep there.
"""

from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

_CODE_BYTES = 2
_OFFSET_BYTES = 4


def fits_cache(scan: TableScan, capacity: int) -> bool:
    """Whether a cache of so many bytes holds the columns of a scan.

    Raises CorruptionError: a footer is not what was written.
    """
    if scan.estimated_bytes <= capacity:
        return True
    left = capacity
    for read in scan.reads:
        if isinstance(read.rowset, DiskRowSet):
            left -= sum(_decoded_size(read.rowset, column) for column in scan.columns)
            if left < 0:
                return False
    return True


def _decoded_size(rowset: DiskRowSet, column: ColumnSchema) -> int:
    if not column.type.is_variable:
        return rowset.meta.rows * column.type.width
    entry = rowset.base.entry(column.id)
    if entry is None:
        return 0
    if entry.dictionary is not None:
        return entry.rows * _CODE_BYTES
    return entry.raw_size + entry.rows * _OFFSET_BYTES
