"""DEFAULT as a constant or a function."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.ddl.column_default import frozen, with_default
from pykudu_sql.planner.ddl_grammar.syntax import Expression
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import Error, InvalidSchemaError


def column(type_name: str) -> ColumnSchema:
    return ColumnSchema(0, "c", parse_type(type_name))


@pytest.mark.parametrize(
    ("text", "function"),
    [
        *((text, DefaultFunction.NOW) for text in (
            "now()", "NOW()", "CURRENT_TIMESTAMP", "current_timestamp()", "CURRENT_TIMESTAMP(6)",
            "localtimestamp", "LOCALTIMESTAMP(6)", "utc_timestamp()", "get_current_timestamp()",
            "transaction_timestamp()", "((now()))", "now()::TIMESTAMP",
            "CAST(CURRENT_TIMESTAMP AS TIMESTAMP)", "CAST(now() AS STRING)",
            "now() AT TIME ZONE 'utc'", "timezone('UTC', CURRENT_TIMESTAMP)",
        )),
        *((text, DefaultFunction.NOW_IN_SECONDS) for text in (
            "datetime('now')", "(datetime('now', 'localtime'))", "CURRENT_TIMESTAMP(0)",
            "datetime()",
        )),
        ("CURRENT_TIMESTAMP(3)", DefaultFunction.NOW_IN_MILLISECONDS),
        *((text, DefaultFunction.TODAY) for text in (
            "CURRENT_DATE", "current_date()", "today()", "date('now')", "now()::DATE",
            "(CURRENT_DATE)", "CAST(CURRENT_DATE AS DATE)",
        )),
        *((text, DefaultFunction.UUID) for text in (
            "uuid()", "gen_random_uuid()", "uuidv4()", "uuid()::TEXT", "CAST(uuid() AS STRING)",
        )),
        *((text, DefaultFunction.UUID_DIGITS) for text in (
            "replace(uuid(), '-', '')", "(REPLACE(gen_random_uuid()::TEXT, '-', ''))",
        )),
    ],
)  # fmt: skip
def test_a_function_has_many_names(
    context: PlanContext, text: str, function: DefaultFunction
) -> None:
    changed = with_default(column("STRING"), Expression(text, 0), context)
    assert changed == replace(column("STRING"), default_function=function)
    again = with_default(column("STRING"), Expression(function.sql, 0), context)
    assert again == changed


@pytest.mark.parametrize(
    "text",
    [
        "max(1)", "a", "(SELECT 1)", "random()", "nosuch()", "now() + INTERVAL 1 DAY",
        "CURRENT_TIMESTAMP(2)", "strftime('%Y', 'now')", "datetime('now', '+1 day')",
        "CAST(CURRENT_DATE AS TIMESTAMP)", "CAST(now() AS VARCHAR(4))", "CURRENT_TIME", "uuidv7()",
        "extract(year from now())", "now() AT TIME ZONE 'CET'", "timezone('CET', now())",
        "uuid()::BINARY",
        "replace(uuid(), 'a', '')", "replace(uuid(), '-', '+')", "replace(now(), '-', '')",
    ],
)  # fmt: skip
def test_of_what_else_is_no_constant_the_functions_are_named(
    context: PlanContext, text: str
) -> None:
    with pytest.raises(InvalidSchemaError, match="of column 'c' is no constant") as caught:
        with_default(column("STRING"), Expression(text, 7), context)
    assert "now()" in (caught.value.hint or "")
    assert caught.value.span == Expression(text, 7).span


@pytest.mark.parametrize(
    ("type_name", "text"),
    [
        ("INT", "now()"), ("BIGINT", "now()"), ("TIMESTAMP", "uuid()"), ("VARCHAR(35)", "uuid()"),
        ("VARCHAR(25)", "now()"), ("BOOLEAN", "CURRENT_DATE"), ("BINARY", "uuid()"),
    ],
)  # fmt: skip
def test_a_function_fits_the_type(context: PlanContext, type_name: str, text: str) -> None:
    with pytest.raises(Error, match=r"column 'c' of type .* cannot have DEFAULT") as caught:
        with_default(column(type_name), Expression(text, 3), context)
    assert (caught.value.sqlstate, caught.value.span) == ("42804", Expression(text, 3).span)


def test_a_constant_takes_the_place_of_a_function_and_the_other_way(context: PlanContext) -> None:
    function = with_default(column("DATE"), Expression("now()", 0), context)
    constant = with_default(function, Expression("'1970-01-03'", 0), context)
    assert constant == replace(column("DATE"), write_default=2)
    assert with_default(constant, Expression("now()", 0), context) == function


def test_rows_that_are_there_show_the_time_of_the_statement(context: PlanContext) -> None:
    at = replace(column("TIMESTAMP"), default_function=DefaultFunction.NOW)
    assert frozen(at, context).read_default == 1_700_000_000_000_000
    token = replace(column("STRING"), default_function=DefaultFunction.UUID)
    assert frozen(token, context) is token
    assert frozen(column("INT"), context) == column("INT")
