"""DURABLE that is older than log and manifest: no reader misses what was acknowledged."""

import contextlib
import errno
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.log.durable_mark import read_durable
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store
from tests.storage.fault_env import Fail, FaultAction, FaultEnv, FaultPoint
from tests.storage.model_disk import Left, ModelDisk
from tests.storage.recovery.test_database_reader import OPTIONS, READING, open_writer, seen


def insert(store: Store, keys: range) -> None:
    for key in keys:
        store.write_row(store.catalog.table("t"), RowOpKind.INSERT, {0: key, 1: key})


def keys_beside(env: Env, path: str) -> list[object]:
    """What a process sees that opens the database for reading."""
    with contextlib.closing(ReaderStore(env, path, READING)) as reader:
        return sorted(row[0] for row in seen(reader).values())


class RefusedNotes:
    """Real files, of which DURABLE can be neither written nor removed while `refuses` is set."""

    def __init__(self) -> None:
        self.env = FaultEnv(LocalEnv(), self._before)
        self.refuses = False

    def _before(self, point: FaultPoint) -> FaultAction:
        refused = self.refuses and point.point.startswith("durable.")
        return Fail(errno.EIO) if refused else None


def _insert_and_be_killed(path: str) -> None:
    disk = RefusedNotes()
    store = Store(disk.env, path, OPTIONS)
    disk.refuses = True
    insert(store, range(1, 4))
    os.kill(os.getpid(), signal.SIGKILL)


def kill_unnoted_writer(path: str) -> None:
    """A database with keys 0 to 3, of which the writer was killed and only key 0 was noted."""
    with contextlib.closing(open_writer(LocalEnv(), path)) as writer:
        insert(writer, range(1))
    process = multiprocessing.get_context("spawn").Process(
        target=_insert_and_be_killed, args=(path,)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def test_an_older_durable_put_back_after_a_close_hides_nothing(tmp_path: Path) -> None:
    path, mark = str(tmp_path / "db"), tmp_path / "db/DURABLE"
    with contextlib.closing(open_writer(LocalEnv(), path)) as store:
        insert(store, range(1))
    older = mark.read_bytes()
    with contextlib.closing(open_writer(LocalEnv(), path)) as store:
        insert(store, range(1, 3))
        store.flush()
        insert(store, range(3, 4))
    mark.write_bytes(older)
    assert keys_beside(LocalEnv(), path) == [0, 1, 2, 3]
    check = DatabaseCheck(LocalEnv(), path, quick=False)
    assert list(check.run()) == []
    assert check.tally.rows == 4


def test_a_reader_beside_an_opening_sees_what_an_earlier_writer_could_not_note(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "db")
    kill_unnoted_writer(path)
    beside: list[list[object]] = []

    def look(_: FaultPoint) -> FaultAction:
        beside.append(keys_beside(LocalEnv(), path))
        return None

    Store(FaultEnv(LocalEnv(), look), path, OPTIONS).close()
    assert beside and all(keys == [0, 1, 2, 3] for keys in beside)


def test_a_reader_that_opened_beside_an_opening_goes_no_further_than_the_writer_notes(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "db")
    with contextlib.closing(open_writer(LocalEnv(), path)) as writer:
        insert(writer, range(1))
    readers: list[Store] = []
    beside: list[int] = []

    def look(point: FaultPoint) -> FaultAction:
        if not readers:
            readers.append(ReaderStore(LocalEnv(), path, READING))
        if point.point == "wal.sync":
            readers[0].refresh()
            beside.append(len(seen(readers[0])))
        return None

    with contextlib.closing(Store(FaultEnv(LocalEnv(), look), path, OPTIONS)) as writer:
        insert(writer, range(1, 2))
        readers[0].refresh()
        assert (beside, len(seen(readers[0]))) == ([1], 2)
        readers[0].close()
        readers[:] = [ReaderStore(LocalEnv(), path, READING)]
    readers[0].close()


def test_an_older_durable_beside_a_writer_hides_nothing_that_the_logs_confirm(
    tmp_path: Path,
) -> None:
    path, mark = str(tmp_path / "db"), tmp_path / "db/DURABLE"
    with contextlib.closing(open_writer(LocalEnv(), path)) as store:
        insert(store, range(1))
        older = mark.read_bytes()
        insert(store, range(1, 3))
        store.flush()  # the manifest names what the log has
        insert(store, range(3, 6))  # each record names those before it
        newest = mark.read_bytes()
        mark.write_bytes(older)
        assert keys_beside(LocalEnv(), path)[:5] == [0, 1, 2, 3, 4]
        mark.write_bytes(newest)


def test_readers_see_what_a_killed_writer_could_not_note(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    kill_unnoted_writer(path)
    assert keys_beside(LocalEnv(), path) == [0, 1, 2, 3]
    with contextlib.closing(open_writer(LocalEnv(), path)) as writer:
        assert len(seen(writer)) == 4


@pytest.mark.parametrize("looks_first", [True, False])
def test_a_reader_that_follows_sees_what_was_not_noted_once_the_writer_is_gone(
    tmp_path: Path, looks_first: bool
) -> None:
    path = str(tmp_path / "db")
    disk = RefusedNotes()
    writer = open_writer(disk.env, path)
    insert(writer, range(1))
    reader = ReaderStore(LocalEnv(), path, READING)
    disk.refuses = True
    insert(writer, range(1, 4))
    if looks_first:
        reader.refresh()
        assert {row[0] for row in seen(reader).values()} >= {0}
    with contextlib.suppress(Exception):
        writer.close()
    reader.refresh()
    assert len(seen(reader)) == 4
    reader.close()


def test_maintenance_notes_again_after_the_disk_is_well(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    disk = RefusedNotes()
    with contextlib.closing(open_writer(disk.env, path)) as writer:
        disk.refuses = True
        insert(writer, range(3))
        disk.refuses = False
        writer.maintenance.wake()
        assert keys_beside(LocalEnv(), path) == [0, 1, 2]


def test_a_writer_notes_again_when_it_reads_after_the_disk_is_well(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    disk = RefusedNotes()
    with contextlib.closing(open_writer(disk.env, path)) as writer:
        disk.refuses = True
        insert(writer, range(3))
        disk.refuses = False
        assert len(seen(writer)) == 3
        assert keys_beside(LocalEnv(), path) == [0, 1, 2]


def test_a_power_loss_after_a_close_leaves_durable_as_the_close_left_it() -> None:
    disk = ModelDisk(1 << 60)
    for keys in (range(3), range(3, 5)):
        with contextlib.closing(open_writer(disk.env, "/db")) as store:
            insert(store, keys)
        note = read_durable(disk.env, "/db")
        assert note is not None
        assert read_durable(disk.after_restart(Left.NONE), "/db") == note
