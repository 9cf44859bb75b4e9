"""Tablets, rowsets, CFiles and delta files (Kudu's `kudu local_replica dump`, `kudu fs dump`)."""

from collections.abc import Iterator, Mapping

from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.inspect.text import (
    cell_text,
    key_text,
    name_text,
    size_text,
    time_text,
)
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta
from pykudu_sql.storage.tablet.tablet import Tablet


def dump_tablet(tablet: Tablet) -> Iterator[str]:
    """A tablet's rowsets as the manifest describes them; no file is opened."""
    rowsets = tablet.components.tree.rowsets
    yield f"tablet {tablet.id}: {noun_count(len(rowsets), 'rowset')} on disk"
    for rowset in rowsets:
        meta = rowset.meta
        size = size_text(meta.total_size)
        rows = f"{noun_count(meta.rows, 'row')}, {meta.live_rows:,} of them live"
        yield f"rowset {meta.id}: {rows}, {size}"
        yield f"    keys {key_text(meta.min_key)} to {key_text(meta.max_key)}"
        yield from (f"    {line}" for line in _files(meta))


def _files(meta: RowSetMeta) -> Iterator[str]:
    if meta.inserted_at is not None:
        yield f"inserted by one commit at {time_text(meta.inserted_at)}"
    yield f"{meta.base}.base {size_text(meta.size)}, columns {_ids(meta.column_ids)}"
    for overlay in meta.overlays:
        columns = _ids(overlay.column_ids)
        yield f"{overlay.base}.base {size_text(overlay.size)}, newer columns {columns}"
    for file in (*meta.undo, *meta.redo):
        yield f"{file.number}.{file.kind} {size_text(file.size)}, {_stats(file)}"


def _stats(file: DeltaFileMeta) -> str:
    stats = file.stats
    updates = ", ".join(f"{count} of column {i}" for i, count in stats.updates.items())
    parts = [f"updates {updates}"] if updates else []
    parts += [noun_count(stats.deletes, "delete")] if stats.deletes else []
    parts += [noun_count(stats.reinserts, "reinsert")] if stats.reinserts else []
    times = f"{time_text(stats.min_timestamp)} to {time_text(stats.max_timestamp)}"
    return f"{noun_count(stats.records, 'record')} ({', '.join(parts)}), {times}"


def _ids(column_ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, column_ids))


def dump_rowset(rowset: DiskRowSet, columns: Mapping[int, ColumnSchema]) -> Iterator[str]:
    """A rowset's files and, of each column, how it is stored."""
    meta, base = rowset.meta, rowset.base
    yield f"rowset {meta.id}: {noun_count(meta.rows, 'row')}, {meta.live_rows:,} of them live"
    yield f"keys {key_text(meta.min_key)} to {key_text(meta.max_key)}"
    yield from _files(meta)
    for column_id, column in columns.items():
        title = f"column {column_id} {name_text(column.name)} {column.type}"
        try:
            cfile = base.cfile(column_id)
        except Error as error:
            yield f"{title}: {error.message}"
            continue
        yield f"{title}: {_cfile(cfile) if cfile else 'in no file, reads as its default'}"
    indexed = noun_count(base.key_index.rows, "row")
    yield f"bloom filter {size_text(base.bloom.nbytes)}, key index of {indexed}"


def _cfile(cfile: CFileReader) -> str:
    sizes = f"{size_text(cfile.encoded_size)} of {size_text(cfile.raw_size)}"
    blocks, nulls = noun_count(cfile.block_count, "block"), noun_count(cfile.null_count, "NULL")
    return f"{cfile.encoding}, {blocks}, {sizes}, {nulls}"


def dump_cfile(cfile: CFileReader, column: ColumnSchema) -> Iterator[str]:
    """One column of a rowset, block by block."""
    yield f"column {column.id} {name_text(column.name)} {cfile.type}: {_cfile(cfile)}"
    zone = cfile.zone_map
    for number in range(cfile.block_count):
        first, stop = zone.first_ordinals[number : number + 2].tolist()
        nulls = int(zone.null_counts[number])
        notes = f", {noun_count(nulls, 'NULL')}" if nulls else ""
        notes += ", holds NaN" if zone.has_nan[number] else ""
        if zone.has_bounds[number]:
            low, high = zone.mins[number : number + 1], zone.maxs[number : number + 1]
            notes += f", {cell_text(low.tolist()[0])} to {cell_text(high.tolist()[0])}"
            notes += "" if zone.exact[number] else " (rounded)"
        yield f"block {number}: rows {first} to {stop - 1}{notes}"


def dump_delta(file: DeltaFile, columns: Mapping[int, ColumnSchema]) -> Iterator[str]:
    """The records of a delta file."""
    deltas = file.deltas()
    yield f"{file.path}: {_stats(file.meta)}"
    cells: dict[int, list[str]] = {}
    for column_id, changed in deltas.cells.items():
        column = columns.get(column_id)
        name = f"column {column_id}" if column is None else name_text(column.name)
        values = (
            changed.values.to_pylist()
            if column is None
            else array_to_cells(changed.values, column.type)
        )
        for position, cell in zip(changed.positions.tolist(), values, strict=True):
            cells.setdefault(position, []).append(f"{name}={cell_text(cell)}")
    for position, ordinal in enumerate(deltas.ordinals.tolist()):
        kind = DeltaKind(int(deltas.kinds[position])).name
        time = time_text(Timestamp(int(deltas.timestamps[position])))
        yield f"row {ordinal} @{time} {kind} {', '.join(cells.get(position, ()))}".rstrip()
