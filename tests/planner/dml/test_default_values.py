"""The word DEFAULT as a value."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.dml.default_values import (
    cell_of_default,
    default_node,
    depends_on_moment,
    is_default,
    is_drawn,
    sets_moment,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type

PLAIN = ColumnSchema(1, "c", parse_type("TIMESTAMP"))
AT = replace(PLAIN, default_function=DefaultFunction.NOW)
TOKEN = ColumnSchema(1, "c", parse_type("STRING"), default_function=DefaultFunction.UUID)


def table(column: ColumnSchema) -> TableInfo:
    schema = create_schema([ColumnSchema(0, "k", parse_type("INT")), column], ["k"])
    return new_table("t", schema, PartitionSchema(), "", {})


@pytest.mark.parametrize(
    ("text", "expected"), [("DEFAULT", True), ("1", False), ('"default"', False), ("x", False)]
)
def test_default_is_a_word(text: str, expected: bool) -> None:
    (assignment,) = parse(f"UPDATE t SET c = {text}").expressions
    assert is_default(assignment.expression) is expected


def test_a_time_is_a_literal_and_chance_a_call(context: PlanContext) -> None:
    assert cell_of_default(AT, context) == 1_700_000_000_000_000
    assert "2023-11-14 22:13:20" in default_node(AT, context).sql()
    assert "UUID" in default_node(TOKEN, context).sql().upper()
    assert (is_drawn(TOKEN), is_drawn(AT), is_drawn(PLAIN)) == (True, False, False)


def test_a_plan_is_not_kept_where_default_is_a_time() -> None:
    default, constant = (parse(f"UPDATE t SET c = {text}") for text in ("DEFAULT", "1"))
    assert sets_moment(default, table(AT))
    assert not sets_moment(default, table(TOKEN))
    assert not sets_moment(default, table(PLAIN))
    assert not depends_on_moment(constant, table(AT))
    assert depends_on_moment(parse("UPDATE t SET c = now()"), table(PLAIN))
