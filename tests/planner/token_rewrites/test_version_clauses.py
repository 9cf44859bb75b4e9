"""AS OF becomes sqlglot's version clause where it is one, and stays an alias where it is none."""

import pytest
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.token_rewrites.version_clauses import with_versions


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
        ("t AS OF", "t AS OF"),
        ("t AS OF WHERE", "t AS OF WHERE"),
        ("t AS OF, u", "t AS OF , u"),
    ],
)
def test_tokens_of_as_of(written: str, rewritten: str) -> None:
    tokens = with_versions(DuckDB().tokenize(f"FROM {written}"))
    assert " ".join(token.text for token in tokens) == f"FROM {rewritten}"
