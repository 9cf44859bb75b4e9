"""CHECK conditions: what is read, how it prints back, and what is refused with its place."""

import pytest

from pykudu_sql.planner.ddl.check_conditions import check_constraints
from pykudu_sql.planner.ddl_grammar.column_parser import check_clause
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error

SCHEMA = create_schema(
    [
        ColumnSchema(0, "id", DataType(Kind.INT64)),
        ColumnSchema(0, "small", DataType(Kind.INT8)),
        ColumnSchema(0, "price", DataType(Kind.DECIMAL, 9, 2)),
        ColumnSchema(0, "ratio", DataType(Kind.FLOAT)),
        ColumnSchema(0, "factor", DataType(Kind.DOUBLE)),
        ColumnSchema(0, "name", DataType(Kind.STRING)),
        ColumnSchema(0, "code", DataType(Kind.VARCHAR, length=3)),
        ColumnSchema(0, "on", DataType(Kind.BOOL)),
        ColumnSchema(0, "day", DataType(Kind.DATE)),
        ColumnSchema(0, "at", DataType(Kind.UNIXTIME_MICROS)),
        ColumnSchema(0, "raw", DataType(Kind.BINARY)),
    ],
    ["id"],
)


def read(condition: str, context: PlanContext) -> CheckConstraint:
    clause = check_clause(TokenStream(f"CHECK ({condition})"))
    assert clause is not None
    (made,) = check_constraints([clause], "shop.t", SCHEMA, (), context)
    return made


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("small > 0", "small > 0"),
        ("0 < small", "small > 0"),
        ("t.small != -5", "small <> -5"),
        ("small < 5.5", "small <= 5"),
        ("price >= 0.1", "price >= 0.10"),
        ("ratio < 0.1", "ratio < 0.1"),
        ("id > small", "id > small"),
        ("name < code OR name = 'it''s'", "name < code OR name = 'it''s'"),
        ("code <> 'longer'", "code <> 'longer'"),
        ("small BETWEEN 1 AND 3", "small >= 1 AND small <= 3"),
        ("NOT small BETWEEN 1 AND 3", "NOT (small >= 1 AND small <= 3)"),
        ("small NOT IN (1, 2, 1)", "small NOT IN (1, 2)"),
        ("name LIKE 'a%' AND name NOT LIKE '%z'", "name LIKE 'a%' AND name NOT LIKE '%z'"),
        ("name IS NULL OR NOT (name IS NULL AND id = 1)",
         "name IS NULL OR NOT (name IS NULL AND id = 1)"),
        ("length(name) <= 5 AND length(code) = length(name)",
         "length(name) <= 5 AND length(code) = length(name)"),
        ("`on` OR NOT `on`", "`on` = TRUE OR `on` <> TRUE"),
        ("day >= DATE '2026-01-01'", "day >= '2026-01-01'"),
        ("at < '2026-01-01 10:00:00'", "`at` < '2026-01-01 10:00:00'"),
        ("at < CAST(date_trunc('day', TIMESTAMP '2026-01-01 10:00:00') AS TIMESTAMP)",
         "`at` < '2026-01-01 00:00:00'"),
        ("factor < sqrt(4)", "factor < 2.0"),
        ("raw = X'00FF'", "raw = X'00FF'"),
    ],
)  # fmt: skip
def test_a_condition_prints_back_and_reads_the_same_again(
    context: PlanContext, condition: str, text: str
) -> None:
    made = read(condition, context)
    assert made.text(SCHEMA).replace('"', "`").replace("`at`", "at") == text.replace("`at`", "at")
    assert read(made.text(SCHEMA), context).text(SCHEMA) == made.text(SCHEMA)
    made.check(SCHEMA)
    assert CheckConstraint.from_json(made.to_json()) == made


def test_a_constraint_without_a_name_is_named_after_its_table_and_column(
    context: PlanContext,
) -> None:
    clauses = [check_clause(TokenStream("CHECK (small > 0)")) for _ in range(2)]
    both = check_clause(TokenStream("CHECK (small > id)"))
    given = check_clause(TokenStream("CONSTRAINT t_small_check1 CHECK (id > 0)"))
    wanted = [each for each in (*clauses, both, given) if each is not None]
    made = check_constraints(wanted, "shop.t", SCHEMA, (), context)
    assert [check.name for check in made] == [
        "t_small_check", "t_small_check2", "t_check", "t_small_check1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "sqlstate", "message"),
    [
        ("small + 1 > 0", "0A000", "cannot stand"),
        ("abs(small) > 0", "0A000", "cannot stand"),
        ("small", "0A000", "cannot stand"),
        ("TRUE", "0A000", "cannot stand"),
        ("1 < 2", "0A000", "cannot stand"),
        ("small = (SELECT 1)", "0A000", "cannot stand"),
        ("EXISTS (SELECT 1)", "0A000", "cannot stand"),
        ("small IN (SELECT 1)", "0A000", "cannot stand"),
        ("max(small) > 0", "0A000", "cannot stand"),
        ("row_number() OVER () > 0", "0A000", "cannot stand"),
        ("random() < small", "0A000", "cannot stand"),
        ("name LIKE code", "0A000", "cannot stand"),
        ("name ILIKE 'a'", "0A000", "cannot stand"),
        ("length(raw) > 1", "0A000", "cannot stand"),
        ("small > ?", "0A000", "parameters"),
        ("day < current_date()", "0A000", "the time"),
        ("small = name", "0A000", "cannot compare TINYINT with STRING"),
        ("price > ratio", "0A000", "cannot compare"),
        ("small > 'x'", "0A000", "cannot compare 'small'"),
        ("ratio > 'x'", "0A000", "cannot compare 'ratio'"),
        ("at < TIMESTAMP_NS '2026-01-01 00:00:00.123456789'", "0A000", "with 2026-01-01 00:00"),
        ("at IN (TIMESTAMP_S '2026-01-01 00:00:00')", "0A000", "of another type"),
        ("day > concat('2026', '-01-01')", "0A000", "of another type"),
        ("ratio < sqrt(2)", "0A000", "of another type"),
        ("name <> CAST('1' AS JSON)", "0A000", "of another type"),
        ("name LIKE CAST('1' AS JSON)", "0A000", "cannot stand"),
        ("small < 200", "42P16", "in the same way"),
        ("small = 1.5", "42P16", "in the same way"),
        ("small > NULL", "42P16", "NULL"),
        ("nope > 1", "42703", "'nope'"),
        ("other.small > 1", "42703", "another table"),
    ],
)
def test_what_no_condition_may_have_is_refused(
    context: PlanContext, condition: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(Error) as refused:
        read(condition, context)
    assert refused.value.sqlstate == sqlstate, refused.value
    assert message in refused.value.message
