"""The table that a statement writes, and its cells as literals."""

from dataclasses import replace
from typing import Any

import pytest

from pykudu_sql.planner.bind.target import cell_literal, mention, mentioned_table
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import Error


def item(sql: str) -> Any:
    return parse(sql).args["from_"].this


def test_a_mention_of_a_table_is_the_table(context: PlanContext) -> None:
    assert mentioned_table(item("select 1 from T as x"), context) is context.catalog.table("t")


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("select 1 from nope", "42P01"),
        ("select 1 from (select 1) as t", "42601"),
        ("select 1 from range(3)", "42601"),
        ("select 1 from t as of 5", "0A000"),
        ("with t as (select 1) select 1 from t", "0A000"),
        ("select 1 from sys.tables", "42501"),
    ],
)
def test_what_cannot_be_written_is_refused(context: PlanContext, sql: str, sqlstate: str) -> None:
    with pytest.raises(Error) as caught:
        mentioned_table(item(sql), context)
    assert caught.value.sqlstate == sqlstate


def test_a_session_that_reads_the_past_writes_nothing(context: PlanContext) -> None:
    past = replace(context, settings=PlanSettings(as_of=5))
    with pytest.raises(Error) as caught:
        mentioned_table(item("select 1 from t"), past)
    assert caught.value.sqlstate == "25006"


def test_a_table_is_mentioned_by_one_quoted_name() -> None:
    node = mention("db.odd name", "x")
    assert (node.name, node.db, node.alias, node.this.args["quoted"]) == (
        "db.odd name",
        "",
        "x",
        True,
    )


@pytest.mark.parametrize(
    ("type_name", "cell", "literal"),
    [
        ("INT", None, "CAST(NULL AS INT)"),
        ("INT", 5, "CAST('5' AS INT)"),
        ("BOOLEAN", True, "TRUE"),
        ("STRING", "it's", "CAST('it''s' AS TEXT)"),
        ("VARCHAR(3)", "abc", "CAST('abc' AS TEXT)"),
        ("BINARY", b"\x00\xff", "UNHEX('00ff')"),
        ("DOUBLE", 0.1, "CAST('0.1' AS DOUBLE)"),
        ("DATE", 2, "CAST('1970-01-03' AS DATE)"),
        ("DECIMAL(5,2)", 150, "CAST('1.50' AS DECIMAL(5, 2))"),
        ("TIMESTAMP", 1_000_000, "CAST('1970-01-01 00:00:01' AS TIMESTAMP)"),
    ],
)
def test_a_cell_is_a_literal_of_the_columns_type(type_name: str, cell: Any, literal: str) -> None:
    column = ColumnSchema(0, "c", parse_type(type_name))
    assert cell_literal(cell, column).sql("duckdb") == literal
