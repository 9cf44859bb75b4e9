"""RETURNING: what is shown, and which columns that needs."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.dml.returning import ReturnedRows, read_returning
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import Error


def returned(items: str, context: PlanContext, tables: str = "t, u") -> ReturnedRows:
    select = parse(f"SELECT 1 FROM {tables}")
    assert isinstance(select, exp.Select)
    target = next(node for node in select.find_all(exp.Table) if node.name == "t")
    before = select.copy()
    rows = read_returning(parse(f"SELECT {items}").expressions, select, target, context)
    assert select == before
    return rows


def test_columns_of_the_target_are_read_as_written_and_others_carried(
    context: PlanContext,
) -> None:
    rows = returned("s, t.a + 1 AS Next, u.name, s", context)
    assert rows.query.names == ("s", "next", "name", "s")
    assert rows.column_ids == [3, 1]
    assert [column.name for column in rows.source_columns] == ["name"]
    assert rows.query.sql == 'SELECT "c3", "c1" + 1, "s0", "c3" FROM "__written"'


def test_a_star_shows_the_target_first_and_leaves_out_what_it_excludes(
    context: PlanContext,
) -> None:
    rows = returned("* EXCLUDE (d, flag)", context, "u, t")
    assert rows.query.names == ("id", "a", "b", "s", "id", "t_id", "name", "note")
    assert returned("u.*", context).column_ids == []


def test_inserted_rows_were_not_there_before(context: PlanContext) -> None:
    alone = returned("id, a", context, "t").alone()
    assert (alone.column_ids, alone.before, alone.source_columns) == ((0, 1), (), ())


@pytest.mark.parametrize(
    ("items", "sqlstate", "message"),
    [
        ("(SELECT 1)", "0A000", "a subquery in RETURNING"),
        ("sum(a)", "42803", "an aggregate function is not allowed"),
        ("row_number() OVER ()", "42803", "a window function is not allowed"),
        ("nope", "42703", "'nope'"),
        ("id", "42702", "'id' is ambiguous"),
        ("v.id", "42P01", "v"),
        ("* REPLACE (1 AS a)", "0A000", "RETURNING . takes EXCLUDE"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    context: PlanContext, items: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(Error, match=message) as caught:
        returned(items, context)
    assert caught.value.sqlstate == sqlstate
