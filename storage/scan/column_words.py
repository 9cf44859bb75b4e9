"""The texts that a column of a scan may have, from dictionaries, deltas and memory.

No row on disk is read for them, so they are known before a scan streams.
"""

from collections.abc import Iterator

import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.delta.delta_store import ColumnPatch
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet

MOST_ROWS_IN_MEMORY = 64 * 1024


def words_of(scan: TableScan, column: ColumnSchema, most: int) -> pa.Array | None:
    """At least the texts that the rows of a scan have, each once, and no NULL.

    `column`: a text column of the table; `most`: how many there may be. Returns None where they are
    more, or where a rowset does not have them in a dictionary. Raises CorruptionError: a dictionary
    is not what was written.
    """
    scan_filter = scan.row_filter()
    words = pa.nulls(0, column.type.arrow)
    for read in scan.reads:
        rowset = read.rowset
        if isinstance(rowset, DiskRowSet) and not rowset.may_match(scan_filter, scan.bound):
            continue
        for part in _parts(scan, read, column):
            if part is None:
                return None
            words = pc.unique(pa.concat_arrays([words, plain(part)])).drop_null()
            if len(words) > most:
                return None
    return words


def _parts(scan: TableScan, read: RowSetRead, column: ColumnSchema) -> Iterator[pa.Array | None]:
    rowset = read.rowset
    if isinstance(rowset, DiskRowSet):
        yield rowset.base.words(column)
    elif isinstance(rowset, MemRowSet):
        yield rowset.column(column, read.rows) if read.rows <= MOST_ROWS_IN_MEMORY else None
    for patch in rowset.view(scan.bound, read.own).layers(column.id):
        is_at_hand = isinstance(patch, ColumnPatch) and len(patch.values) <= MOST_ROWS_IN_MEMORY
        yield patch.values if is_at_hand else None
