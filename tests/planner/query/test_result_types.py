"""The types of a query's columns, which the engine says without data."""

import pytest

from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.query.result_types import result_columns, result_type_names
from pykudu_sql.storage.errors import InvalidSchemaError, NotSupportedError


@pytest.mark.parametrize(
    ("sql", "types"),
    [
        ("select amount, ts, day from events", ["DECIMAL(9,2)", "TIMESTAMP", "DATE"]),
        ("select raw, f, small from kinds", ["BINARY", "FLOAT", "TINYINT"]),
        ("select null as n, true as b, 'x' as s", ["STRING", "BOOLEAN", "STRING"]),
        ("select count(*) as n, sum(a) as total from t", ["BIGINT", "BIGINT"]),
        (f"select a from t where a in ({', '.join(map(str, range(1200)))})", ["INT"]),
    ],
)
def test_a_table_of_a_query_has_columns_of_the_engines_types(
    context: PlanContext, sql: str, types: list[str]
) -> None:
    columns = result_columns(plan_rows(SourceText(sql), context), context)
    assert [str(column.type) for column in columns] == types
    assert all(column.nullable for column in columns)


def test_a_type_that_no_column_has_is_shown_and_refused(context: PlanContext) -> None:
    query = plan_rows(SourceText("select [1] as l"), context)
    assert result_type_names(query, context) == ["INT[]"]
    with pytest.raises(InvalidSchemaError, match=r"column 'l' .* type INT\[\]"):
        result_columns(query, context)


def test_a_parameter_has_no_type_yet(context: PlanContext) -> None:
    query = plan_rows(SourceText("select ?"), context)
    with pytest.raises(NotSupportedError, match="cannot have parameters"):
        result_columns(query, context)
    with pytest.raises(NotSupportedError, match="described or summarized"):
        result_type_names(query, context)
