"""A reader whose writer goes on after the manifest was read, and before the log is."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import RandomAccessFile
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store_options import StoreOptions
from pykudu_sql.storage.upkeep.on_demand import optimize_table
from tests.storage.fault_env import FaultAction, FaultEnv, FaultPoint
from tests.storage.recovery.test_database_reader import bulk_insert, open_writer, seen, upsert


class Meanwhile(LocalEnv):
    """Real files, and a writer that goes on between a reader's manifest and its log."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self.log = layout.wal_directory(root)
        self.steps: list[Callable[[], None]] = []

    def open_random(self, path: str) -> RandomAccessFile:
        if self.steps and path.startswith(self.log):
            self.steps.pop(0)()
        return super().open_random(path)


@pytest.mark.parametrize("is_merged", [False, True], ids=["flushed", "merged"])
def test_a_commit_to_rows_that_move_meanwhile_is_seen_whole_or_not_at_all(
    tmp_path: Path, is_merged: bool
) -> None:
    path = str(tmp_path / "db")
    writer = open_writer(LocalEnv(), path)
    upsert(writer, range(10), 1)
    if is_merged:
        writer.flush()
        upsert(writer, range(10, 20), 1)

    def move_and_change() -> None:
        """One commit changes rows that have just moved, and adds one."""
        writer.flush()
        if is_merged:
            table = writer.catalog.table("t")
            optimize_table(writer.maintenance, table, writer.tablets, lambda: None)
        upsert(writer, range(101), len(seen(writer)))

    env = Meanwhile(path)
    env.steps = [move_and_change]
    reader = ReaderStore(env, path, StoreOptions(threads=1))
    for _ in range(3):
        env.steps = [move_and_change]
        rows = seen(reader)
        assert len({row[1] for row in rows.values()}) == 1, rows
        reader.refresh()
    env.steps = []
    reader.refresh()
    assert seen(reader) == seen(writer)
    reader.close()
    writer.close()


def test_a_rowset_that_is_named_after_others_of_higher_ids_is_not_taken_for_one_that_is_gone(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "db")
    written, go_on = threading.Event(), threading.Event()
    flushed: list[str] = []

    def wait_in_the_second_tablet(point: FaultPoint) -> FaultAction:
        if point.point == "base.write.sync" and threading.current_thread() is flushing:
            flushed.append(point.path)
            if len(flushed) == 2:
                written.set()
                go_on.wait()
        return None

    writer = open_writer(FaultEnv(LocalEnv(), wait_in_the_second_tablet), path)
    upsert(writer, range(10), 1)
    flushing = threading.Thread(target=writer.flush)
    flushing.start()
    written.wait()
    bulk_insert(writer, 10**6, 60_000)

    def name_and_change() -> None:
        go_on.set()
        flushing.join()
        upsert(writer, range(10), 2)

    env = Meanwhile(path)
    env.steps = [name_and_change]
    reader = ReaderStore(env, path, StoreOptions(threads=1))
    rows = seen(reader)
    assert len({rows[(key,)][1] for key in range(10)}) == 1
    reader.refresh()
    assert seen(reader) == seen(writer)
    reader.close()
    writer.close()
