"""Long constants of the list of a SELECT that fills columns are taken out of it."""

import pytest

from pykudu_sql.planner.dml.large_constants import is_large, take_large
from pykudu_sql.planner.operands.value import Parameter, Value
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type

LONG = "repeat('c', 2000)"
COLUMNS = [
    ColumnSchema(0, "a", parse_type("INT"), True),
    ColumnSchema(1, "b", parse_type("STRING"), True),
    ColumnSchema(2, "c", parse_type("STRING"), True),
]


def taken(sql: str, context: PlanContext) -> tuple[dict[int, Value], str]:
    tree = parse(sql)
    pairs = take_large(tree, COLUMNS, context)
    return dict(pairs), tree.sql("duckdb")


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        (f"SELECT 1, id, {LONG} FROM t", "SELECT 1, id, NULL FROM t"),
        (f"SELECT *, {LONG} FROM t", "SELECT *, NULL FROM t"),
        (
            f"SELECT 1, id, {LONG} AS c FROM t ORDER BY 3",
            "SELECT 1, id, NULL AS c FROM t ORDER BY 3",
        ),
        (f"SELECT DISTINCT 1, id, ({LONG}) FROM t", "SELECT DISTINCT 1, id, NULL FROM t"),
    ],
)
def test_a_long_text_leaves_a_null_in_its_place(context: PlanContext, sql: str, left: str) -> None:
    assert taken(sql, context) == ({2: "c" * 2000}, left)


def test_a_parameter_may_be_long(context: PlanContext) -> None:
    values, left = taken("SELECT ?, id, 'c' FROM t", context)
    assert values == {}
    values, left = taken("SELECT 1, ?, 'c' FROM t", context)
    assert [type(value) for value in values.values()] == [Parameter]
    assert left == "SELECT 1, NULL, 'c' FROM t"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1, 'short', 'short' FROM t",
        f"SELECT 1, 2, {LONG}",
        f"SELECT 1, 2, {LONG} AS x FROM t WHERE x > 'a'",
        f"SELECT 1, 2, {LONG} || id FROM t",
        f"SELECT 1, 2, max({LONG}) FROM t",
        f"SELECT {LONG}, 1, 2 FROM t",
        f"SELECT *, {LONG}, * FROM t",
        f"SELECT 1, 2, {LONG} FROM t UNION ALL SELECT 1, 2, {LONG} FROM t",
    ],
)
def test_what_may_vary_or_be_referred_to_stays(context: PlanContext, sql: str) -> None:
    assert taken(sql, context) == ({}, parse(sql).sql("duckdb"))


def test_a_constant_that_does_not_fit_stays_for_each_row_to_report(context: PlanContext) -> None:
    fixed = [ColumnSchema(0, "a", parse_type("INT"), True)]
    tree = parse(f"SELECT {LONG} FROM t")
    assert take_large(tree, fixed, context) == ()


def test_texts_are_large_from_a_kibibyte_on() -> None:
    number, text, _ = COLUMNS
    assert is_large("c" * 1024, text)
    assert not is_large("c" * 1023, text)
    assert not is_large(5, number)
