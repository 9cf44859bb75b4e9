"""INSERT, UPDATE and DELETE: which plan a statement becomes, and with which values."""

import datetime as dt
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.dml.values import read_values
from pykudu_sql.planner.operands.value import Parameter, bind_value
from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.plan import (
    ChangeQuery,
    DeleteQuery,
    InsertQuery,
    InsertValues,
    KeyChange,
    KeyDelete,
    KeyLookup,
    KeyUpdate,
    Plan,
    Query,
    UpdateQuery,
    scans_of,
)
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import Error, InterfaceError

DAY = (dt.date(2026, 1, 1) - dt.date(1970, 1, 1)).days


def values(sql: str, context: PlanContext) -> InsertValues:
    planned = plan(sql, context)
    assert isinstance(planned, InsertValues)
    return planned


def test_values_become_columns_of_cells(context: PlanContext) -> None:
    planned = values(
        "insert into events values ('a', 1, 1.5, 2.345, '2026-01-01', '2026-01-01 00:00:01'),"
        " ('it''s', +2, -1e3, -5, date '2026-01-02', null)",
        context,
    )
    assert planned.columns == (
        ("a", "it's"),
        (1, 2),
        (1.5, -1000.0),
        (235, -500),
        (DAY, DAY + 1),
        ((DAY * 86_400 + 1) * 1_000_000, None),
    )
    assert (planned.rows, planned.kind) == (2, RowOpKind.INSERT)
    assert planned.parameters == ()


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("insert into t (id) values (1)", RowOpKind.INSERT),
        ("insert into table t (id) values (1);", RowOpKind.INSERT),
        ("insert or ignore into t (id) values (1)", RowOpKind.INSERT_IGNORE),
        ("insert ignore into t (id) values (1)", RowOpKind.INSERT_IGNORE),
        ("insert into t (id) values (1) on conflict do nothing", RowOpKind.INSERT_IGNORE),
        ("insert into t (id) values (1) on conflict (id) do nothing;", RowOpKind.INSERT_IGNORE),
        ("upsert into t (id) values (1)", RowOpKind.UPSERT),
        ("insert or replace into t (id) values (1)", RowOpKind.UPSERT),
        ("replace into t (id) values (1)", RowOpKind.UPSERT),
    ],
)
def test_the_head_says_the_operation(context: PlanContext, sql: str, kind: RowOpKind) -> None:
    assert values(sql, context).kind is kind


def test_a_string_that_looks_like_a_clause_is_a_value(context: PlanContext) -> None:
    planned = values("insert into t (id, s) values (1, 'on conflict do nothing')", context)
    assert planned.kind is RowOpKind.INSERT
    assert planned.columns[1] == ("on conflict do nothing",)


def test_replace_resets_the_columns_it_leaves_out_and_upsert_keeps_them(
    context: PlanContext,
) -> None:
    assert len(values("replace into t (id, a) values (1, 2)", context).column_ids) == 6
    assert values("upsert into t (id, a) values (1, 2)", context).column_ids == (0, 1)


def test_parameters_keep_their_column_and_place(context: PlanContext) -> None:
    planned = values("insert into t (id, s) values (?, ?), (?, 'x')", context)
    assert planned.parameters == (0, 1, 2)
    first, second = planned.columns[0]
    assert isinstance(first, Parameter)
    assert isinstance(second, Parameter)
    assert (first.key, second.key, first.column) == (0, 2, "id")
    assert bind_value(first, (7,)) == 7
    named = values("insert into t (id, s) values (:id, :text)", context)
    assert named.parameters == ("id", "text")


def test_a_missing_parameter_and_an_unfit_value_are_named(context: PlanContext) -> None:
    value = values("insert into t (id, a) values (1, ?)", context).columns[1][0]
    with pytest.raises(InterfaceError, match="parameter number 1"):
        bind_value(value, ())
    with pytest.raises(Error, match="column 'a': cannot read 'x' as INT"):
        bind_value(value, ("x",))


