"""What asks only whether a column is NULL."""

import pytest
from sqlglot import exp, parse_one

from pykudu_sql.planner.bind.null_tests import is_null_tested


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("count(c)", True),
        ("count(c) FILTER (WHERE TRUE)", True),
        ("c IS NULL", True),
        ("c IS NOT NULL", True),
        ("count(DISTINCT c)", False),
        ("count(c, 1)", False),
        ("c IS TRUE", False),
        ("max(c)", False),
        ("coalesce(c, 1) IS NULL", False),
    ],
)
def test_a_column_is_tested_for_null(expression: str, expected: bool) -> None:
    (column,) = parse_one(f"SELECT {expression}", dialect="duckdb").find_all(exp.Column)
    assert is_null_tested(column) is expected
