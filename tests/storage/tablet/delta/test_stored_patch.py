"""Cells of large texts stay in their delta file, and read as those in memory do."""

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.container import FileIdentity
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    ColumnPatch,
    DeltaCells,
    Deltas,
    between,
    winners,
)
from pykudu_sql.storage.tablet.delta.delta_view import FilePart
from pykudu_sql.storage.tablet.delta.deltafile import REDO, DeltaFile, write_delta_file
from pykudu_sql.storage.tablet.delta.stored_patch import StoredPatch

TYPES = {1: DataType(Kind.STRING), 2: DataType(Kind.INT64)}
COUNT = 300


def changes(width: int) -> Deltas:
    """Two changes of every second row of 300: a text each, and a number in each first one."""
    letters = np.random.default_rng(1).integers(97, 123, COUNT * width, np.uint8).tobytes()
    texts = [letters[n * width : (n + 1) * width].decode() for n in range(COUNT)]
    everything = np.arange(COUNT, dtype=np.int64)
    cells = {
        1: DeltaCells(everything, pa.array(texts)),
        2: DeltaCells(everything[::2], pa.array(everything[::2])),
    }
    times = np.tile(np.array([5, 6], np.uint64), COUNT // 2)
    return Deltas(everything // 2 * 2, times, np.zeros(COUNT, np.uint8), cells)


def file_of(deltas: Deltas) -> DeltaFile:
    env, identity = MemoryEnv(), FileIdentity(bytes(16), "tablet", REDO, 1)
    meta = write_delta_file(env, "/1", identity, deltas, TYPES)
    return DeltaFile(env, "/1", identity, meta, 2 * COUNT, BlockCache(1 << 20))


def same(one: ColumnPatch | None, other: ColumnPatch | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool((one.ordinals == other.ordinals).all()) and one.values.equals(other.values)


@pytest.mark.parametrize("bound", [6, 7])
def test_parts_of_a_stored_patch_are_those_of_one_in_memory(bound: int) -> None:
    deltas = changes(4_000)
    (stored,) = FilePart(file_of(deltas), bound).layers(1)
    held = winners(deltas, 1, deltas.timestamps < np.uint64(bound))
    assert isinstance(stored, StoredPatch) and held is not None
    assert stored.values.equals(held.values)
    for start, stop in [(0, 600), (0, 1), (7, 8), (6, 31), (250, 299), (400, 500)]:
        assert same(stored.between(start, stop), held.between(start, stop))
    for ordinals in [[0], [9, 4, 2], [298, 0, 150], [1, 3]]:
        wanted = np.array(ordinals, np.int64)
        assert same(stored.at_ordinals(wanted), held.at_ordinals(wanted))


def test_small_texts_and_numbers_are_read_and_kept_together() -> None:
    file = file_of(changes(400))
    assert not file.has_wide
    assert all(isinstance(FilePart(file, 7).layers(i)[0], ColumnPatch) for i in TYPES)


@pytest.mark.parametrize(("rows", "is_wide"), [(100, True), (3, False)])
def test_large_texts_in_codes_of_a_dictionary_count_as_the_texts(rows: int, is_wide: bool) -> None:
    texts = pa.array(["c" * 30_000] * rows)
    file = file_of(
        Deltas(
            np.arange(rows, dtype=np.int64),
            np.full(rows, 3, np.uint64),
            np.full(rows, DeltaKind.UPDATE, np.uint8),
            {1: DeltaCells(np.arange(rows, dtype=np.int64), texts)},
        )
    )
    assert file.meta.size < 64 * 1024
    assert file.cell_bytes(1) >= 30_000 * rows
    assert file.has_wide is is_wide


@pytest.mark.parametrize("width", [400, 4_000])
def test_the_changes_of_some_rows_are_those_of_all_cut(width: int) -> None:
    deltas = changes(width)
    file = file_of(deltas)
    for start, stop in [(0, 600), (2, 3), (3, 4), (100, 222)]:
        read, cut = file.rows_between(start, stop, {1, 2}), between(deltas, start, stop)
        assert read.ordinals.tolist() == cut.ordinals.tolist()
        assert read.timestamps.tolist() == cut.timestamps.tolist()
        assert read.cells.keys() == cut.cells.keys()
        for column_id, cells in cut.cells.items():
            assert read.cells[column_id].positions.tolist() == cells.positions.tolist()
            assert read.cells[column_id].values.equals(cells.values)


def test_one_row_is_looked_up_without_the_cells_of_others() -> None:
    file = file_of(changes(4_000))
    change = file.outcome_of(298, 7, (1, 2), TYPES)
    texts = changes(4_000).cells[1].values
    assert change is not None
    assert change.cells == {1: texts[299].as_py(), 2: 298}
    assert change.kind is DeltaKind.UPDATE
    earlier = file.outcome_of(298, 6, (1, 2), TYPES)
    assert earlier is not None and earlier.cells == {1: texts[298].as_py(), 2: 298}