def test_expressions_are_computed_while_planning(context: PlanContext) -> None:
    planned = values(
        "insert into t (id, a, s) values (1 + 1, default, upper('x') || 'y'), (3, abs(-4), null)",
        context,
    )
    assert planned.columns == ((2, 3), (None, 4), ("Xy", None))
    assert planned.cacheable
    assert not values("insert into events (host, at, ts) values ('a', 1, now())", context).cacheable


@pytest.mark.parametrize(
    "sql",
    [
        "insert into t (id, a) values (1, (select max(a) from t))",
        "insert into t (id, d) values (1, random())",
        "insert into t (id, a) values (1, ? + 1)",
        "insert into t (id, a) select id, t_id from u where id > 5",
        "insert into t (id, a) with c as (select id, t_id from u) select * from c",
        "insert into t (id, a) (select id, t_id from u)",
        "insert into t select * from t",
    ],
)
def test_rows_that_only_the_engine_knows_become_a_query(context: PlanContext, sql: str) -> None:
    assert isinstance(plan(sql, context), InsertQuery)


PLANS: list[tuple[str, type[Plan]]] = [
    ("select * from t where id = 5", KeyLookup),
    ("select s x, t.a from t where 5 = t.id limit 1", KeyLookup),
    ("select value from events where at = ? and host = 'a'", KeyLookup),
    ("select day, * from logs where day = 5", Query),
    ("select msg from logs where day = 5 and auto_incrementing_id = 1", KeyLookup),
    ("select * from t for system_time as of now() where id = 5", KeyLookup),
    ("select a from t where id = 5 and a = 1", KeyLookup),
    ("select a from t where id = 5 or id = 6", Query),
    ("select a from t where id = 5 and id = 6", KeyLookup),
    ("select a + 1 from t where id = 5", Query),
    ("select count(*) from t where id = 5", Query),
    ("select a from t where id = 5 limit 0", Query),
    ("select distinct a from t where id = 5", Query),
    ("select a from t where id = 5.5", Query),
    ("select a from t where id = null", Query),
    ("select a from t where id > 5", Query),
    ("select a from t where id = b", Query),
    ("select t.a from t, u where t.id = 5", Query),
    ("update t set a = 5 where id = 3", KeyUpdate),
    ("update t set a = ?, s = 'x', b = default where id = ?", KeyUpdate),
    ("update t set a = 1 + 1 where id = :id", KeyUpdate),
    ("update t set a = a + 1 where id = 3", KeyChange),
    ("update t set a = 5 where id = 3 and s = 'x'", KeyChange),
    ("update t set a = 5 where id = 3 returning *", KeyChange),
    ("update t set a = 5 where id = 3 returning a + 1", ChangeQuery),
    ("update t set a = abs(a) where id = 3", UpdateQuery),
    ("update t set a = abs(a) where id = 3 returning a", ChangeQuery),
    ("delete from t where id = 5 and a > ?", KeyChange),
    ("delete from t where id = 5 returning t.s as old", KeyChange),
    ("delete from t where id > 5 returning s", ChangeQuery),
    ("update t set a = 5", UpdateQuery),
    ("update t set a = u.id from u where u.t_id = t.id", UpdateQuery),
    ("update x set x.a = y.id from t x join u y on x.id = y.t_id", UpdateQuery),
    ("with c as (select 1 as one) update t set a = (select one from c)", UpdateQuery),
    ("delete from t where id = 5", KeyDelete),
    ("delete from events where host = ? and at = 5", KeyDelete),
    ("delete from t where id > 5", DeleteQuery),
    ("delete t where a = 1", DeleteQuery),
    ("delete from t", DeleteQuery),
    ("truncate table t", DeleteQuery),
    ("delete from t using u where t.id = u.id", DeleteQuery),
    ("delete x from t x join u y on x.id = y.id", DeleteQuery),
]


@pytest.mark.parametrize(("sql", "kind"), PLANS)
def test_statements_by_key_skip_the_engine(
    context: PlanContext, sql: str, kind: type[Plan]
) -> None:
    assert type(plan(sql, context)) is kind


