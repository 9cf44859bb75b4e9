"""UPDATE, DELETE and TRUNCATE: targets, clauses and the word IGNORE."""

import pytest

from pykudu_sql.planner.dml.target_rows import bind_rows, has_addresses, target_rows
from pykudu_sql.planner.dml.update import plan_delete, plan_truncate, plan_update
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.change_plans import ChangeQuery
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import DeleteQuery, KeyUpdate, NoOperation, UpdateQuery
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import Error, NotSupportedError, UndefinedTableError
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS


def test_the_target_may_be_an_alias_of_the_from_clause(context: PlanContext) -> None:
    updated = plan_update(
        SourceText("update x set a = 1 from u y join t x on x.id = y.id"), context
    )
    assert isinstance(updated, UpdateQuery)
    assert updated.table.name == "t"
    deleted = plan_delete(SourceText("delete x from u y join t x on x.id = y.id"), context)
    assert deleted.table.name == "t"


@pytest.mark.parametrize(
    ("sql", "first_name", "joined"),
    [
        ("delete from t where a = 1", ROW_ADDRESS.name, False),
        ("delete from t using u where u.id = t.id", ROW_ADDRESS.name, True),
        ("delete from t where exists (select t.* from u)", "id", False),
    ],
)
def test_rows_are_named_by_address_or_where_that_would_show_by_key(
    context: PlanContext, sql: str, first_name: str, joined: bool
) -> None:
    tree = parse(sql)
    rows = target_rows(tree, tree.this, tree.args.get("using") or [], context)
    assert (rows.table.name, rows.joined) == ("t", joined)
    assert has_addresses(rows, [], context) is (first_name == ROW_ADDRESS.name)
    assert bind_rows(rows, [], context).names[0] == first_name


def test_ignore_is_no_part_of_the_statement_unless_it_is_the_table(context: PlanContext) -> None:
    ignoring = plan_update(SourceText("update ignore t set a = b returning id"), context)
    assert isinstance(ignoring, ChangeQuery)
    assert [branch.kind for branch in ignoring.branches] == [RowOpKind.UPDATE_IGNORE]
    assert isinstance(
        plan_update(SourceText("update ignore t set a = 1 where id = 1"), context), KeyUpdate
    )
    with pytest.raises(UndefinedTableError, match="'ignore'"):
        plan_update(SourceText("update ignore set a = 1"), context)


def test_a_place_behind_ignore_is_that_of_the_text(context: PlanContext) -> None:
    text = "update ignore t set nope = 1"
    with pytest.raises(Error) as caught:
        plan_update(SourceText(text), context)
    assert caught.value.span is not None
    assert caught.value.span.start == text.index("nope")


@pytest.mark.parametrize(
    "sql",
    [
        "update t set s = repeat('c', 2000), a = b + 1 where b > 1",
        "update t set s = repeat('c', 2000), a = u.id + 1 from u where u.t_id = t.id",
    ],
)
def test_a_long_constant_is_no_column_of_the_query(context: PlanContext, sql: str) -> None:
    updated = plan_update(SourceText(sql), context)
    assert isinstance(updated, UpdateQuery)
    by_name = updated.table.schema.by_name
    assert updated.constants == ((by_name["s"].id, "c" * 2000),)
    assert updated.column_ids == (by_name["a"].id,)
    assert "ccc" not in updated.query.sql


def test_a_text_that_is_a_parameter_is_no_column_of_the_query(context: PlanContext) -> None:
    updated = plan_update(SourceText("update t set s = ?, a = ? where b = ?"), context)
    assert isinstance(updated, UpdateQuery)
    ((column_id, value),) = updated.constants
    assert isinstance(value, Parameter)
    assert (column_id, value.key) == (updated.table.schema.by_name["s"].id, 0)
    assert sorted(map(str, updated.parameters)) == ["0", "1", "2"]


@pytest.mark.parametrize(
    "sql",
    [
        "update t set s = 'c' where b > 1",
        "update t set s = s || repeat('c', 2000) where b > 1",
        "update t set s = ? where (select count(*) from (select t.*)) > 0",
    ],
)
def test_what_differs_or_is_short_or_goes_to_keys_is_computed_by_the_query(
    context: PlanContext, sql: str
) -> None:
    updated = plan_update(SourceText(sql), context)
    assert isinstance(updated, UpdateQuery)
    assert updated.constants == ()
    assert updated.column_ids == (updated.table.schema.by_name["s"].id,)


@pytest.mark.parametrize(
    "sql", ["update t set a = 1 order by b limit 1", "update t set a = 1 limit 1"]
)
def test_a_clause_that_is_not_offered_is_named(context: PlanContext, sql: str) -> None:
    with pytest.raises(NotSupportedError, match="in UPDATE is not supported") as caught:
        plan_update(SourceText(sql), context)
    assert "UPDATE .. WHERE k IN (SELECT k FROM t ORDER BY .." in str(caught.value.hint)
    span = caught.value.span
    assert span is not None
    assert sql[span.start : span.start + span.length] in {"order", "limit"}


def test_several_tables_are_not_deleted_from_at_once(context: PlanContext) -> None:
    with pytest.raises(NotSupportedError, match="several tables at once"):
        plan_delete(SourceText("delete t, u from t join u on t.id = u.id"), context)


def test_the_past_and_with_queries_are_not_written(context: PlanContext) -> None:
    with pytest.raises(NotSupportedError, match="a WITH query has the name"):
        plan_delete(SourceText("with t as (select 1 as id) delete from t"), context)
    with pytest.raises(Error):
        plan_update(SourceText("update t set a = 1"), context.within("default", 4711))


def test_truncate_deletes_all_rows_of_a_table_that_is_there(context: PlanContext) -> None:
    planned = plan_truncate(TokenStream("truncate T;"), context)
    assert isinstance(planned, DeleteQuery)
    assert planned.query.scans[0].predicate is None
    absent = plan_truncate(TokenStream("truncate table if exists nope"), context)
    assert isinstance(absent, NoOperation)
    with pytest.raises(UndefinedTableError):
        plan_truncate(TokenStream("truncate table nope"), context)
