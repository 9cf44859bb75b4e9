"""Scans whose rows lie in groups: rows with equal cells in leading columns of the key side by side.

A DiskRowSet is in the order of its key, so rows that are equal in a prefix of it are neighbours. In
all of a scan they are where

* the columns by which the table is partitioned are among those of the prefix, so that the rows of
  one group are in one tablet, or only one tablet is read;
* the rowsets of a tablet have keys that do not overlap, as after a compaction, and are read in
  their order;
* no row is in a MemRowSet, which is in the order of arrival.

That is what PostgreSQL's GroupAggregate asks for, without a sort.
"""

from collections.abc import Set
from dataclasses import replace
from itertools import pairwise

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet


def in_key_order(scan: TableScan, table: TableInfo, column_ids: Set[int]) -> TableScan | None:
    """The scan with rowsets in such an order that rows of one group come one after the other.

    Args:
        scan: without order and limit; its rows have no addresses.
        table: at the moment that is read.
        column_ids: the columns in which the rows of a group are equal.

    Returns None where the rows of a group may be apart.
    """
    if set(table.schema.key_ids[: len(column_ids)]) != column_ids:
        return None
    if not all(isinstance(read.rowset, DiskRowSet) for read in scan.reads):
        return None
    reads = sorted(scan.reads, key=lambda read: (read.tablet, *_keys(read)))
    follow = pairwise(reads)
    if any(a.tablet == b.tablet and _keys(a)[1] >= _keys(b)[0] for a, b in follow):
        return None
    is_one_tablet = not reads or reads[0].tablet == reads[-1].tablet
    if not is_one_tablet and not _partition_columns(table) <= column_ids:
        return None
    return replace(scan, reads=reads)


def _keys(read: RowSetRead) -> tuple[bytes, bytes]:
    """The least and the greatest key of a rowset on disk."""
    assert isinstance(read.rowset, DiskRowSet)
    return read.rowset.meta.min_key, read.rowset.meta.max_key


def _partition_columns(table: TableInfo) -> Set[int]:
    """The columns that decide to which tablet a row goes."""
    schema = table.partition_schema
    dimensions = [*schema.hash_dimensions]
    for each in schema.ranges:
        dimensions += each.hash_dimensions or ()
    hashed = {column_id for each in dimensions for column_id in each.column_ids}
    return hashed | set(schema.range_column_ids)
