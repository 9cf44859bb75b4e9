"""Which columns of a query are filtered in what it reads."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import columns_of
from pykudu_sql.planner.bind.lineage import ambiguous_names, is_cut, or_null, sealed, united
from pykudu_sql.planner.bind.relations import OutputColumn
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext


def columns(sql: str, context: PlanContext) -> tuple[OutputColumn, ...]:
    tree = parse(sql)
    bind(tree, context)
    return columns_of(tree)


def lineage(sql: str, context: PlanContext) -> list[list[str]]:
    """The columns of relations that each column of a query is; "?" in a SELECT where it is none."""
    return [
        ["?" if b.relation is None else f"{b.relation.alias}.{b.name}" for b in column.branches]
        for column in columns(sql, context)
    ]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select a, a + 1, (b) as x from t", [["t.a"], ["?"], ["t.b"]]),
        ("select * from u", [["u.id"], ["u.t_id"], ["u.name"], ["u.note"]]),
        ("select a from t limit 5", [["?"]]),
        ("select distinct a from t", [["t.a"]]),
        ("select distinct on (a) a from t", [["?"]]),
        ("select a, count(*) from t group by a", [["t.a"], ["?"]]),
        ("select a as x, count(*) from t group by 1", [["t.a"], ["?"]]),
        ("select a as x, count(*) from t group by x", [["t.a"], ["?"]]),
        ("select a, b, count(*) from t group by all", [["t.a"], ["t.b"], ["?"]]),
        ("select a, count(*) from t group by rollup (a)", [["?"], ["?"]]),
        ("select a, b, sum(d) over (partition by a) from t", [["t.a"], ["?"], ["?"]]),
        ("select a, sum(d) over () from t", [["?"], ["?"]]),
        ("select t.a from t asof join u on t.id >= u.id", [["?"]]),
        ("select (select t.a) from t", [["?"]]),
        ("select x.a from (select a from t) as x", [["x.a"]]),
    ],
)
def test_a_column_is_filtered_where_a_select_shows_it_as_it_is(
    context: PlanContext, sql: str, expected: list[list[str]]
) -> None:
    assert lineage(sql, context) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select a from t union all select b from t", [["t.a", "t.b"]]),
        ("select a from t union all select s from t", [["?", "?"]]),
        ("select a from t union all select id from u", [["t.a", "u.id"]]),
        ("select a from t union all select b from t limit 1", [["?", "?"]]),
        ("select a from t union by name select a from t", [["?"]]),
        ("select a from t union all values (1)", [["?", "?"]]),
    ],
)
def test_a_set_operation_is_filtered_where_all_operands_compare_alike(
    context: PlanContext, sql: str, expected: list[list[str]]
) -> None:
    assert lineage(sql, context) == expected


@pytest.mark.parametrize(
    ("sql", "cut"),
    [("select 1", False), ("select 1 limit 1", True), ("select 1 offset 1", True)],
)
def test_a_query_with_limit_or_offset_is_cut(sql: str, cut: bool) -> None:
    assert is_cut(parse(sql)) is cut


def test_sealed_columns_keep_the_selects_that_they_come_from(context: PlanContext) -> None:
    open_column = columns("select a from t", context)
    (closed,) = sealed(open_column)
    (before,), (after,) = open_column[0].branches, closed.branches
    assert after.relation is None and after.scope is before.scope


def test_united_columns_have_the_names_of_the_first_operand(context: PlanContext) -> None:
    first, second = (
        columns("select a, b from t", context),
        columns("select id, t_id from u", context),
    )
    assert [column.name for column in united([first, second])] == ["a", "b"]
    assert [len(column.projections) for column in united([first, second])] == [2, 2]


def test_what_is_not_known_is_not_known_with_null_either(context: PlanContext) -> None:
    (known,) = columns("select a from t", context)
    assert or_null(()) == ()
    assert len(or_null(known.projections)) == len(known.projections) + 1


@pytest.mark.parametrize(
    ("sql", "ambiguous"),
    [
        ("select a as x, b as X from t", {"x"}),
        ("select a as x, a as x from t", set()),
        ("select a + 1 as x, a + 1 as x from t", set()),
        ("select a, b from t", set()),
    ],
)
def test_a_name_is_ambiguous_whose_columns_show_different_things(
    context: PlanContext, sql: str, ambiguous: set[str]
) -> None:
    assert ambiguous_names(columns(sql, context)) == ambiguous
