"""One row by its key: the short path of a SELECT that gives the whole key.

Kudu has no call for it: its clients scan with an equality predicate on the key, and
`tablet/diskrowset.cc` finds the row by `CFileSet::FindRow`.
"""

from collections.abc import Mapping, Sequence

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.table import tablet_of_key
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe
from pykudu_sql.storage.tablet.tablet import Tablet


def tablet_with_key(
    tablets: Mapping[str, Tablet], table: TableInfo, key: tuple[Cell, ...]
) -> tuple[Tablet, KeyProbe] | None:
    """The tablet that may hold a key, and the key as it is looked for; None outside all ranges.

    Arguments as those of `lookup_row`.
    """
    encoded = table.key_encoder.encode_one(key)
    index = tablet_of_key(table, key, encoded)
    return None if index is None else (tablets[table.tablets[index].id], KeyProbe(encoded, key))


def lookup_row(
    tablets: Mapping[str, Tablet],
    table: TableInfo,
    key: tuple[Cell, ...],
    columns: Sequence[ColumnSchema],
    bound: SnapshotBound,
) -> tuple[Cell, ...] | None:
    """One row's cells at a snapshot, or None where it has no row of the key.

    Args:
        tablets: by UUID.
        table: to look in.
        key: cells in key order.
        columns: of the cells; see `CFileSet.cells`.
        bound: of the snapshot, which is held.
    """
    located = tablet_with_key(tablets, table, key)
    if located is None:
        return None
    tablet, probe = located
    return tablet.read_row(probe, columns, bound)
