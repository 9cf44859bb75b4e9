"""What a column's qualifier names, and how namesakes are told apart in the engine's SQL."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import field_of
from pykudu_sql.planner.bind.qualifiers import (
    EngineAliases,
    column_of,
    qualified_relation,
    struct_field,
)
from pykudu_sql.planner.bind.relations import DerivedTable, OutputColumn, Scope
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import Error


def relation(alias: str, database: str | None = None, *columns: str) -> DerivedTable:
    return DerivedTable(alias, [OutputColumn(name) for name in columns or ("a",)], database)


def scope_of(*relations: DerivedTable, outer: Scope | None = None) -> Scope:
    return Scope(outer, relations)


def column(text: str) -> exp.Column:
    node = parse(f"select {text}").expressions[0]
    assert isinstance(node, exp.Column)
    return node


ONE, OTHER, ALIAS = relation("t", "one"), relation("t", "other"), relation("x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("one.t.a", ONE), ("OTHER.T.a", OTHER), ("x.a", ALIAS)],
)
def test_a_qualifier_names_a_relation_by_alias_and_database(
    text: str, expected: DerivedTable
) -> None:
    assert qualified_relation(column(text), scope_of(ONE, OTHER, ALIAS)) is expected


@pytest.mark.parametrize(
    ("text", "sqlstate"),
    [("t.a", "42P09"), ("y.a", "42P01"), ("one.x.a", "42P01"), ("c.one.t.a", "42P01")],
)
def test_a_qualifier_that_names_no_one_relation_is_refused(text: str, sqlstate: str) -> None:
    with pytest.raises(Error) as caught:
        qualified_relation(column(text), scope_of(ONE, OTHER, ALIAS))
    assert caught.value.sqlstate == sqlstate


def test_the_nearest_relation_of_a_name_counts() -> None:
    near, far = relation("t"), relation("t")
    assert qualified_relation(column("t.a"), scope_of(near, outer=scope_of(far))) is near


def test_a_relation_that_a_nearer_one_hides_gets_another_name_in_the_engine() -> None:
    names = EngineAliases()
    inner = scope_of(ONE, outer=scope_of(OTHER))
    names.distinguish_nearer(ONE, inner)
    assert names.of(ONE) == "t"
    names.distinguish_nearer(OTHER, inner)
    assert names.of(OTHER) == "other.t"
    names.distinguish(OTHER, {"other.t"})
    assert names.of(OTHER) == "other.t'" and names.names == {OTHER: "other.t'"}


@pytest.mark.parametrize(
    ("relations", "text"),
    [((ONE, OTHER), "one.t.a"), ((ONE, ALIAS), "t.a"), ((ALIAS,), "x.a")],
)
def test_a_column_has_a_database_only_where_its_alias_is_shared(
    relations: tuple[DerivedTable, ...], text: str
) -> None:
    assert column_of(relations[0], "a", scope_of(*relations)).sql() == text


@pytest.mark.parametrize(
    ("text", "path"),
    [("a.f", ["f"]), ("x.a.f", ["f"]), ("a.f.g", ["f", "g"]), ("x.a", None), ("b.f", None)],
)
def test_a_field_is_reached_from_a_column_that_a_query_computes(
    text: str, path: list[str] | None
) -> None:
    field = struct_field(column(text), scope_of(ALIAS))
    assert (field and [part.name for part in field.path]) == path
    assert field is None or field.struct == ((ALIAS, "a"),)


def test_a_field_of_a_struct_uses_the_struct(context: PlanContext) -> None:
    query = bind(parse("select x.p.f from (select {'f': a} as p, s from t) as x"), context)
    assert field_of(query.tree.expressions[0]) is not None
    (reference,) = query.references
    assert reference.column("a").id in query.used[reference]


@pytest.mark.parametrize("source", ["t, t", "t as x, u as x", "t, (select 1) as t"])
def test_an_alias_is_given_once(context: PlanContext, source: str) -> None:
    with pytest.raises(Error, match="is given twice"):
        bind(parse(f"select 1 from {source}"), context)
