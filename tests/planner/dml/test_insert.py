"""INSERT: its head, its columns, and the reader its rows take."""

import pytest

from pykudu_sql.planner.dml.insert import Insert, plan_insert
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import InsertQuery, InsertValues
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import Error, NotNullError, NotSupportedError


def insert(sql: str, context: PlanContext) -> Insert:
    return plan_insert(TokenStream(sql), context)


def test_columns_by_name_come_in_the_order_of_the_query(context: PlanContext) -> None:
    planned = insert("insert into t by name select 'x' as S, 1 as id", context)
    assert isinstance(planned, InsertQuery)
    assert planned.column_ids == (3, 0)
    with pytest.raises(Error, match="'nope'"):
        insert("insert into t by name select 1 as id, 2 as nope", context)


def test_default_values_are_one_row_of_defaults_if_each_column_has_one(
    context: PlanContext,
) -> None:
    with pytest.raises(NotNullError, match="'id'"):
        insert("insert into t default values", context)


def test_plain_values_need_no_engine_and_random_ones_do(context: PlanContext) -> None:
    plain = insert("insert into t (id, a) values (1, 2), (3, default)", context)
    assert isinstance(plain, InsertValues)
    assert (plain.rows, plain.columns) == (2, ((1, 3), (2, None)))
    assert isinstance(insert("insert into t (id, d) values (1, random())", context), InsertQuery)


def test_rows_of_a_table_that_numbers_them_are_not_upserted_without_the_number(
    context: PlanContext,
) -> None:
    with pytest.raises(NotNullError, match="its primary key is not unique"):
        insert("upsert into logs values (1, 'x')", context)
    replaced = insert("replace into logs values (1, 'x')", context)
    assert isinstance(replaced, InsertValues)
    assert replaced.kind is RowOpKind.INSERT
    numbered = insert("upsert into logs (day, auto_incrementing_id) values (1, 7)", context)
    assert isinstance(numbered, InsertValues)
    assert numbered.kind is RowOpKind.UPSERT


@pytest.mark.parametrize(
    ("sql", "sqlstate", "message"),
    [
        ("insert into t values (1, 2)", "42601", "2 values where table 't' has 6 columns"),
        (
            "insert into t (id) values (1), (2, 3)",
            "42601",
            "this row has 2 values where the first has 1",
        ),
        ("insert into t (id, a) select 1", "42601", "where the list of columns has 2"),
        ("insert into t (a) values (1)", "23502", "key column 'id'"),
        ("insert into t (id, id) values (1, 1)", "42701", "given twice"),
        ("upsert into t (id) values (1) on conflict do nothing", "42601", "plain INSERT"),
    ],
)
def test_rows_that_do_not_fit_their_columns_are_refused(
    context: PlanContext, sql: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(Error, match=message) as caught:
        insert(sql, context)
    assert caught.value.sqlstate == sqlstate


@pytest.mark.parametrize(
    "words", ["insert or fail into", "insert or rollback into", "insert overwrite"]
)
def test_what_others_offer_and_this_does_not_is_said_with_a_way_out(
    context: PlanContext, words: str
) -> None:
    with pytest.raises(NotSupportedError) as caught:
        insert(f"{words} t (id) values (1)", context)
    assert caught.value.hint