def test_a_key_comes_in_key_order(context: PlanContext) -> None:
    planned = plan("select value from events where at = ? and host = 'a'", context)
    assert isinstance(planned, KeyLookup)
    assert planned.key[0] == "a"
    assert isinstance(planned.key[1], Parameter)
    assert planned.outputs == (("value", 2),)


def test_update_by_query_selects_where_rows_are_and_new_values(context: PlanContext) -> None:
    planned = plan(
        "update events set value = value * 2, day = '2026-01-01' where amount > 5", context
    )
    assert isinstance(planned, UpdateQuery)
    assert planned.column_ids == (2, 4)
    assert planned.query.sql == (
        'SELECT "events"."__row_address", "value" * 2, CAST(\'2026-01-01\' AS DATE) '
        'FROM "__scan_0" AS "events" WHERE "amount" > 5'
    )


def test_update_from_takes_each_row_once(context: PlanContext) -> None:
    planned = plan("update t set a = u.id from u where u.t_id = t.id", context)
    assert isinstance(planned, UpdateQuery)
    assert planned.query.sql.startswith('SELECT DISTINCT ON ("t"."__row_address")')


ADDRESSED = [
    ("update t set a = a + 1", True),
    ("update t set a = a + 1 where exists (select * from u where u.id = t.id)", True),
    ("update t set a = (select count(*) from t)", True),
    ("update x set x.a = y.id from t x join u y on x.id = y.t_id", True),
    ("delete from t where a = 1", True),
    ("delete from t using u where t.id = u.id", True),
    ("truncate table t", True),
    # A subquery that shows all of the target, and would show the addresses too.
    ("update t set a = 1 where (select count(*) from (select t.*)) > 0", False),
    ("update t set a = sum(b) over ()", True),
    # Statements that need the keys.
    ("update t set a = b returning id", False),
    ("delete from t where a = 1 returning id", False),
    ("insert into t (id, a) select id, t_id from u", False),
]


@pytest.mark.parametrize(("sql", "addressed"), ADDRESSED)
def test_rows_are_known_by_their_places_where_nothing_shows_these(
    context: PlanContext, sql: str, addressed: bool
) -> None:
    assert any(scan.addressed for scan in scans_of(plan(sql, context))) is addressed


def test_rows_are_known_by_their_keys_while_row_errors_are_collected(context: PlanContext) -> None:
    collecting = replace(context, settings=PlanSettings(collects_row_errors=True))
    planned = plan("update t set a = a + 1", collecting)
    assert isinstance(planned, UpdateQuery)
    assert not planned.by_address
    assert planned.query.sql.startswith('SELECT "t"."id", ')


def test_a_star_over_the_target_elsewhere_shows_no_addresses(context: PlanContext) -> None:
    planned = plan("update t set a = (select max(id) from (select * from t) v)", context)
    assert [scan.addressed for scan in scans_of(planned)] == [True, False]


def test_parameters_come_in_the_order_of_the_text(context: PlanContext) -> None:
    planned = plan("update t set a = ?, b = ? where id = ?", context)
    assert isinstance(planned, KeyUpdate)
    assert planned.parameters == (0, 1, 2)
    first = planned.key[0]
    assert isinstance(first, Parameter)
    assert first.key == 2


_CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=8),
    st.binary(max_size=4),
)


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return quote_string(value) if isinstance(value, str) else str(value)


@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[_CELLS] * n), min_size=1, max_size=6))
)
def test_values_read_back_what_was_written(rows: list[tuple[object, ...]]) -> None:
    text = "values " + ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    found = read_values(SourceText(text, len("values")))
    assert found is not None
    assert list(zip(*found.columns, strict=True)) == rows
    assert [text[offset] for offset in found.offsets] == ["("] * len(rows)


@pytest.mark.parametrize(
    "text",
    [
        "values (1 + 1)",
        "values (a)",
        "values (1) on",
        "values (1",
        "values 1",
        "values ()",
        "values (1,)",
        "values (now())",
        "values (1) (2)",
        "values ('a' 'b')",
        "values (1e)",
        "values (1_0)",
    ],
)
def test_the_quick_reader_gives_up_on_what_it_does_not_know(text: str) -> None:
    assert read_values(SourceText(text, len("values"))) is None
