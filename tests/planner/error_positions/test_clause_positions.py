"""The clause, the subquery or the name that the engine tells."""

import pytest

from pykudu_sql.planner.error_positions.clause_positions import span_of_clause
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import SourceSpan


def shown(span: SourceSpan | None, statement: str) -> str | None:
    return None if span is None else statement[span.start : span.start + span.length]


@pytest.mark.parametrize(
    ("message", "statement", "place"),
    [
        ("LIMIT or OFFSET is negative", "SELECT a FROM t LIMIT 1-2", "1-2"),
        ("LIMIT or OFFSET is negative", "SELECT a FROM t LIMIT 3 OFFSET 1-2", "1-2"),
        ("LIMIT or OFFSET is negative", "SELECT a FROM t LIMIT 2-3 OFFSET 1-2", None),
        (
            "limit percent out of range",
            "SELECT a FROM (SELECT a FROM t LIMIT 9) LIMIT 200 PERCENT",
            "200",
        ),
        (
            "a subquery used as a value returned more than one row",
            "SELECT (SELECT a FROM t)",
            "a FROM t",
        ),
        (
            "a subquery used as a value returned more than one row",
            "SELECT (SELECT max(a) FROM t), (SELECT 1) WHERE a = (SELECT b FROM t)",
            "b FROM t",
        ),
        (
            "a subquery used as a value returned more than one row",
            "SELECT (SELECT a FROM t), (SELECT b FROM t)",
            None,
        ),
        ("a list is expected, not INT", "SELECT unnest(a + 1) FROM t", "a + 1"),
        ("a list is expected, not INT", "SELECT 2 > ANY(a + 1) FROM t", "a + 1"),
        ("UNNEST requires a single list or array as input", "SELECT * FROM unnest(7)", "7"),
        ('could not find key "b" in struct', "SELECT {'a': 1}.b", "b"),
        ('could not find key "b" in struct', "SELECT {'a': 1}['b']", "'b'"),
        ('could not find key "b" in struct', "SELECT b, {'a': 1}['b'] FROM t", None),
        (
            'column "z" in REPLACE list not found in FROM clause',
            "SELECT * REPLACE (1 AS z) FROM t",
            "z",
        ),
        ("anything else", "SELECT 1", None),
    ],
)
def test_the_one_part_that_is_meant_is_shown(
    message: str, statement: str, place: str | None
) -> None:
    assert shown(span_of_clause(message, parse(statement)), statement) == place
