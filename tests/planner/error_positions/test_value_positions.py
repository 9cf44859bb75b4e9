"""The literal that a message quotes, or the column that has what it quotes."""

import pytest

from pykudu_sql.planner.error_positions.value_positions import span_of_value
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import SourceSpan


def shown(span: SourceSpan | None, statement: str) -> str | None:
    return None if span is None else statement[span.start : span.start + span.length]


@pytest.mark.parametrize(
    ("message", "statement", "place"),
    [
        ("1000 does not fit into TINYINT", "SELECT 1000::TINYINT, '1000'", "1000"),
        ("1000 does not fit into TINYINT", "SELECT CAST(a * 1000 AS TINYINT)", "a * 1000"),
        ("1000 does not fit into TINYINT", "SELECT 1000::TINYINT, (1000)::TINYINT", None),
        ("could not convert string 'x' to INT", "SELECT 'x'::INT", "'x'"),
        ("could not convert string 'x' to INT (column s)", "SELECT a FROM t WHERE s = 1", "s"),
        ("could not convert string 'x' to INT (column s)", "SELECT s FROM t WHERE s = 1", None),
        ("9e+99 does not fit into FLOAT", "SELECT CAST(9e99 AS FLOAT)", "9e99"),
        ("123.4 does not fit into DECIMAL(3,2)", "SELECT a::DECIMAL(3,2) FROM t", "a"),
        ("'999' does not fit into TINYINT", "SELECT CAST(b AS TINYINT) FROM t", "b"),
        ("300 does not fit into TINYINT", "SELECT a::TINYINT, b::TINYINT FROM t", None),
        ("300 does not fit into TINYINT", "SELECT TRY_CAST(a AS TINYINT) FROM t", None),
        ("12 does not fit into DECIMAL(38,37)", "SELECT a::DECIMAL(38,37) FROM t", None),
        (
            "'{\"a\":' is no JSON: end at byte 5",
            "SELECT '{\"a\":' ->> 'a'",
            "'{\"a\":'",
        ),
        ("a regular expression is wrong: missing ): (", "SELECT regexp_matches('a', '(')", "'('"),
    ],
)
def test_the_one_value_that_is_quoted_is_shown(
    message: str, statement: str, place: str | None
) -> None:
    assert shown(span_of_value(message, parse(statement)), statement) == place
