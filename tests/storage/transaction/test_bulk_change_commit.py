"""The commit of a large UPDATE or DELETE: it can be broken off while it waits, and by any kill."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import QueryCancelledError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.recovery.orphans import find_orphans
from pykudu_sql.storage.store import Store
from tests.storage.addressing import addresses, write_rows
from tests.storage.model_disk import Left, ModelDisk, PowerLoss, copy_of
from tests.storage.transaction.test_bulk_change import (
    CHANGES,
    CHUNK,
    OPTIONS,
    ROWS,
    change_all,
    files_of,
    make,
    now,
    table_of,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(LocalEnv(), str(tmp_path / "db"), OPTIONS)) as store:
        make(store)
        yield store


def test_a_commit_that_waits_for_maintenance_can_be_cancelled_and_leaves_nothing(
    store: Store, tmp_path: Path
) -> None:
    before, files = now(store), files_of(tmp_path)
    transaction = store.begin()
    change_all(transaction, store, 7)

    def cancel() -> None:
        raise QueryCancelledError("enough")

    with next(iter(store.tablets.values())).maintenance_lock, pytest.raises(QueryCancelledError):
        transaction.commit(durable=True, cancel_check=cancel)
    assert files_of(tmp_path) == files
    assert now(store) == before
    transaction = store.begin()
    change_all(transaction, store, 7)
    transaction.commit(durable=True, cancel_check=cancel)
    assert now(store) == CHANGES["update"]


def test_ctrl_c_ends_the_wait_of_a_commit_for_maintenance(store: Store, tmp_path: Path) -> None:
    before, files = now(store), files_of(tmp_path)
    transaction = store.begin()
    change_all(transaction, store, 7)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with (
            next(iter(store.tablets.values())).maintenance_lock,
            pytest.raises(KeyboardInterrupt),
        ):
            press = partial(signal.raise_signal, signal.SIGINT)
            transaction.commit(durable=True, cancel_check=press)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert not any(tablet.maintenance_lock.locked() for tablet in store.tablets.values())
    assert files_of(tmp_path) == files
    assert now(store) == before


@pytest.mark.parametrize("left", [*Left, "killed"])
def test_a_commit_that_ends_at_any_call_of_the_disk_is_whole_or_leaves_nothing(
    left: Left | str,
) -> None:
    begun = MemoryEnv()
    with closing(Store(begun, "/db", OPTIONS)) as store:
        make(store)
        before = now(store)
    for call in count(1):
        disk = ModelDisk(call, copy_of(begun))
        ended = False
        with ExitStack() as threads, suppress(PowerLoss):
            store = Store(disk.env, "/db", OPTIONS)
            threads.callback(store.maintenance.stop)  # nobody closes it, and it would run for ever
            transaction = store.begin()
            transaction.write_row(table_of(store), RowOpKind.UPDATE, {0: 1, 1: 1})
            change_all(transaction, store, 7)
            transaction.commit(durable=True)
            ended = True
        found = disk.after_restart(left) if isinstance(left, Left) else copy_of(disk.cache)
        with closing(Store(found, "/db", OPTIONS)) as again:
            rows, services = now(again), again._services
            assert rows in ([] if ended else [before]) + [CHANGES["update"]], call
            orphans = find_orphans(found, "/db", again.tablets, services.state.tablets)
            assert list(orphans) == [], call
            assert not found.list_dir("/db/tmp"), call
        if ended:
            break
    assert call > 20


def test_changes_of_rows_that_were_in_memory_bring_no_files_that_maintenance_could_lose(
    store: Store,
) -> None:
    transaction = store.begin()
    known = addresses(transaction, table_of(store))
    in_memory = range(2 * ROWS // 3, ROWS)
    changed = {key: {1: -7} for key in in_memory}
    assert write_rows(transaction, table_of(store), known, changed, CHUNK) == len(in_memory)
    store.flush()
    tablets = list(store.tablets.values())
    files = [rowset.meta.redo for each in tablets for rowset in each.components.tree.rowsets]
    with ExitStack() as locks:  # as a flush or compaction has them that began before
        for tablet in tablets:
            locks.enter_context(tablet.maintenance_lock)
        transaction.commit(durable=True)
    after = [rowset.meta.redo for each in tablets for rowset in each.components.tree.rowsets]
    assert after == files
    assert {key: n for key, n in now(store).items() if n == -7} == dict.fromkeys(in_memory, -7)
