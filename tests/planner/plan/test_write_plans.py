"""What the plans of writes know of themselves: parameters, row addresses, whether to be kept."""

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import DeleteQuery, InsertQuery, UpdateQuery
from pykudu_sql.planner.plan.write_plans import KeyDelete, KeyUpdate
from pykudu_sql.planner.planner import plan


def test_rows_to_change_come_by_address_and_rows_to_insert_never(context: PlanContext) -> None:
    for sql in ("update t set a = b", "delete from t where a > 1"):
        written = plan(sql, context)
        assert isinstance(written, UpdateQuery | DeleteQuery)
        assert written.by_address
    inserted = plan("insert into t (id) select id from u", context)
    assert isinstance(inserted, InsertQuery)
    assert not inserted.by_address


def test_a_write_needs_the_parameters_of_its_query(context: PlanContext) -> None:
    updated = plan("update t set a = :x where b > :y", context)
    assert isinstance(updated, UpdateQuery)
    assert sorted(map(str, updated.parameters)) == ["x", "y"]
    assert updated.parameters == updated.query.parameters


def test_a_write_of_the_moment_is_not_kept(context: PlanContext) -> None:
    volatile = plan("delete from events where ts < now()", context)
    lasting = plan("delete from events where ts < '2026-01-01'", context)
    assert isinstance(volatile, DeleteQuery)
    assert isinstance(lasting, DeleteQuery)
    assert (volatile.cacheable, lasting.cacheable) == (False, True)


def test_a_write_of_one_key_is_planned_as_a_query_too(context: PlanContext) -> None:
    updated = plan("update t set a = 1 where id = ?", context)
    assert isinstance(updated, KeyUpdate)
    assert isinstance(updated.general(), UpdateQuery)
    deleted = plan("delete from t where id = ?", context)
    assert isinstance(deleted, KeyDelete)
    assert isinstance(deleted.general(), DeleteQuery)
    assert deleted == plan("delete from t where id = ?", context)
