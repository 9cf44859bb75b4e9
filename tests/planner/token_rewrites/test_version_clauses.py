"""AS OF becomes sqlglot's version clause where it is one, and stays an alias where it is none."""

import pytest
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.token_rewrites.version_clauses import (
    with_closed_windows,
    with_versions,
)


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        ("t AS OF '2026-01-31'", "t FOR TIMESTAMP 2026-01-31"),
        ("t AS OF TIMESTAMP 5", "t FOR TIMESTAMP 5"),
        ("t AS OF TIMESTAMP 'a'", "t FOR TIMESTAMP a"),
        ("t AS OF TIMESTAMP 'a' - b", "t FOR TIMESTAMP TIMESTAMP a - b"),
        ("t AS OF DATE 'a' + 1", "t FOR TIMESTAMP DATE a + 1"),
        ("t AS OF current_date", "t FOR TIMESTAMP current_date"),
        ("t AS OF, date", "t AS OF , date"),
        ("t AS OF now()", "t FOR TIMESTAMP now ( )"),
        ("t AS OF SNAPSHOT s", "t FOR VERSION s"),
        ("t FOR SYSTEM_TIME AS OF SNAPSHOT s", "t FOR VERSION s"),
        ("t FOR SYSTEM_TIME AS OF 5", "t FOR SYSTEM_TIME AS OF 5"),
        ("t FOR SYSTEM_TIME AS OF TIMESTAMP now()", "t FOR SYSTEM_TIME AS OF now ( )"),
        ("t FOR SYSTEM_TIME AS OF TIMESTAMP 'a'", "t FOR SYSTEM_TIME AS OF TIMESTAMP a"),
        ("t AS OF", "t AS OF"),
        ("t AS OF WHERE", "t AS OF WHERE"),
        ("t AS OF, u", "t AS OF , u"),
    ],
)
def test_tokens_of_as_of(written: str, rewritten: str) -> None:
    tokens = with_versions(DuckDB().tokenize(f"FROM {written}"))
    assert " ".join(token.text for token in tokens) == f"FROM {rewritten}"


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        ("a - INTERVAL 1 HOUR TO b", "( a - INTERVAL 1 HOUR ) TO b"),
        ("f(a TO b) TO b", "( f ( a TO b ) ) TO b"),
        ("'a' TO 'b'", "a TO b"),
        ("a - b", "a - b"),
        ("a) TO", "a ) TO"),
    ],
)
def test_the_first_moment_of_a_window_ends_before_to(written: str, rewritten: str) -> None:
    tokens = with_closed_windows(DuckDB().tokenize(f"FROM t FOR SYSTEM_TIME FROM {written}"))
    assert " ".join(token.text for token in tokens) == f"FROM t FOR SYSTEM_TIME FROM {rewritten}"
