"""The database `default` is a name where a point follows, and the word DEFAULT elsewhere."""

import pytest
from sqlglot import TokenType
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.token_rewrites.database_names import with_database_names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("VALUES (default.t.a, DEFAULT)", 1),
        ("VALUES (Default . t.a)", 0),
        ("SET a = DEFAULT", 1),
        ("SELECT a FROM t", 0),
    ],
)
def test_default_before_a_point_is_a_name(text: str, words: int) -> None:
    written = DuckDB().tokenize(text)
    tokens = with_database_names(written)
    assert [token.token_type for token in tokens].count(TokenType.DEFAULT) == words
    assert [token.text for token in tokens] == [token.text for token in written]
