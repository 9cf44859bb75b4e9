"""Text keys of groups become codes where nothing but keys and aggregates sees the groups."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.words.dictionary_grouping import coded_groups, mark_group_keys


def coded(sql: str, context: PlanContext) -> tuple[list[str], tuple[int, ...], str]:
    """The coded columns, which of them are shown, and the SQL over codes."""
    bound = bind(parse(sql), context)
    names = {reference: f"__scan_{i}" for i, reference in enumerate(bound.references)}
    columns = mark_group_keys(bound, names)
    groups = coded_groups(bound.tree, columns, 1)
    assert groups is not None
    return [f"{each.scan}.{each.column}" for each in columns], groups.decoded, groups.print()


def test_a_key_is_a_code_and_its_word_is_looked_up(context: PlanContext) -> None:
    columns, decoded, sql = coded("select s, count(*) as n from t group by s", context)
    assert (columns, decoded) == (["__scan_0.s"], (0,))
    assert 'LIST_EXTRACT($2, CAST("t"."__scan_code_3" AS INT) + 1) AS "s"' in sql
    assert sql.endswith('GROUP BY "t"."__scan_code_3"')


@pytest.mark.parametrize(
    "sql",
    [
        "select s as x from t group by x",
        "select s from t group by 1",
        "select upper(s) from t group by s",
        "select s from t group by s, a having s > 'x' order by s",
    ],
)
def test_a_key_may_be_named_numbered_and_computed_with(sql: str, context: PlanContext) -> None:
    columns, decoded, _ = coded(sql, context)
    assert (columns, decoded) == (["__scan_0.s"], (0,))


def test_all_stands_for_the_columns_beside_aggregates(context: PlanContext) -> None:
    sql = "select s as x, count(*), a, sum(b) + max(b) from t group by all order by x"
    columns, decoded, over_codes = coded(sql, context)
    assert (columns, decoded) == (["__scan_0.s"], (0,))
    assert 'GROUP BY "t"."__scan_code_3", 3 ORDER BY' in over_codes


@pytest.mark.parametrize(
    "sql",
    [
        "select s, a + 1, count(*) from t group by all",
        "select s, sum(sum(a)) over () from t group by all",
        "select s, (select max(a) from t) from t group by all",
        "select *, count(*) from t group by all",
        "select count(*) from t group by all",
    ],
)
def test_all_stays_where_it_may_stand_for_something_else(sql: str, context: PlanContext) -> None:
    bound = bind(parse(sql), context)
    names = {reference: f"__scan_{i}" for i, reference in enumerate(bound.references)}
    assert mark_group_keys(bound, names) == ()
    assert "GROUP BY ALL" in bound.tree.sql()


@pytest.mark.parametrize(
    "sql",
    [
        "select upper(s) from t group by upper(s) having upper(s) > 'x' order by upper(s)",
        "select upper(s) as u, count(*) from t group by u order by u",
        "select upper(t.s) as s, max(s) from t group by 1",
        "select u from (select upper(s) as u from t group by u) as g",
        "select upper(s) || '!', max(upper(s)) from t group by upper(s)",
        "select upper(s) as u, count(*) from t group by all",
    ],
)
def test_a_key_may_be_a_function_of_a_text(sql: str, context: PlanContext) -> None:
    columns, decoded, over_codes = coded(sql, context)
    assert (columns, decoded) == (["__scan_0.s"], (0,))
    assert 'GROUP BY "t"."__scan_code_3_0"' in over_codes


@pytest.mark.parametrize(
    "sql",
    [
        "select upper(t.s), count(*) from t group by upper(s)",
        "select upper(t.s) from t left join t as u on t.id = u.id group by upper(t.s)",
        "select s || a from t group by s || a",
        "select s || random() from t group by 1",
        "select upper(s) || lower(s) from t group by upper(s), lower(s)",
    ],
)
def test_a_function_of_a_text_stays_where_its_values_may_be_others(
    sql: str, context: PlanContext
) -> None:
    bound = bind(parse(sql), context)
    names = {reference: f"__scan_{i}" for i, reference in enumerate(bound.references)}
    assert mark_group_keys(bound, names) == ()


def test_a_function_that_a_later_pass_replaces_has_no_codes(context: PlanContext) -> None:
    bound = bind(parse("select upper(s), count(*) from t group by 1"), context)
    columns = mark_group_keys(bound, dict.fromkeys(bound.references, "__scan_0"))
    for node in list(bound.tree.find_all(exp.Upper)):
        node.replace(exp.Lower(this=node.this))
    assert columns
    assert coded_groups(bound.tree, columns, 0) is None


def test_what_an_aggregate_gathers_stays_a_text(context: PlanContext) -> None:
    columns, decoded, sql = coded("select max(s), count(*) from t group by s", context)
    assert (columns, decoded) == (["__scan_0.s"], ())
    assert 'MAX("s")' in sql


@pytest.mark.parametrize(
    "sql",
    [
        "select a from t group by a",
        "select s from t group by rollup (s)",
        "select distinct s from t group by s",
        "select s, row_number() over () from t group by s",
        "select s, (select 1) from t group by s",
        "select s from t",
    ],
)
def test_other_groups_have_no_codes(sql: str, context: PlanContext) -> None:
    assert coded(sql, context)[0] == []


def test_a_column_of_two_groups_is_coded_once(context: PlanContext) -> None:
    sql = "select s from t group by s union all select name from u group by name"
    assert coded(sql, context)[0] == ["__scan_0.s", "__scan_1.name"]
    twice = "select s from (select s from t group by s) x group by s"
    assert coded(twice, context)[0] == ["__scan_0.s"]


def test_keys_of_one_group_over_one_table_may_share_a_code(context: PlanContext) -> None:
    bound = bind(
        parse("select name, note, count(*) as n from u group by note, name, t_id"), context
    )
    columns = mark_group_keys(bound, {reference: "__scan_0" for reference in bound.references})
    groups = coded_groups(bound.tree, columns, 0)
    joint = None if groups is None else groups.print_joint
    assert joint is not None
    (code,) = {name for name in ("__scan_code_2", "__scan_code_3") if name in joint()}
    assert joint().endswith(f'GROUP BY "u"."{code}", "t_id"')


@pytest.mark.parametrize(
    "sql",
    [
        "select s from t group by s",
        "select s from t group by s union all select name from u group by name",
        "select name from t join u on t.a = u.t_id group by s, name",
        "select x.name from u x join u y on x.id = y.t_id group by x.name, y.note",
    ],
)
def test_keys_of_other_groups_or_tables_do_not(sql: str, context: PlanContext) -> None:
    bound = bind(parse(sql), context)
    columns = mark_group_keys(bound, {each: f"__of_{each.table.name}" for each in bound.references})
    groups = coded_groups(bound.tree, columns, 0)
    assert columns and groups is not None and groups.print_joint is None
