"""The column lists of INSERT and COPY."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.dml.insert_columns import (
    check_required,
    insert_columns,
    listed_column,
    missing_column,
)
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    NotNullError,
    ProgrammingError,
    SyntaxError,
    UndefinedColumnError,
)


def listed(*names: str) -> exp.Tuple:
    return exp.Tuple(expressions=[exp.column(name) for name in names])


def test_without_a_list_all_columns_but_the_hidden_counter_are_filled(
    context: PlanContext,
) -> None:
    logs = context.catalog.table("logs")
    assert [column.name for column in insert_columns(logs, None)] == ["day", "msg"]
    with pytest.raises(InvalidSchemaError, match="is numbered by the table"):
        insert_columns(logs, listed("day", "auto_incrementing_id"))


def test_a_list_may_be_in_any_order_and_case(context: PlanContext) -> None:
    t = context.catalog.table("t")
    assert [column.name for column in insert_columns(t, listed("S", "id"))] == ["s", "id"]


def test_a_list_takes_each_column_once_and_nothing_else(context: PlanContext) -> None:
    t = context.catalog.table("t")
    with pytest.raises(ProgrammingError, match="'a' is given twice") as caught:
        insert_columns(t, listed("a", "A"))
    assert caught.value.sqlstate == "42701"
    with pytest.raises(UndefinedColumnError, match="'nope'"):
        listed_column(t, "nope", (), None)
    with pytest.raises(SyntaxError, match="the list of columns takes their names"):
        insert_columns(t, exp.Tuple(expressions=[exp.Literal.number(1)]))


def test_what_needs_a_value_must_be_listed(context: PlanContext) -> None:
    u = context.catalog.table("u")
    check_required(u, u.schema.columns, None)
    with pytest.raises(NotNullError, match="required column 'note' of table 'u'"):
        check_required(u, u.schema.columns[:-1], None)
    assert "key column 'id'" in missing_column(u, u.schema.columns[0], None).message
