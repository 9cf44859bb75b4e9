"""Which relation each column of an expression belongs to, and which columns are noted as used."""

from dataclasses import replace

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import relation_of
from pykudu_sql.planner.bind.column_resolution import ColumnResolver
from pykudu_sql.planner.bind.qualifiers import EngineAliases
from pykudu_sql.planner.bind.relations import (
    Aliases,
    ColumnUses,
    DerivedTable,
    OutputColumn,
    Scope,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import Error


def derived(alias: str, *columns: str) -> DerivedTable:
    return DerivedTable(alias, [OutputColumn(name) for name in columns])


NEAR, OTHER, FAR = derived("t", "a", "b"), derived("u", "b", "c"), derived("v", "a", "d")
SCOPE = Scope(Scope(None, (FAR,)), (NEAR, OTHER))


def resolved(text: str, scope: Scope, *first: str) -> object:
    column = parse(f"select {text}").expressions[0]
    assert isinstance(column, exp.Column)
    ColumnResolver(ColumnUses(), EngineAliases()).resolve(column, scope, first)
    return relation_of(column)


@pytest.mark.parametrize(
    ("text", "relation"),
    [("a", NEAR), ("C", OTHER), ("d", FAR), ("u.b", OTHER), ("v.a", FAR)],
)
def test_a_column_belongs_to_the_nearest_relation_that_has_it(
    text: str, relation: DerivedTable
) -> None:
    assert resolved(text, SCOPE) is relation


@pytest.mark.parametrize(
    ("text", "sqlstate"), [("b", "42702"), ("nope", "42703"), ("t.c", "42703"), ("x.a", "42P01")]
)
def test_what_names_no_one_column_is_refused(text: str, sqlstate: str) -> None:
    with pytest.raises(Error) as caught:
        resolved(text, SCOPE)
    assert caught.value.sqlstate == sqlstate


def test_a_column_that_using_joins_is_not_ambiguous() -> None:
    assert resolved("b", SCOPE.with_merged("b", SCOPE.relations)) is NEAR


@pytest.mark.parametrize("text", ["b", "x"])
def test_an_alias_of_the_select_list_stands_before_queries_around(text: str) -> None:
    aliases = Aliases({"b": 0, "x": 1}, 2)
    assert resolved(text, replace(SCOPE, aliases=aliases)) is None


def test_names_of_a_clause_resolve_first_unless_several_entries_have_one() -> None:
    assert resolved("a", SCOPE, "a") is None
    with pytest.raises(Error) as caught:
        resolved("a", replace(SCOPE, repeated=frozenset({"a"})), "a")
    assert caught.value.sqlstate == "42702"


@pytest.mark.parametrize(("sql", "used"), [("select count(*) from t", 0), ("select a from t", 1)])
def test_count_of_a_star_uses_no_column(context: PlanContext, sql: str, used: int) -> None:
    bound = bind(parse(sql), context)
    assert [len(ids) for ids in bound.used.values()] == [1] * used
