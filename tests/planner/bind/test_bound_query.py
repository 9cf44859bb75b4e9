"""What binding says of each column: its relation, its type, whether it may be NULL."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery, binding_of, relation_of, table_of
from pykudu_sql.planner.bind.relations import DerivedTable
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.types.nullability import is_nullable


def bound(sql: str, context: PlanContext) -> BoundQuery:
    return bind(parse(sql), context)


def column(query: BoundQuery, name: str) -> exp.Column:
    return next(each for each in query.tree.find_all(exp.Column) if each.name == name)


def test_a_column_has_the_mention_of_its_table_its_type_and_nullability(
    context: PlanContext,
) -> None:
    query = bound("select a from t", context)
    binding = binding_of(column(query, "a"))
    assert binding is not None
    assert (binding.relation, binding.name, str(binding.type)) == (query.references[0], "a", "INT")
    assert is_nullable(column(query, "a"), query.maybe_absent)


@pytest.mark.parametrize(
    ("sql", "nullable"),
    [
        ("select note from u", False),
        ("select note from t left join u on u.t_id = t.id", True),
        ("select note from (select note from u) as v", False),
        ("select note from (select 1 as x) as v left join u on u.id = x", True),
        ("select note from u group by rollup (note)", True),
        ("select note from (select note from u union by name select 1 as id) as v", True),
    ],
)
def test_a_column_may_be_null_by_its_definition_and_by_outer_joins(
    sql: str, nullable: bool, context: PlanContext
) -> None:
    query = bound(sql, context)
    assert is_nullable(column(query, "note"), query.maybe_absent) is nullable


def test_a_computed_column_has_no_stored_type(context: PlanContext) -> None:
    query = bound("select x from (select a + 1 as x from t) as v", context)
    binding = binding_of(column(query, "x"))
    assert binding is not None and binding.type is None
    assert isinstance(binding.relation, DerivedTable) and table_of(column(query, "x")) is None


def test_copies_of_a_column_are_columns_of_the_same_mention(context: PlanContext) -> None:
    query = bound("select a + b from t", context)
    copied = query.tree.copy()
    sources = {relation_of(each) for each in copied.find_all(exp.Column)}
    assert sources == {query.references[0]}


def test_a_name_of_the_select_list_has_no_source(context: PlanContext) -> None:
    query = bound("select a + 1 as total from t order by total", context)
    assert relation_of(column(query, "total")) is None


def test_a_tree_that_is_bound_again_has_the_sources_of_the_second_time(
    context: PlanContext,
) -> None:
    sql = "select a from t join u on u.t_id = t.id"
    tree = parse(sql)
    first, second = bind(tree, context), bind(tree, context)
    assert relation_of(column(second, "a")) is second.references[0]
    assert first.references[0] is not second.references[0]
