"""Checking one tablet: its rowsets' files, and that of each key at most one row lives."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.container import ContainerReader
from pykudu_sql.storage.check.container_check import check_container
from pykudu_sql.storage.check.finding import FROM_BACKUP, Finding, Tally, guarded
from pykudu_sql.storage.check.rowset_check import check_base, check_deltas, check_live_rows
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.tablet import Tablet


def check_tablet(
    tablet: Tablet, table: TableInfo, cache: BlockCache, quick: bool, tally: Tally
) -> Iterator[Finding]:
    """Check all files of a tablet and, unless `quick`, all its rows.

    Args:
        tablet: open.
        table: that it belongs to.
        quick: footers and indexes only.
        tally: counts what was looked at.
    """
    whole = True
    for rowset in tablet.components.tree.rowsets:
        for finding in _check_rowset(tablet, rowset, cache, quick, tally):
            whole = False
            yield finding
        rowset.base.close()
    tally.tablets += 1
    components = tablet.components
    tally.rows += sum(len(part) for part in (*components.flushing, components.memrowset))
    if whole and not quick:
        folder = tablet.files.path("base", 1).rpartition("/")[0]
        yield from guarded(folder, _check_keys(tablet, table, folder))


def _check_rowset(
    tablet: Tablet, rowset: DiskRowSet, cache: BlockCache, quick: bool, tally: Tally
) -> Iterator[Finding]:
    """Every file of a rowset by itself; then, if all are intact, whether they agree."""
    files, meta = tablet.files, rowset.meta
    sizes: Mapping[tuple[str, int], int] = {
        ("base", meta.base): meta.size,
        **{("base", overlay.base): overlay.size for overlay in meta.overlays},
        **{(file.kind, file.number): file.size for file in (*meta.undo, *meta.redo)},
    }
    whole = True
    for (kind, number), size in sizes.items():
        path = files.path(kind, number)
        for finding in guarded(path, _check_file(tablet, kind, number, cache, size, quick)):
            whole = False
            yield finding
        tally.files += 1
        tally.bytes += size
    tally.rows += meta.rows
    if whole and not quick:
        yield from guarded(rowset.base.path, check_base(rowset))
        for file in (*rowset.tracker.undo, *rowset.tracker.redo):
            yield from guarded(file.path, check_deltas(file))
        yield from guarded(rowset.base.path, check_live_rows(rowset))


def _check_file(
    tablet: Tablet, kind: str, number: int, cache: BlockCache, size: int, quick: bool
) -> Iterator[Finding]:
    files = tablet.files
    path, identity = files.path(kind, number), files.identity(kind, number)
    reader = ContainerReader.open(files.env, path, identity, cache)
    try:
        yield from check_container(reader, size, quick)
    finally:
        reader.close()


def _check_keys(tablet: Tablet, table: TableInfo, folder: str) -> Iterator[Finding]:
    """That each key lives once, and belongs here."""
    components = tablet.components
    parts = [
        _living_keys(tablet, rowset)
        for rowset in components.rowsets
        if rowset.row_count(EVERYTHING)
    ]
    if not parts:
        return
    keys = EncodedKeys.concat(parts)
    order = keys.argsort()
    repeated = keys.duplicates(order)
    if len(repeated):
        key = keys.at(int(order[repeated[0]])).hex()
        problem = f"{len(repeated)} keys live more than once, first the one encoded as {key}"
        yield Finding(folder, problem, FROM_BACKUP)
    yield from _check_partition(tablet, table, folder)


def _living_keys(tablet: Tablet, rowset: MemRowSet | DiskRowSet) -> EncodedKeys:
    if isinstance(rowset, DiskRowSet):
        keys, alive = rowset.base.keys(), rowset.view(EVERYTHING, None).alive(rowset.meta.rows)
        return keys if alive is None else keys.take(np.flatnonzero(alive))
    return tablet.key_encoder.encode(_key_columns(tablet, rowset))


def _key_columns(tablet: Tablet, rowset: MemRowSet | DiskRowSet) -> dict[int, pa.Array]:
    """The cells of the keys of a rowset's living rows, by column id."""
    columns = tablet.schema.key_columns
    blocks = list(rowset.scan(columns, None, EVERYTHING, None))
    return {
        column.id: pa.concat_arrays(
            [plain(block.columns[i]) for block in blocks] or [pa.nulls(0, column.type.arrow)]
        )
        for i, column in enumerate(columns)
    }


def _check_partition(tablet: Tablet, table: TableInfo, folder: str) -> Iterator[Finding]:
    """That every living row belongs to this tablet by the table's partitions."""
    mine = [info.id for info in table.tablets].index(tablet.id)
    for rowset in tablet.components.rowsets:
        columns = _key_columns(tablet, rowset)
        if not len(columns[table.schema.key_ids[0]]):
            continue
        strays = np.flatnonzero(table.assigner.assign(columns) != mine)
        if len(strays):
            problem = f"{len(strays)} rows of rowset {rowset.id} belong to other partitions"
            yield Finding(folder, problem, FROM_BACKUP)
