"""A flush of deltas: a fresh store takes over, the old one becomes REDO files, nothing changes."""

from pykudu_sql.storage.common.types.hybrid_time import NOTHING
from pykudu_sql.storage.tablet.files.delta_flush import begin_flush, finish_flush, write_stores
from pykudu_sql.storage.tablet.files.staged_files import staging
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from tests.storage.small_store import SmallStore


def rows_on_disk() -> SmallStore:
    small = SmallStore()
    small.upsert({key: key for key in range(10)})
    small.store.flush()
    return small


def values(small: SmallStore, rowset: DiskRowSet) -> list[object]:
    (block,) = rowset.scan(
        small.table.schema.columns[1:], None, small.store.begin().bound, None, stats=None
    )
    cells: list[object] = block.columns[0].to_pylist()
    return cells


def test_a_rowset_without_changes_in_memory_stays_as_it_is() -> None:
    small = rows_on_disk()
    assert begin_flush(small.rowset, small.tablet.types) is small.rowset


def test_changes_meanwhile_go_to_a_fresh_store_and_the_old_ones_stay_visible() -> None:
    small = rows_on_disk()
    small.upsert({3: 30})
    rowset = begin_flush(small.rowset, small.tablet.types)
    assert rowset.tracker.memory.id == small.rowset.tracker.memory.id + 1
    assert len(rowset.tracker.memory) == 0
    assert [len(store) for store in rowset.tracker.flushing] == [1]
    assert values(small, rowset)[3] == 30


def test_the_files_have_what_the_stores_had() -> None:
    small = rows_on_disk()
    small.upsert({3: 30})
    small.upsert({3: 31, 5: 50})
    before = values(small, small.rowset)
    rowset = begin_flush(small.rowset, small.tablet.types)
    with staging(small.tablet.files) as staged:
        meta = write_stores(small.tablet.files, rowset, small.tablet.types, NOTHING, staged)
        small.tablet.files.publish(staged, "flush")
        flushed = finish_flush(small.tablet.files, rowset, meta)
    assert meta.durable_delta_store == small.rowset.tracker.memory.id
    assert len(meta.redo) == 1
    assert not flushed.tracker.flushing
    assert values(small, flushed) == before
