"""Defaults and range bounds as cells."""

import datetime as dt
from typing import Any

import pytest

from pykudu_sql.planner.ddl.ddl_constants import cell_of, value_of
from pykudu_sql.planner.ddl_grammar.syntax import Expression
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import Error, InvalidSchemaError


def column(type_name: str) -> ColumnSchema:
    return ColumnSchema(0, "c", parse_type(type_name))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'it''s'", "it's"),
        ("1 + 2", 3),
        ("-5", -5),
        ("null", None),
        ("now()", dt.datetime(2023, 11, 14, 22, 13, 20)),
    ],
)
def test_a_constant_expression_has_a_value(context: PlanContext, text: str, value: Any) -> None:
    assert value_of(Expression(text, 0), context) == value


@pytest.mark.parametrize("text", ["a", "rand()", "1, 2", "1 from t", "(select 1)"])
def test_what_is_no_constant_is_refused_where_it_stands(context: PlanContext, text: str) -> None:
    with pytest.raises(InvalidSchemaError, match="is no constant") as caught:
        value_of(Expression(text, 30), context)
    assert caught.value.span == Expression(text, 30).span


@pytest.mark.parametrize(
    ("type_name", "text", "cell"),
    [("INT", "7", 7), ("STRING", "'x'", "x"), ("DATE", "'1970-01-03'", 2), ("INT", "null", None)],
)
def test_a_constant_is_a_cell_of_its_column(
    context: PlanContext, type_name: str, text: str, cell: Any
) -> None:
    assert cell_of(Expression(text, 0), column(type_name), context) == cell


@pytest.mark.parametrize(("text", "sqlstate"), [("'x'", "22018"), ("3000000000", "22003")])
def test_a_value_that_does_not_fit_names_the_column_and_its_place(
    context: PlanContext, text: str, sqlstate: str
) -> None:
    with pytest.raises(Error, match="column 'c': ") as caught:
        cell_of(Expression(text, 12), column("INT"), context)
    assert (caught.value.sqlstate, caught.value.span) == (sqlstate, Expression(text, 12).span)


def test_the_present_is_a_bound(context: PlanContext) -> None:
    now = Expression("now()", 0)
    assert cell_of(now, column("TIMESTAMP"), context) == 1_700_000_000_000_000
