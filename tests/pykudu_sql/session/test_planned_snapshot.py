"""A statement runs at a snapshot whose tables it was planned for, or is planned again."""

import contextlib
from collections.abc import Iterator

import pytest

from pykudu_sql.session.planned_snapshot import MAX_PLANS, PlannedSnapshot
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.errors import TableChangedError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store
from tests.storage.transaction.test_new_table import open_store
from tests.storage.transaction.test_replaced_table import replace_table


@pytest.fixture
def store() -> Iterator[Store]:
    with contextlib.closing(open_store(MemoryEnv())) as opened:
        yield opened


def test_a_transaction_begins_under_the_catalog_of_the_plan_only(store: Store) -> None:
    snapshot = PlannedSnapshot(store, StatementTime())
    snapshot.planned_under = store.catalog
    snapshot.begin().rollback()
    replace_table(store, range(1))
    with pytest.raises(TableChangedError):
        snapshot.begin()
    snapshot.clear()
    snapshot.begin().rollback()


def test_a_statement_that_runs_again_has_its_snapshot_before_it_is_planned(store: Store) -> None:
    snapshot = PlannedSnapshot(store, StatementTime())

    def planned_beside_a_change() -> str:
        assert snapshot.begun_before is not None
        snapshot.planned_under = snapshot.begun_before.catalog
        replace_table(store, range(1))
        snapshot.begin().rollback()
        return "ran"

    assert snapshot.run_again(planned_beside_a_change) == "ran"


def test_a_statement_that_loses_every_race_is_planned_a_bounded_number_of_times(
    store: Store,
) -> None:
    snapshot = PlannedSnapshot(store, StatementTime())
    plans = 1

    def lose() -> None:
        nonlocal plans
        plans += 1
        snapshot.begin().rollback()
        raise TableChangedError("changed")

    with pytest.raises(TableChangedError):
        snapshot.run_again(lose)
    assert plans == MAX_PLANS
