"""What lies where: facts about tablets, rowsets and column files for SHOW, EXPLAIN and the demo.

Read from metadata and footers alone; no row is decoded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.tablet.diskrowset import DiskRowSet
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
        size: bytes on disk with its deltas, or roughly in memory.
        min_key, max_key: encoded, empty for a MemRowSet.
        undo_records, redo_records: deltas on disk.
        memory_deltas: deltas in memory.
    """

    tablet: int
    tablet_id: str
    rowset_id: int
    kind: str
    rows: int
    size: int
    min_key: bytes
    max_key: bytes
    undo_records: int
    redo_records: int
    memory_deltas: int


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
    """The rowsets of a table; MemRowSets only where they hold rows.

    Args:
        table: to look into.
        tablets: by UUID.
    """
    for place, info in enumerate(table.tablets):
        components = tablets[info.id].components
        for memrowset in (components.memrowset, *components.flushing):
            if len(memrowset):
                yield RowSetInfo(
                    tablet=place,
                    tablet_id=info.id,
                    rowset_id=memrowset.id,
                    kind="MemRowSet",
                    rows=len(memrowset),
                    size=memrowset.memory,
                    min_key=b"",
                    max_key=b"",
                    undo_records=0,
                    redo_records=0,
                    memory_deltas=len(memrowset.deltas),
                )
        for rowset in components.tree.rowsets:
            yield _disk_info(place, info.id, rowset)


def _disk_info(place: int, tablet_id: str, rowset: DiskRowSet) -> RowSetInfo:
    meta = rowset.meta
    return RowSetInfo(
        tablet=place,
        tablet_id=tablet_id,
        rowset_id=meta.id,
        kind="DiskRowSet",
        rows=meta.rows,
        size=meta.total_size,
        min_key=meta.min_key,
        max_key=meta.max_key,
        undo_records=sum(file.stats.records for file in meta.undo),
        redo_records=sum(file.stats.records for file in meta.redo),
        memory_deltas=sum(len(store) for store in rowset.tracker.stores),
    )


def column_file_infos(table: TableInfo, tablets: Mapping[str, Tablet]) -> Iterator[ColumnFileInfo]:
    """The CFiles of a table's columns.

    Args:
        table: to look into.
        tablets: by UUID.
    """
    for place, info in enumerate(table.tablets):
        for rowset in tablets[info.id].components.tree.rowsets:
            for column in table.schema.columns:
                cfile = rowset.base.cfile(column.id)
                if cfile is not None:
                    yield ColumnFileInfo(
                        tablet=place,
                        rowset_id=rowset.id,
                        column=column.name,
                        encoding=str(cfile.encoding),
                        blocks=cfile.block_count,
                        rows=cfile.row_count,
                        raw_bytes=cfile.raw_size,
                        size=cfile.encoded_size,
                    )
