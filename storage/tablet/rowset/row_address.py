"""Row addresses: which rowset of a scan a row came from, and its ordinal there, in one number.

A scan on request gives them as one more column, which no table has (Kudu has such
virtual columns too, `common/schema.h`). An address means something only together with the list of
rowsets that the scan read: the upper bits are an index into it. While a scan is inside one rowset
the column holds plain ordinals, which are the addresses of the rowset of index 0.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.arrays import integers_of
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

_ORDINAL_BITS = 40
ROW_ADDRESS = ColumnSchema(-1, "__row_address", DataType(Kind.INT64), nullable=False)


@dataclass(frozen=True, slots=True)
class AddressedShare:
    """The rows of a batch that lie in one rowset.

    Attributes:
        rowset_index: of the rowset among those of the scan.
        ordinals: of the rows in it, ascending and distinct, int64[n].
        selection: their indices in the batch, int64[n]; a slice where they are consecutive.
    """

    rowset_index: int
    ordinals: Ordinals
    selection: Ordinals | slice

    def cells(self, values: pa.Array) -> pa.Array:
        """The share's part of a column of the batch."""
        if isinstance(self.selection, slice):
            return values.slice(self.selection.start, len(self.ordinals))
        return values.take(integers(self.selection))


def located(block: RowBlock, rowset_index: int) -> RowBlock:
    """Rows of one rowset whose last column are their ordinals, with addresses in it instead.

    `block`: of the rowset; `rowset_index`: of the rowset among those of the scan.
    """
    if not rowset_index:
        return block
    first = np.int64(rowset_index << _ORDINAL_BITS)
    addresses = integers(integers_of(block.columns[-1]) + first)
    return RowBlock([*block.columns[:-1], addresses], block.length)


def shares(addresses: Ordinals) -> Iterator[AddressedShare]:
    """The rows of a batch by rowset; of an address that is there several times the last counts.

    `addresses`: of the rows, int64[n], in any order.
    """
    order: Ordinals | None = None
    if not np.all(addresses[1:] > addresses[:-1]):
        order = np.argsort(addresses, kind="stable")
        ascending = addresses[order]
        last = np.append(ascending[1:] != ascending[:-1], True)
        order, addresses = order[last], ascending[last]
    start = 0
    while start < len(addresses):
        rowset_index = int(addresses[start]) >> _ORDINAL_BITS
        first = rowset_index << _ORDINAL_BITS
        stop = int(np.searchsorted(addresses, first + (1 << _ORDINAL_BITS)))
        selection = slice(start, stop) if order is None else order[start:stop]
        yield AddressedShare(rowset_index, addresses[start:stop] - first, selection)
        start = stop
