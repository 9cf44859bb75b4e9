"""A store that reads beside one that writes, step by step in one process."""

import errno
import gc
import os
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DiskError, ReadOnlyError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env, FileLock, RandomAccessFile
from pykudu_sql.storage.fs.lease import NOTHING_READ, Lease, oldest_lease
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.fs.os_error import disk_error
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.record_log import ALIGNMENT, FILE_HEADER_BYTES
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_redo
from tests.storage.model import Key, Row, operations, read

OPTIONS = StoreOptions(threads=1, maintenance=False)
READING = StoreOptions(threads=1)
COLUMNS = [ColumnSchema(0, "id", DataType(Kind.INT64)), ColumnSchema(0, "n", DataType(Kind.INT64))]


def open_writer(env: Env, path: str) -> Store:
    store = Store(env, path, OPTIONS)
    if "t" not in store.catalog.tables:
        partitions = PartitionSchema((HashDimension((0,), 2),))
        store.create_table("t", create_schema(COLUMNS, ["id"]), partitions)
    return store


def write(store: Store, kind: RowOpKind, rows: list[Row]) -> None:
    transaction = store.begin()
    table = store.catalog.table("t")
    transaction.write(table, operations(table, kind, rows))
    transaction.commit(durable=False)


def upsert(store: Store, keys: range, number: int) -> None:
    write(store, RowOpKind.UPSERT, [{0: key, 1: number} for key in keys])


def bulk_insert(store: Store, first: int, rows: int) -> None:
    """Many rows at once go straight to files; the manifest commits them."""
    keys = pa.array(range(first, first + rows), pa.int64())
    transaction = store.begin()
    batch = RowOperations(RowOpKind.INSERT, {0: keys, 1: keys}, rows)
    transaction.write(store.catalog.table("t"), batch)
    transaction.commit(durable=False)


def seen(store: Store) -> dict[Key, Row]:
    return read(store.begin(), store.catalog.table("t"))


def compact(store: Store) -> None:
    for tablet in store.tablets.values():
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                compact_redo(tablet, rowset, store.committer.tablet_services)


STEPS = ["upsert", "delete", "bulk", "flush", "compact", "reopen", "alter", "condense", "look"]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 30)), max_size=25))
def test_a_refreshed_reader_sees_what_was_committed(
    steps: list[tuple[str, int]],
) -> None:
    env = MemoryEnv()
    writer = open_writer(env, "/db")
    reader = ReaderStore(env, "/db", READING)
    for number, (step, value) in enumerate(steps):
        match step:
            case "upsert":
                upsert(writer, range(value, value + 5), number)
            case "delete":
                write(writer, RowOpKind.DELETE_IGNORE, [{0: value}, {0: value + 3}])
            case "bulk":
                bulk_insert(writer, 10**6 * (number + 1), 50_000 if value < 4 else 5)
            case "flush":
                writer.flush()
            case "compact":
                compact(writer)
                writer.collect_files()
            case "reopen":
                writer.close()
                writer = open_writer(env, "/db")
            case "alter":
                comment = writer.catalog.table("t").name + str(number)
                writer.create_table(comment, create_schema(COLUMNS, ["id"]), PartitionSchema(()))
            case "condense":
                writer.close()
                manifest = Manifest.open(env, "/db")
                manifest.rewrite(manifest.edits)
                manifest.close()
                writer = open_writer(env, "/db")
            case "look":
                reader.refresh()
                assert seen(reader) == seen(writer)
                assert set(reader.catalog.tables) == set(writer.catalog.tables)
    reader.refresh()
    assert seen(reader) == seen(writer)
    reader.close()
    writer.close()


def go_at_last(store: Store, files: set[Path]) -> bool:
    """Whether files are unlinked: by this thread, or by the store's own, which collects too."""
    for _ in range(1000):
        gc.collect()
        store.collect_files()
        if not any(file.exists() for file in files):
            return True
        time.sleep(0.01)
    return False


