"""The relations that a FROM clause makes, their moments and their joins."""

from dataclasses import replace

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.from_clause import MAX_REFERENCES
from pykudu_sql.planner.bind.relations import Scope, TableReference
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.storage.errors import Error

PAST = 4_000_000_000_000_000_000


def bound(source: str, context: PlanContext) -> BoundQuery:
    return bind(parse(f"select 1 from {source}"), context)


def outermost(query: BoundQuery) -> Scope:
    assert isinstance(query.tree, exp.Select)
    return query.scope_of(query.tree)


@pytest.mark.parametrize(
    ("source", "aliases"),
    [
        ("t", ["t"]),
        ("t as x, u", ["x", "u"]),
        ("(t join u on true) join logs on true", ["t", "u", "logs"]),
        ("(select 1 as a) as x", ["x"]),
        ("(select 1 as a)", ["subquery 1"]),
        ("(values (1)) as v(n)", ["v"]),
        ("range(3)", ["range"]),
        ("unnest([1]) as n(i)", ["n"]),
        ("t, lateral (select t.a) as l", ["t", "l"]),
        ("t, lateral unnest([t.a]) as l(x)", ["t", "l"]),
        ("t left join lateral range(t.a) as l on true", ["t", "l"]),
        ("changes(t, 0)", ["changes"]),
        ("t semi join u on t.id = u.id", ["t"]),
    ],
)
def test_a_scope_shows_its_relations_from_left_to_right(
    context: PlanContext, source: str, aliases: list[str]
) -> None:
    visible = outermost(bound(source, context)).visible()
    assert [relation.alias for relation in visible] == aliases


@pytest.mark.parametrize(
    ("source", "bounds"),
    [
        ("t, u", [None, None]),
        (f"t as of {PAST} as x, t", [PAST + 1, None]),
        (f"(select * from t as of {PAST}) as x, u", [PAST + 1, None]),
        ("sys.tables", [None]),
    ],
)
def test_a_mention_is_read_at_its_own_moment(
    context: PlanContext, source: str, bounds: list[int | None]
) -> None:
    assert [each.bound for each in bound(source, context).references] == bounds


def test_a_session_reads_at_its_moment_where_the_statement_names_none(
    context: PlanContext,
) -> None:
    past = replace(context, settings=PlanSettings(as_of=5))
    query = bound(f"t, t as of {PAST} as x", past)
    assert [each.bound for each in query.references] == [5, PAST + 1]
    assert query.references[0].table is past.catalog_at(5).table("t")


def test_a_mention_of_history_has_a_window_and_its_metadata_columns(context: PlanContext) -> None:
    (reference,) = bound("changes(t, 0) as c", context).references
    assert reference.history is not None and reference.bound is None
    assert {"_change_type", "_commit_timestamp"} < set(reference.column_names())
    assert not reference.is_plain


@pytest.mark.parametrize(
    ("source", "absent"),
    [
        ("t join u on true", ""),
        ("t left join u on true", "u"),
        ("t right join u on true", "t"),
        ("t full join u on true", "t u"),
        ("t join u on true right join logs on true", "t u"),
        ("t left join (u join logs on true) on true", "logs u"),
    ],
)
def test_an_outer_join_may_put_nulls_in_place_of_rows(
    context: PlanContext, source: str, absent: str
) -> None:
    query = bound(source, context)
    assert sorted(relation.alias for relation in query.maybe_absent) == absent.split()


@pytest.mark.parametrize(
    ("source", "merged"),
    [("t join u using (id)", {"id"}), ("t natural join u", {"id"}), ("t join u on true", set())],
)
def test_using_and_natural_join_merge_columns(
    context: PlanContext, source: str, merged: set[str]
) -> None:
    query = bound(source, context)
    assert {name for name, _ in outermost(query).merged} == merged
    needed = [{each.table.schema.by_id[i].name for i in ids} for each, ids in query.used.items()]
    assert all(names == merged for names in needed)


def test_a_list_of_columns_renames_those_of_a_table(context: PlanContext) -> None:
    query = bound("logs as l(x, y)", context)
    (relation,) = outermost(query).visible()
    assert not isinstance(relation, TableReference)
    assert relation.column_names() == ("x", "y")
    assert query.used[query.references[0]] == {0, 1}


@pytest.mark.parametrize(
    ("source", "sqlstate"),
    [
        ("nope", "42P01"),
        ("t, t", "42712"),
        ("t join u using (a)", "42703"),
        ("logs as l(x, y, z, w)", "42P10"),
        ("t positional join u", "0A000"),
        ("t tablesample (10 percent)", "0A000"),
        ("sys.tables as of 5", "0A000"),
        ("read_csv('x')", "0A000"),
        ("t lateral view explode(a) x as y", "0A000"),
    ],
)
def test_what_is_no_relation_is_refused(context: PlanContext, source: str, sqlstate: str) -> None:
    with pytest.raises(Error) as caught:
        bound(source, context)
    assert caught.value.sqlstate == sqlstate


@pytest.mark.parametrize("call", ["range(3)", "nothing(1)", "changes(t, 0)", "unnest([1])"])
def test_a_function_of_a_schema_is_refused_as_one(context: PlanContext, call: str) -> None:
    with pytest.raises(Error, match="db") as caught:
        bound(f"db.{call}", context)
    name = call.partition("(")[0]
    assert name in str(caught.value)
    assert caught.value.sqlstate == "42883"


def test_a_statement_reads_a_bounded_number_of_tables(context: PlanContext) -> None:
    most = [f"t as t{i}" for i in range(MAX_REFERENCES)]
    assert len(bound(", ".join(most), context).references) == MAX_REFERENCES
    with pytest.raises(Error, match=f"more than {MAX_REFERENCES} tables"):
        bound(", ".join([*most, "u"]), context)
