"""What a writing statement calls its tables."""

from dataclasses import replace

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.correlation_name import (
    CorrelationName,
    name_of_relation,
    name_of_table,
    name_of_target,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext


@pytest.mark.parametrize(
    ("table_name", "mention", "name"),
    [
        ("t", "t", CorrelationName("t", "default")),
        ("db.t", "db.t", CorrelationName("t", "db")),
        ("db.t", "db.t as x", CorrelationName("x", None)),
    ],
)
def test_a_target_is_called_by_its_alias_or_its_own_name(
    context: PlanContext, table_name: str, mention: str, name: CorrelationName
) -> None:
    table = replace(context.catalog.table("t"), name=table_name)
    node = parse(f"select 1 from {mention}").args["from_"].this
    assert isinstance(node, exp.Table)
    assert name_of_target(node, table) == name
    assert name_of_table(table) == CorrelationName("t", "db" if "." in table_name else "default")


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("select 1 from u", CorrelationName("u", "default")),
        ("select 1 from SYS.tables", CorrelationName("tables", "sys")),
        ("select 1 from u as x", CorrelationName("x", None)),
        ("select 1 from (select 1) as x", CorrelationName("x", None)),
        ("with u as (select 1) select 1 from u", CorrelationName("u", None)),
        ("with w as (select 1) select 1 from u", CorrelationName("u", "default")),
    ],
)
def test_only_a_table_without_an_alias_has_a_database(
    context: PlanContext, sql: str, name: CorrelationName
) -> None:
    tree = parse(sql)
    assert isinstance(tree, exp.Select)
    (relation,) = bind(tree, context).scope_of(tree).relations
    assert name_of_relation(relation) == name


@pytest.mark.parametrize(
    ("column", "is_named"),
    [
        ("a", True),
        ("t.a", True),
        ("T.a", True),
        ("db.t.a", True),
        ("other.t.a", False),
        ("x.db.t.a", False),
        ("u.a", False),
    ],
)
def test_a_column_names_it_by_alias_and_database(column: str, is_named: bool) -> None:
    node = parse(f"select {column}").expressions[0]
    assert CorrelationName("t", "db").is_named_by(node) is is_named


def test_a_qualified_column_has_alias_and_database() -> None:
    column = exp.column("a")
    CorrelationName("t", "db").qualify(column)
    assert column == exp.column("a", table="t", db="db")
    CorrelationName("x", None).qualify(column)
    assert column == exp.column("a", table="x")
