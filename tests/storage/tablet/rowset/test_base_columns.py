"""Columns of a rowset as a snapshot sees them, and the blocks that a scan looked at."""

import numpy as np

from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.tablet.rowset.base_columns import BaseColumns
from tests.storage.small_store import SmallStore


def changed() -> tuple[SmallStore, int]:
    """Ten rows on disk, one of them changed since; and the time before the change."""
    small = SmallStore()
    before = small.upsert({key: key for key in range(10)})
    small.store.flush()
    small.upsert({4: 400})
    return small, before


def columns(
    small: SmallStore, time: int | None = None, stats: ScanStats | None = None
) -> BaseColumns:
    rowset = small.rowset
    bound = small.store.begin().bound if time is None else bound_at(time)
    return BaseColumns(
        rowset.base,
        rowset.view(bound, None),
        is_cached=time is None,
        cache_blocks=True,
        stats=stats,
    )


def test_a_stretch_has_the_changes_that_the_snapshot_sees() -> None:
    small, before = changed()
    value = small.table.schema.columns[1]
    assert columns(small).read(value, 3, 6).to_pylist() == [3, 400, 5]
    assert columns(small, before).read(value, 3, 6).to_pylist() == [3, 4, 5]


def test_single_rows_are_patched_like_a_stretch() -> None:
    small, _ = changed()
    value = small.table.schema.columns[1]
    rows = np.array([0, 4, 9], np.int64)
    assert columns(small).take(value, rows).to_pylist() == [0, 400, 9]
    columns(small).read(value, 0, 10)  # patched whole it is cached, and read from there
    assert columns(small).take(value, rows).to_pylist() == [0, 400, 9]
    assert columns(small).read(value, 4, 5).to_pylist() == [400]


def test_a_column_patched_whole_is_patched_anew_after_the_next_change() -> None:
    small, _ = changed()
    value = small.table.schema.columns[1]
    columns(small).read(value, 0, 10)
    small.upsert({4: 401, 5: 500})
    assert columns(small).read(value, 0, 10).to_pylist()[4:6] == [401, 500]


def test_blocks_that_nothing_looked_at_count_as_skipped() -> None:
    small, _ = changed()
    key, value = small.table.schema.columns
    stats = ScanStats()
    source = columns(small, stats=stats)
    source.read(value, 0, 10)
    source.count_blocks([key, value])
    assert (stats.blocks, stats.blocks_skipped) == (2, 1)
