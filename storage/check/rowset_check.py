"""Checking one DiskRowSet: keys, bloom filter, indexes, deltas and their statistics."""

from collections.abc import Iterator

import numpy as np

from pykudu_sql.storage.cfile.key_index import INTERVAL
from pykudu_sql.storage.check.finding import FROM_BACKUP, Finding
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Deltas, stats
from pykudu_sql.storage.tablet.delta.deltafile import UNDO, DeltaFile
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet


def check_base(rowset: DiskRowSet) -> Iterator[Finding]:
    """Check the base image of a rowset against its key structures and its metadata."""
    meta, base = rowset.meta, rowset.base
    keys = base.keys()
    path = base.path
    if len(keys) != meta.rows:
        yield Finding(path, f"has {len(keys)} keys, the manifest says {meta.rows}", FROM_BACKUP)
        return
    in_order = np.arange(len(keys), dtype=np.int64)
    if not keys.is_sorted():
        yield Finding(path, "its keys are not sorted", FROM_BACKUP)
    elif len(keys.duplicates(in_order)):
        yield Finding(path, "a key stands in it twice", FROM_BACKUP)
    if (keys.at(0), keys.at(len(keys) - 1)) != (meta.min_key, meta.max_key):
        yield Finding(path, "its keys are not those between which the manifest says", FROM_BACKUP)
    missing = np.flatnonzero(~base.bloom.may_contain(keys.hash64()))
    if len(missing):
        problem = f"its bloom filter lacks {len(missing)} keys, first that of row {missing[0]}"
        yield Finding(path, problem, FROM_BACKUP)
    yield from _check_key_index(rowset, keys)
    yield from _check_skip_indexes(rowset)
    absent = [i for i in meta.column_ids if base.cfile(i) is None]
    if absent:
        problem = f"the manifest says that it has column {absent[0]}, and it has not"
        yield Finding(path, problem, FROM_BACKUP)


def _check_key_index(rowset: DiskRowSet, keys: EncodedKeys) -> Iterator[Finding]:
    index = rowset.base.key_index
    for ordinal in {*range(0, len(keys), INTERVAL), len(keys) - 1}:
        start, stop = index.find_range(keys.at(ordinal))
        if not start <= ordinal < stop:
            problem = f"its key index does not lead to the key of row {ordinal}"
            yield Finding(rowset.base.path, problem, FROM_BACKUP)
            return


def _check_skip_indexes(rowset: DiskRowSet) -> Iterator[Finding]:
    for column_id in rowset.meta.column_ids:
        cfile, index = rowset.base.cfile(column_id), rowset.base.skip_index(column_id)
        missing = 0 if cfile is None or index is None else index.missing(cfile.read_all())
        if missing:
            problem = f"its skip index lacks {missing} values of column {column_id}"
            yield Finding(rowset.base.path, problem, FROM_BACKUP)


def check_deltas(file: DeltaFile) -> Iterator[Finding]:
    """Check the records of a delta file, and that its statistics are right."""
    deltas, meta, path = file.deltas(), file.meta, file.path
    if stats(deltas) != meta.stats:
        yield Finding(
            path, "its statistics in the manifest are not those of its records", FROM_BACKUP
        )
    same_row = deltas.ordinals[1:] == deltas.ordinals[:-1]
    earlier, later = deltas.timestamps[:-1], deltas.timestamps[1:]
    if meta.kind == UNDO:
        earlier, later = later, earlier
    wrong = np.flatnonzero(same_row & (earlier > later))
    if len(wrong):
        problem = f"the records of row {deltas.ordinals[wrong[0]]} are not in the order of time"
        yield Finding(path, problem, FROM_BACKUP)
    if meta.kind != UNDO:
        yield from _check_redo(path, deltas)


def _check_redo(path: str, deltas: Deltas) -> Iterator[Finding]:
    if bool((deltas.kinds == DeltaKind.REINSERT).any()):
        yield Finding(path, "a REDO record inserts a row again", FROM_BACKUP)
    deleted = deltas.kinds[:-1] == DeltaKind.DELETE
    after = np.flatnonzero(deleted & (deltas.ordinals[1:] == deltas.ordinals[:-1]))
    if len(after):
        problem = f"row {deltas.ordinals[after[0]]} is changed after its deletion"
        yield Finding(path, problem, FROM_BACKUP)


def check_live_rows(rowset: DiskRowSet) -> Iterator[Finding]:
    """Compare the number of live rows with the statistics of the REDO files."""
    meta = rowset.meta
    alive = rowset.tracker.file_view(EVERYTHING).alive(meta.rows)
    living = meta.rows if alive is None else int(np.count_nonzero(alive))
    if living != meta.live_rows:
        problem = f"{living} of its rows live, by the statistics {meta.live_rows}"
        yield Finding(rowset.base.path, problem, FROM_BACKUP)
