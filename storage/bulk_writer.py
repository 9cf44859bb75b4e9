"""Large inserts: rows straight into DiskRowSets, without log and MemRowSet.

The rows of a large INSERT would otherwise be written twice, to the log and at the flush. Here they
are sorted and encoded at once; the files exist once the transaction's commit names them in the
manifest. Tablets are written side by side on the store's threads: encoding releases the
interpreter.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.tablet.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.diskrowset_writer import write_base
from pykudu_sql.storage.tablet.pending_writes import KeyedOperations
from pykudu_sql.storage.tablet.tablet import Tablet

ROWSET_ROWS = 1 << 20


def write_rowsets(tablet: Tablet, batch: KeyedOperations) -> Sequence[DiskRowSet]:
    """Write the rows of an INSERT as staged rowsets of one tablet.

    Args:
        tablet: that the rows belong to.
        batch: complete rows whose keys the tablet does not hold.

    Raises:
        DiskError: the disk refused.
    """
    columns, keys = batch.operations.columns, batch.keys
    order = None if keys.is_sorted() else keys.argsort()
    schema = tablet.schema
    rowsets: list[DiskRowSet] = []
    for start in range(0, len(keys), ROWSET_ROWS):
        stop = min(start + ROWSET_ROWS, len(keys))
        if order is None:
            part = {i: values.slice(start, stop - start) for i, values in columns.items()}
            part_keys = keys.slice(start, stop)
        else:
            chosen = order[start:stop]
            part = {i: values.take(pa.array(chosen)) for i, values in columns.items()}
            part_keys = keys.take(np.ascontiguousarray(chosen))
        meta = write_base(
            tablet.files, tablet.new_rowset_id(), schema.columns, part, part_keys, inserted_at=0
        )
        path = tablet.files.staging_path("base", meta.base)
        rowsets.append(tablet.files.open_rowset(meta, schema.key_columns, tablet.types, path))
    return rowsets
