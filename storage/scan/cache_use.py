"""Whether a scan fills the block cache: not if it decodes more than that holds.

The last blocks of such a scan would push out the first, so that the next one finds nothing, and all
that others keep there.
"""

from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS


def fits_cache(scan: TableScan, capacity: int) -> bool:
    """Whether a cache of so many bytes holds the columns of a scan.

    Raises CorruptionError: a footer is not what was written.
    """
    if scan.estimated_bytes <= capacity:
        return True
    remaining = capacity
    stored = [column for column in scan.decoded_columns if column.id != ROW_ADDRESS.id]
    for read in scan.reads:
        if isinstance(read.rowset, DiskRowSet):
            remaining -= sum(map(read.rowset.base.decoded_bytes, stored))
            if remaining < 0:
                return False
    return True
