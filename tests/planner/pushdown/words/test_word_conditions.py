"""Which conditions words may decide, and the query that asks words for them."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.pushdown.words.word_conditions import (
    mark_word_conditions,
    word_conditions,
)


def conditions(sql: str, context: PlanContext) -> list[tuple[int, str]]:
    """The columns of a statement that words may decide about, and what they are asked."""
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    return [(each.column_id, each.over_words().sql) for each in planned.word_conditions]


def asked(where: str, context: PlanContext) -> list[str]:
    return [sql for _, sql in conditions(f"SELECT a FROM t WHERE {where}", context)]


@pytest.mark.parametrize(
    ("where", "condition"),
    [
        ("upper(s) = 'X'", "UPPER(\"word\") = 'X'"),
        ("s ILIKE '%x' AND a > 1 AND s <> 'x'", "\"word\" ILIKE '%x'"),
        ("a > 1 AND (s || s LIKE 'x%')", '("word" || "word" LIKE \'x%\')'),
        ("upper(s) = 'X' OR s IS NULL", 'UPPER("word") = \'X\' OR "word" IS NULL'),
        ("length(s) > 3 AND lower(s) = 'x'", 'LENGTH("word") > 3 AND LOWER("word") = \'x\''),
        ("CASE WHEN s = 'x' THEN true ELSE s IS NULL END", None),
        ("s || 'a' = 'ba'", "\"word\" || 'a' = 'ba'"),
    ],
)
def test_all_conditions_of_a_column_are_asked_together(
    where: str, condition: str | None, context: PlanContext
) -> None:
    (sql,) = asked(where, context)
    assert sql.startswith("SELECT ") and sql.endswith(' FROM "__scan_words"')
    assert condition is None or sql == f'SELECT {condition} FROM "__scan_words"'


@pytest.mark.parametrize(
    "where",
    [
        "s = 'x'",  # a predicate of the scan says it
        "s LIKE 'x%'",
        "s IS NULL",
        "a <> 1",
        "s <> 'x'",  # as a rule most rows are left
        "(NOT upper(s) = 'X')",
        "s NOT LIKE 'x%'",
        "upper(s) = s || a",
        "upper(s) = (SELECT max(name) FROM u)",
        "s || random() = 'x'",
        "upper(s) = 'X' OR a > 1",
        "s IN (SELECT name FROM u)",
    ],
)
def test_other_conditions_are_left_as_they_are(where: str, context: PlanContext) -> None:
    assert asked(where, context) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT u.t_id FROM u LEFT JOIN t ON t.id = u.t_id WHERE coalesce(t.s, 'x') = 'x'",
        "SELECT x.a FROM t AS x, t AS y WHERE upper(x.s) = 'X' AND x.id = y.id",
        "SELECT a FROM t GROUP BY a HAVING upper(max(s)) = 'X'",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE upper(t.s) = 'X')",
    ],
)
def test_a_scan_is_filtered_only_where_all_its_rows_must_meet_the_condition(
    sql: str, context: PlanContext
) -> None:
    assert conditions(sql, context) == []


def test_each_table_of_a_join_and_of_a_subquery_has_its_own(context: PlanContext) -> None:
    sql = (
        "SELECT t.a FROM t JOIN u ON t.id = u.t_id WHERE upper(t.s) = 'X' AND lower(u.name) = 'y'"
        " AND t.a IN (SELECT a FROM t AS z WHERE length(z.s) = 3)"
    )
    assert len(conditions(sql, context)) == 3


def test_parameters_of_a_condition_are_numbered_anew(context: PlanContext) -> None:
    sql = "SELECT a + ? FROM t WHERE a < ? AND lower(s) = ? AND length(s) < ? AND s LIKE ?"
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    (condition,) = planned.word_conditions
    part = condition.over_words()
    assert sorted(part.parameters, key=str) == [2, 3, 4]
    assert [part.sql.count(f"${number}") for number in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_a_condition_that_a_pass_has_replaced_is_asked_no_more(context: PlanContext) -> None:
    bound = bind(parse("SELECT a FROM t WHERE upper(s) = 'X' AND length(s) < 3"), context)
    (reference,) = bound.references
    (column,) = mark_word_conditions(bound, {reference: "__scan_0"}, context)
    assert (column.scan, column.column.name) == ("__scan_0", "s")
    query = Query("", bound.tree, (), (), ("a",))
    (both,) = word_conditions(query, [column])
    assert both.over_words().sql.count("word") == 3
    where = bound.tree.args["where"].this
    where.this.replace(parse("SELECT a = 1 FROM t").expressions[0])
    (one,) = word_conditions(query, [column])
    assert "UPPER" not in one.over_words().sql and "LENGTH" in one.over_words().sql
    where.replace(parse("SELECT true").expressions[0])
    assert word_conditions(query, [column]) == ()


def test_the_query_around_an_early_subquery_has_the_conditions_of_its_own_scans(
    context: PlanContext,
) -> None:
    planned = plan(
        "SELECT id FROM t WHERE length(s) > 3 AND id IN"
        " (SELECT max(t_id) FROM u WHERE lower(name) = 'x' GROUP BY name)",
        context,
    )
    assert isinstance(planned, Query) and planned.early is not None
    around = planned.early.around()
    assert {each.scan for each in planned.word_conditions} == {"__scan_0", "__scan_1"}
    assert {each.scan for each in around.word_conditions} == {each.name for each in around.scans}
