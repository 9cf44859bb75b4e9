"""Introspection: facts about tablets, rowsets and column files for SHOW, EXPLAIN and the demo.

Read from metadata and footers, and from deltas where rows were deleted; no row is decoded.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.key_interval import (
    KeyInterval,
    average_height,
    tree_intervals,
)
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class RowSetInfo:
    """One rowset of a table.

    Attributes:
        tablet: place of its tablet in the table.
        tablet_id: UUID of the tablet.
        rowset_id: unique within the tablet.
        kind: "MemRowSet" or "DiskRowSet".
        rows: rows held, deleted ones included.
        live_rows: rows that exist now.
        size: bytes on disk with its deltas, or roughly in memory.
        base_size: bytes of its base image on disk.
        min_key, max_key: encoded.
        undo_files, undo_records, redo_files, redo_records: deltas on disk.
        memory_deltas: deltas in memory.
    """

    tablet: int
    tablet_id: str
    rowset_id: int
    kind: str
    rows: int
    live_rows: int
    size: int
    memory_deltas: int
    min_key: bytes
    max_key: bytes
    base_size: int = 0
    undo_files: int = 0
    undo_records: int = 0
    redo_files: int = 0
    redo_records: int = 0


@dataclass(frozen=True, slots=True)
class ColumnFileInfo:
    """One CFile: a column of a rowset on disk.

    Attributes:
        tablet: place of its tablet in the table.
        rowset_id: of its rowset.
        column: its name.
        encoding: of its blocks.
        blocks, rows: how many.
        raw_bytes: before encoding.
        size: bytes on disk.
    """

    tablet: int
    rowset_id: int
    column: str
    encoding: str
    blocks: int
    rows: int
    raw_bytes: int
    size: int


def rowset_infos(table: TableInfo, tablets: Mapping[str, Tablet]) -> Iterator[RowSetInfo]:
    """The rowsets of a table; MemRowSets only where they hold rows. `tablets`: by UUID."""
    for index, info in enumerate(table.tablets):
        components = tablets[info.id].components
        for memrowset in (components.memrowset, *components.flushing):
            if len(memrowset):
                sizes = (len(memrowset), live_rows(memrowset), memrowset.memory)
                low, high = memrowset.key_range()
                yield RowSetInfo(
                    index,
                    info.id,
                    memrowset.id,
                    "MemRowSet",
                    *sizes,
                    memory_deltas=len(memrowset.deltas),
                    min_key=low,
                    max_key=high,
                )
        for rowset in components.tree.rowsets:
            yield _disk_info(index, info.id, rowset)


def _disk_info(index: int, tablet_id: str, rowset: DiskRowSet) -> RowSetInfo:
    meta = rowset.meta
    return RowSetInfo(
        tablet=index,
        tablet_id=tablet_id,
        rowset_id=meta.id,
        kind="DiskRowSet",
        rows=meta.rows,
        live_rows=live_rows(rowset),
        size=meta.total_size,
        base_size=meta.image_size,
        min_key=meta.min_key,
        max_key=meta.max_key,
        undo_files=len(meta.undo),
        undo_records=sum(file.stats.records for file in meta.undo),
        redo_files=len(meta.redo),
        redo_records=sum(file.stats.records for file in meta.redo),
        memory_deltas=sum(len(store) for store in rowset.tracker.stores),
    )


def column_file_infos(table: TableInfo, tablets: Mapping[str, Tablet]) -> Iterator[ColumnFileInfo]:
    """The CFiles of a table's columns. `table`: to look into; `tablets`: by UUID."""
    for index, info in enumerate(table.tablets):
        for rowset in tablets[info.id].components.tree.rowsets:
            for column in table.schema.columns:
                cfile = rowset.base.cfile(column.id)
                if cfile is not None:
                    counts = (cfile.block_count, cfile.row_count)
                    sizes = (cfile.raw_size, cfile.encoded_size)
                    encoding = str(cfile.encoding)
                    yield ColumnFileInfo(index, rowset.id, column.name, encoding, *counts, *sizes)


def delta_file_infos(
    table: TableInfo, tablets: Mapping[str, Tablet]
) -> Iterator[tuple[int, int, DeltaFileMeta]]:
    """The delta files of a table, each behind the place of its tablet and its rowset's id.

    `tablets`: by UUID.
    """
    for index, info in enumerate(table.tablets):
        for rowset in tablets[info.id].components.tree.rowsets:
            for file in (*rowset.meta.undo, *rowset.meta.redo):
                yield index, rowset.id, file


@dataclass(frozen=True, slots=True)
class TabletInside:
    """What a tablet holds.

    Attributes:
        tablet_id: its UUID.
        rowsets: how many it has, a MemRowSet only where it holds rows.
        live_rows: rows that exist now.
        disk_bytes: of all its files.
        undo_bytes: of those that hold history.
        memory_bytes: that a flush would free.
        anchor: the oldest log record that it needs, or None.
        average_height: rowsets on disk that a look-up of a random key asks.
    """

    tablet_id: str
    rowsets: int
    live_rows: int
    disk_bytes: int
    undo_bytes: int
    memory_bytes: int
    anchor: int | None
    average_height: float


def inside(tablet: Tablet) -> TabletInside:
    """Look into a tablet."""
    rowsets = [rowset for rowset in tablet.components.rowsets if _holds_rows(rowset)]
    metas = [rowset.meta for rowset in rowsets if isinstance(rowset, DiskRowSet)]
    return TabletInside(
        tablet.id,
        len(rowsets),
        sum(map(live_rows, rowsets)),
        sum(meta.total_size for meta in metas),
        sum(file.size for meta in metas for file in meta.undo),
        tablet.memory,
        tablet.anchor,
        average_height(intervals_of(tablet)),
    )


def intervals_of(tablet: Tablet) -> list[KeyInterval]:
    """A tablet's rowsets on disk as intervals of its data."""
    return tree_intervals(tablet.components.tree)


def live_rows(rowset: MemRowSet | DiskRowSet) -> int:
    """Rows that exist now."""
    rows = rowset.row_count(EVERYTHING)
    _, alive = rowset.view(EVERYTHING, None).liveness()
    return rows - int(np.count_nonzero(~alive))


def _holds_rows(rowset: MemRowSet | DiskRowSet) -> bool:
    return isinstance(rowset, DiskRowSet) or len(rowset) > 0
