"""A moment that somebody was told or has read never comes again with other rows."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.log.manifest_tail import ManifestTail
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.model import Key, Row, operations, read

HOUR = 3_600_000_000
BEGIN = 1_800_000_000_000_000
COLUMNS = [ColumnSchema(0, "id", DataType(Kind.INT64)), ColumnSchema(0, "n", DataType(Kind.INT64))]


@contextmanager
def opened(path: Path, micros: int = BEGIN, *, read_only: bool = False) -> Iterator[Store]:
    """A store whose wall clock stands still."""
    options = StoreOptions(durability="off", maintenance=False, wall=lambda: micros)
    store = (ReaderStore if read_only else Store)(LocalEnv(), str(path), options)
    try:
        if not read_only and "t" not in store.catalog.tables:
            store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
        yield store
    finally:
        store.close()


def write(store: Store, kind: RowOpKind, key: int, number: int) -> None:
    transaction = store.begin()
    row: Row = {0: key, 1: number}
    transaction.write(store.catalog.table("t"), operations(store.catalog.table("t"), kind, [row]))
    transaction.commit(durable=False)


def rows_at(store: Store, bound: int | None = None) -> dict[Key, Row]:
    return read(store.begin(), store.catalog.table("t"), bound)


def edits_of(path: Path) -> list[str]:
    manifest = ManifestTail.open(LocalEnv(), str(path))
    manifest.close()
    return [str(edit["op"]) for edit in manifest.edits]


def told(store: Store) -> int:
    return bound_at(store.pin())


def read_as_of_now(store: Store) -> int:
    bound = bound_at(store.now())
    store.wait_until_readable(bound)
    return bound


def snapshot_after_a_commit_without_effect(store: Store) -> int:
    write(store, RowOpKind.UPDATE_IGNORE, 77, 0)
    return store.begin().bound


@pytest.mark.parametrize("moment", [told, read_as_of_now, snapshot_after_a_commit_without_effect])
def test_a_moment_that_was_only_read_stays_what_it_was_after_a_kill_with_the_clock_set_back(
    tmp_path: Path, moment: Callable[[Store], int]
) -> None:
    with opened(tmp_path / "db") as store:
        write(store, RowOpKind.UPSERT, 1, 1)
    with opened(tmp_path / "db", BEGIN + HOUR) as store:
        bound = moment(store)
        shutil.copytree(tmp_path / "db", tmp_path / "killed")
    with opened(tmp_path / "killed", BEGIN - HOUR) as store:
        write(store, RowOpKind.UPSERT, 1, 2)
        store.wait_until_readable(bound)
        assert rows_at(store, bound) == {(1,): {0: 1, 1: 1}}
        assert rows_at(store) == {(1,): {0: 1, 1: 2}}


def test_moments_told_one_soon_after_another_cost_one_edit(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        for _ in range(100):
            store.wait_until_readable(bound_at(store.pin()))
        assert edits_of(tmp_path / "db").count("reserve") == 1


def test_the_clock_is_not_ahead_after_a_clean_close(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        before = store.pin()
    with opened(tmp_path / "db") as store:
        assert before < store.now() < before + 100


def test_the_reserve_outlives_a_manifest_written_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        moment = store.pin()
        manifest = ManifestTail.open(LocalEnv(), str(tmp_path / "db"))
        manifest.close()
    condensed = StoreState.of(manifest.edits, "written").condensed()
    assert StoreState.of(condensed, "written anew").reserved > moment


def test_a_database_that_is_only_opened_reserves_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "db"):
        pass
    with opened(tmp_path / "db") as store:
        assert rows_at(store) == {}
    assert "reserve" not in edits_of(tmp_path / "db")


def test_a_process_that_only_reads_goes_on_with_its_view_while_the_writer_tells_moments(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "db") as writer:
        write(writer, RowOpKind.UPSERT, 1, 1)
        with opened(tmp_path / "db", read_only=True) as reader:
            tablets = reader.tablets
            assert reader.pin() > 0
            writer.pin()
            write(writer, RowOpKind.UPSERT, 1, 2)
            reader.refresh()
            assert reader.tablets is tablets
            assert rows_at(reader) == {(1,): {0: 1, 1: 2}}