def test_a_snapshot_of_a_reader_outlives_flushes_and_compactions(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    writer = open_writer(LocalEnv(), path)
    upsert(writer, range(100), 1)
    writer.flush()
    for number in (2, 3):
        upsert(writer, range(50), number)
        writer.flush()
    reader = ReaderStore(LocalEnv(), path, READING)
    table, old = reader.catalog.table("t"), reader.begin()
    replaced = set(tmp_path.rglob("*.redo"))
    assert replaced
    upsert(writer, range(100), 4)
    compact(writer)
    writer.flush()
    gc.collect()
    writer.collect_files()
    reader.refresh()
    assert {row[1] for row in seen(reader).values()} == {4}
    writer.collect_files()
    assert all(file.exists() for file in replaced)
    rows = read(old, table)
    assert [rows[(key,)][1] for key in (0, 49, 50, 99)] == [3, 3, 1, 1]
    del old
    assert go_at_last(writer, replaced)
    reader.close()
    assert os.listdir(f"{path}/leases") == []
    writer.close()


def test_orphans_wait_while_a_reader_is_there(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    writer = open_writer(LocalEnv(), path)
    upsert(writer, range(100), 1)
    writer.flush()
    upsert(writer, range(50), 2)
    writer.flush()
    reader = ReaderStore(LocalEnv(), path, READING)
    upsert(writer, range(50), 3)
    writer.flush()
    compact(writer)
    writer.close()
    open_writer(LocalEnv(), path).close()
    assert {row[1] for row in seen(reader).values()} == {1, 2}
    reader.close()
    before = len(list(tmp_path.rglob("*.redo")))
    open_writer(LocalEnv(), path).close()
    assert len(list(tmp_path.rglob("*.redo"))) < before


def test_a_bulk_commit_is_not_seen_without_the_commits_before_it(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    writer = open_writer(LocalEnv(), path)
    reader = ReaderStore(LocalEnv(), path, READING)
    upsert(writer, range(5), 1)
    bulk_insert(writer, 100, 60_000)
    upsert(writer, range(5, 10), 2)
    reader.refresh()
    assert len(seen(reader)) == 60_010
    reader.close()
    writer.close()


def test_a_reader_changes_nothing_but_its_lease(tmp_path: Path) -> None:
    path = tmp_path / "db"
    writer = open_writer(LocalEnv(), str(path))
    upsert(writer, range(10), 1)
    writer.flush()
    upsert(writer, range(10), 2)
    files = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    reader = ReaderStore(LocalEnv(), str(path), READING)
    assert len(seen(reader)) == 10
    for change in (
        lambda: upsert(reader, range(3), 3),
        reader.flush,
        lambda: reader.drop_table("t"),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    reader.close()
    assert {p: p.read_bytes() for p in path.rglob("*") if p.is_file()} == files
    writer.close()


def test_a_torn_record_at_the_end_of_the_log_is_passed_over_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "db"
    writer = open_writer(LocalEnv(), str(path))
    upsert(writer, range(10), 1)
    log = path / "wal/1.log"
    end = log.read_bytes().rstrip(b"\0")
    upsert(writer, range(10), 2)
    torn = log.read_bytes()
    cut = torn[: len(end) + 60] + bytes(len(torn) - len(end) - 60)
    log.write_bytes(cut)
    reader = ReaderStore(LocalEnv(), str(path), READING)
    assert {row[1] for row in seen(reader).values()} == {1}
    reader.close()
    assert log.read_bytes() == cut


class _Interrupted:
    """A file beside which something happens before much of it is read for the first time."""

    def __init__(self, file: RandomAccessFile, happens: Callable[[], None]) -> None:
        self._file = file
        self._happens = happens
        self.path = file.path
        self.size = file.size
        self.close = file.close

    def read(self, offset: int, length: int) -> bytes:
        if length > FILE_HEADER_BYTES:
            self._happens()
        return self._file.read(offset, length)

    def read_into(self, offset: int, memory: memoryview) -> None:
        self._happens()
        self._file.read_into(offset, memory)


class _Trimmed(LocalEnv):
    """Real files, and logs that lose the zeros behind their end just when they are read."""

    def open_random(self, path: str) -> RandomAccessFile:
        file = super().open_random(path)
        if not path.endswith(".log"):
            return file
        written = len(Path(path).read_bytes().rstrip(b"\0"))
        return _Interrupted(file, lambda: os.truncate(path, -(-written // ALIGNMENT) * ALIGNMENT))


def test_logs_that_are_trimmed_while_they_are_read_are_no_damage(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    writer = open_writer(LocalEnv(), path)
    upsert(writer, range(10), 7)
    reader = ReaderStore(_Trimmed(), path, READING)
    assert len(seen(reader)) == 10
    reader.close()
    writer.close()


class WithoutLeases(LocalEnv):
    """Files of a file system that takes no locks, as one that is mounted read-only."""

    def lock(self, path: str) -> FileLock:
        raise disk_error("lock", path, OSError(errno.EROFS, os.strerror(errno.EROFS)))


def test_a_reader_that_can_take_no_lease_reads_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "db"
    writer = open_writer(LocalEnv(), str(path))
    upsert(writer, range(10), 1)
    writer.close()
    reader = ReaderStore(WithoutLeases(), str(path), READING)
    assert len(seen(reader)) == 10
    assert not list((path / "leases").iterdir())
    reader.close()


@pytest.mark.parametrize("local", [True, False])
def test_a_lease_stands_for_its_position_until_it_is_released(tmp_path: Path, local: bool) -> None:
    env: Env = LocalEnv() if local else MemoryEnv()
    root = str(tmp_path / "db") if local else "/db"
    env.make_dir(root)
    with pytest.raises(DiskError, match="CURRENT"):
        Lease.take(env, root)
    env.create(layout.current_path(root), point="test").close()
    assert oldest_lease(env, root) is None
    first = Lease.take(env, root)
    assert oldest_lease(env, root) == NOTHING_READ
    first.move_to((7, 123))
    second = Lease.take(env, root)
    assert oldest_lease(env, root) == NOTHING_READ
    second.move_to((7, 9))
    assert oldest_lease(env, root) == (7, 9)
    second.move_to((8, 1))
    assert oldest_lease(env, root) == (7, 123)
    first.release()
    first.release()
    assert oldest_lease(env, root) == (8, 1)
    second.release()
    assert oldest_lease(env, root) is None
    assert env.list_dir(layout.leases_directory(root)) == []


def test_a_lease_that_nobody_holds_is_removed(tmp_path: Path) -> None:
    env, root = LocalEnv(), str(tmp_path)
    env.make_dir(layout.leases_directory(root))
    dead = tmp_path / "leases" / "00000000-0000-0000-0000-000000000000"
    dead.write_text("4711\nlong ago\nhost\nreads 1 1\n")
    assert oldest_lease(env, root) is None
    assert not dead.exists()
