"""Where the row of one key lies, and why a look-up of it reads what it reads.

A look-up by key, described step by step and not done: the tablet, the answer of each rowset's
filters and key index, and for the rows that exist the blocks of their columns and their deltas.
"""

import os
from collections.abc import Iterator, Mapping

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.table import tablet_of_key
from pykudu_sql.storage.tablet.delta.delta_store import Deltas
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe
from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class RowSetTrace:
    """What one rowset says of a key.

    Attributes:
        rowset_id, kind: of the rowset.
        answer: `row`, `deleted row`, or what said no: `key range`, `bloom filter`, `key index`,
            `memory`.
        ordinal: of the row in the rowset; None if it has none.
        rows: of the rowset.
        blocks: by column, the number of the block that holds the row, from 0, and how many there
            are; none in memory.
        deltas: by store, how many records it has of the row: `3.redo`, `7.undo`, `memory`.
    """

    rowset_id: int
    kind: str
    answer: str
    ordinal: int | None
    rows: int
    blocks: Mapping[str, tuple[int, int]]
    deltas: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class KeyTrace:
    """Where the row of a key lies.

    Attributes:
        tablet, tablet_id: of the key; None where no partition covers it.
        tablets: of the table.
        rowsets: of the tablet, those in memory first.
    """

    tablet: int | None
    tablet_id: str | None
    tablets: int
    rowsets: tuple[RowSetTrace, ...]


def trace_key(table: TableInfo, tablets: Mapping[str, Tablet], key: tuple[Cell, ...]) -> KeyTrace:
    """Look for a key as of now.

    `tablets`: by UUID; `key`: cells in key order. Raises CorruptionError, DiskError: a file cannot
    be read.
    """
    index = tablet_of_key(table, key, table.key_encoder.encode_one(key))
    if index is None:
        return KeyTrace(None, None, len(table.tablets), ())
    tablet = tablets[table.tablets[index].id]
    traces = tuple(_traces(table, tablet, tablet.probe(key)))
    return KeyTrace(index, tablet.id, len(table.tablets), traces)


def _traces(table: TableInfo, tablet: Tablet, probe: KeyProbe) -> Iterator[RowSetTrace]:
    components = tablet.components
    for memrowset in (components.memrowset, *components.flushing):
        if len(memrowset):
            yield _in_memory(memrowset, probe)
    for rowset in components.tree.rowsets:
        yield _on_disk(table, rowset, probe)


def _in_memory(memrowset: MemRowSet, probe: KeyProbe) -> RowSetTrace:
    ordinal = memrowset.find_one(probe)
    rows = len(memrowset)
    if ordinal < 0:
        return RowSetTrace(memrowset.id, "MemRowSet", "memory", None, rows, {}, {})
    alive = memrowset.read_row(ordinal, (), EVERYTHING, None) is not None
    deltas = _counted({"memory": memrowset.deltas.deltas()}, ordinal)
    answer = "row" if alive else "deleted row"
    return RowSetTrace(memrowset.id, "MemRowSet", answer, ordinal, rows, {}, deltas)


def _on_disk(table: TableInfo, rowset: DiskRowSet, probe: KeyProbe) -> RowSetTrace:
    meta = rowset.meta

    def no(answer: str) -> RowSetTrace:
        return RowSetTrace(rowset.id, "DiskRowSet", answer, None, meta.rows, {}, {})

    if not meta.min_key <= probe.encoded <= meta.max_key:
        return no("key range")
    if not rowset.base.bloom.may_contain_one(probe.hash):
        return no("bloom filter")
    ordinal = rowset.find_one(probe)
    if ordinal < 0:
        return no("key index")
    blocks = {}
    for column in table.schema.visible_columns:
        cfile = rowset.base.cfile(column.id)
        if cfile is not None:
            blocks[column.name] = (cfile.block_of(ordinal), cfile.block_count)
    tracker = rowset.tracker
    stores = {os.path.basename(file.path): file.deltas() for file in tracker.files}
    memory = [store.deltas() for store in tracker.stores]
    deltas = _counted(stores, ordinal)
    in_memory = sum(_records(each, ordinal) for each in memory)
    if in_memory:
        deltas["memory"] = in_memory
    alive = rowset.read_row(ordinal, (), EVERYTHING, None) is not None
    answer = "row" if alive else "deleted row"
    return RowSetTrace(rowset.id, "DiskRowSet", answer, ordinal, meta.rows, blocks, deltas)


def _counted(stores: Mapping[str, Deltas], ordinal: int) -> dict[str, int]:
    counts = {name: _records(deltas, ordinal) for name, deltas in stores.items()}
    return {name: count for name, count in counts.items() if count}


def _records(deltas: Deltas, ordinal: int) -> int:
    return int(np.count_nonzero(deltas.ordinals == ordinal))
