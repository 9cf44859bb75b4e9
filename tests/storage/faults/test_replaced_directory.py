"""A writer whose directory is removed, moved or replaced writes nothing into what stands there."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DirectoryReplacedError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions

SCHEMA = create_schema([ColumnSchema(0, "id", DataType(Kind.INT64))], ["id"])
OPTIONS = StoreOptions(threads=1, maintenance=False, log_segment_bytes=4096)


def open_store(path: Path) -> Store:
    return Store(LocalEnv(), str(path), OPTIONS)


def insert(store: Store, first: int, durable: bool = True) -> None:
    transaction = store.begin()
    columns = {0: pa.array(range(first, first + 10), pa.int64())}
    transaction.write(store.catalog.table("t"), RowOperations(RowOpKind.INSERT, columns, 10))
    transaction.commit(durable)


def insert_one(store: Store) -> None:
    store.write_row(store.catalog.table("t"), RowOpKind.INSERT, {0: 1000})


def fill_log(store: Store) -> None:
    for first in range(2000, 4000, 10):
        insert(store, first, durable=False)


def made(path: Path) -> Store:
    """A store with rows on disk and in the log, and with files that wait to be unlinked."""
    store = open_store(path)
    store.create_table("t", SCHEMA, PartitionSchema())
    for first in (0, 100):
        insert(store, first)
        store.flush()
    rowsets = [tablet.components.tree.rowsets for tablet in store.tablets.values()]
    store.optimize("t", full=True)
    insert(store, 200)
    del rowsets
    return store


def remove(path: Path) -> None:
    shutil.rmtree(path)


def remake(path: Path) -> None:
    shutil.rmtree(path)
    made(path).close()


def move_and_remake(path: Path) -> None:
    path.rename(path.parent / "moved")
    made(path).close()


def restore(path: Path) -> None:
    shutil.copytree(path, path.parent / "backup")
    shutil.rmtree(path)
    shutil.copytree(path.parent / "backup", path)


def remove_lock(path: Path) -> None:
    (path / "LOCK").unlink()


def remake_lock(path: Path) -> None:
    (path / "LOCK").unlink()
    (path / "LOCK").write_bytes(b"")


FATES = [remove, remake, move_and_remake, restore, remove_lock, remake_lock]
ACTIONS: dict[str, Callable[[Store], object]] = {
    "row": insert_one,
    "rows": lambda store: insert(store, 300),
    "undurable rows": lambda store: insert(store, 300, durable=False),
    "new segment": fill_log,
    "flush": Store.flush,
    "optimize": lambda store: store.optimize("t", full=True),
    "collect": Store.collect_files,
    "vacuum": Store.vacuum,
    "create": lambda store: store.create_table("u", SCHEMA, PartitionSchema()),
    "drop": lambda store: store.drop_table("t"),
}
# What a moved directory takes with it; the rest names a path.
IN_OPEN_FILES = ("row", "rows", "undurable rows", "drop")


def contents(path: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in path.rglob("*") if p.is_file()}


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_writer_leaves_alone_what_is_in_the_place_of_its_directory(
    tmp_path: Path, fate: Callable[[Path], None], action: str
) -> None:
    path = tmp_path / "db"
    with contextlib.closing(made(path)) as store:
        fate(path)
        before = contents(path)
        goes_on = fate is move_and_remake and action in IN_OPEN_FILES
        refusal = pytest.raises(DirectoryReplacedError, match="was removed, or another")
        with contextlib.nullcontext() if goes_on else refusal as caught:
            ACTIONS[action](store)
        if caught is not None:
            assert caught.value.sqlstate == "58P01" and str(path) in caught.value.message
        assert contents(path) == before
    assert contents(path) == before


def move(path: Path) -> None:
    path.rename(path.parent / "moved")


def move_and_make(path: Path) -> None:
    move(path)
    path.mkdir()


@pytest.mark.parametrize("fate", [remove, move, move_and_make])
def test_a_reader_makes_nothing_in_the_place_of_its_directory(
    tmp_path: Path, fate: Callable[[Path], None]
) -> None:
    path = tmp_path / "db"
    made(path).close()
    with contextlib.closing(ReaderStore(LocalEnv(), str(path), OPTIONS)) as store:
        fate(path)
        before = sorted(tmp_path.rglob("*"))
        for _ in range(2):
            with pytest.raises(DirectoryReplacedError, match="was removed, or another") as caught:
                store.refresh()
            assert caught.value.sqlstate == "58P01" and str(path) in caught.value.message
        assert store.take_lease() is None
        assert sorted(tmp_path.rglob("*")) == before
