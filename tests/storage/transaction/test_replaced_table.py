"""A table that takes the place of another one: readers see the old or the new, whatever happens."""

import contextlib
import itertools

import pytest

from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import DuplicateObjectError, TableChangedError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store
from tests.storage.model_disk import Left, ModelDisk, PowerLoss
from tests.storage.transaction.test_new_table import ROOT, described, inserts, keys, open_store


def replace_table(store: Store, rows: range) -> int:
    """Put a table with these rows in the place of what is there; returns the commit's time."""
    transaction = store.begin()
    made = transaction.create_table(described(), replaces=True)
    if rows:
        transaction.write(made, inserts(rows))
    moment = transaction.commit(durable=True)
    assert moment is not None
    return moment


def test_the_old_table_is_seen_before_and_can_be_brought_back() -> None:
    env = MemoryEnv()
    with contextlib.closing(open_store(env)) as store:
        replace_table(store, range(3))
        moment = replace_table(store, range(5, 9))
        assert keys(store) == [5, 6, 7, 8]
        assert set(store.catalog_at(moment).tables) == {"made"}
        old, new = store.catalog_at(moment).table("made"), store.catalog.table("made")
        assert old.id != new.id
        assert [dropped.table.id for dropped in store.definitions.dropped_tables()] == [old.id]
    with contextlib.closing(open_store(env)) as store:
        assert keys(store) == [5, 6, 7, 8]
        assert store.catalog_at(moment).table("made").id == old.id
        store.definitions.undrop_table("made", "old")
        store.drop_table("made")
        store.definitions.undrop_table("made", None)
        assert keys(store) == [5, 6, 7, 8]
    assert list(DatabaseCheck(env, ROOT, quick=False).run()) == []


def test_the_state_is_the_same_after_the_manifest_was_rewritten() -> None:
    with contextlib.closing(open_store(MemoryEnv())) as store:
        replace_table(store, range(3))
        moment = replace_table(store, range(0))
        state = store._services.state
        again = StoreState.of(state.condensed(), "m.log")
        assert again.history.latest.tables == state.history.latest.tables
        assert again.history.at(moment).tables == state.history.at(moment).tables


def test_a_transaction_that_wrote_to_the_old_table_does_not_commit() -> None:
    with contextlib.closing(open_store(MemoryEnv())) as store:
        replace_table(store, range(3))
        late = store.begin()
        late.write(store.catalog.table("made"), inserts(range(10, 12)))
        replace_table(store, range(1))
        with pytest.raises(TableChangedError):
            late.commit(durable=True)
        assert keys(store) == [0]


def test_of_two_replacements_the_later_one_replaces_the_earlier() -> None:
    with contextlib.closing(open_store(MemoryEnv())) as store:
        first, second = store.begin(), store.begin()
        for transaction, rows in ((first, range(2)), (second, range(7, 9))):
            transaction.write(transaction.create_table(described(), replaces=True), inserts(rows))
        first.commit(durable=True)
        second.commit(durable=True)
        assert keys(store) == [7, 8]
        plain = store.begin()
        with pytest.raises(DuplicateObjectError):
            plain.create_table(described())


def check_old_or_new(env: Env, *, acknowledged: bool, what: str) -> None:
    with contextlib.closing(open_store(env)) as store:
        if not store.catalog.tables:
            assert not acknowledged, what
        else:
            found = keys(store)
            assert found == [5, 6, 7] or (not acknowledged and found in ([], [0, 1])), what
            store.write_row(store.catalog.table("made"), RowOpKind.INSERT, {0: 99, 1: 0})
    assert list(DatabaseCheck(env, ROOT, quick=False).run()) == [], what


@pytest.mark.parametrize("left", Left)
def test_power_loss_at_any_moment_leaves_the_old_table_or_the_new(left: Left) -> None:
    for moment in itertools.count(1):
        disk, acknowledged = ModelDisk(moment), False
        try:
            with contextlib.closing(open_store(disk.env)) as store:
                replace_table(store, range(2))
                replace_table(store, range(5, 8))
                acknowledged = True
        except PowerLoss:
            env = disk.after_restart(left)
            check_old_or_new(env, acknowledged=acknowledged, what=f"call {moment}")
        else:
            break
    assert moment > 10
