"""What PREPARE has in a string, and what only looks like it."""

import pytest

from pykudu_sql.planner.prepared_strings import with_prepared_text
from pykudu_sql.storage.errors import SyntaxError


def test_a_statement_in_a_string_is_prepared_as_itself() -> None:
    assert with_prepared_text("prepare s from 'SELECT ''a'' , ?';") == "prepare s AS SELECT 'a' , ?"
    assert with_prepared_text("  PREPARE s FROM 'SELECT 1'").endswith("AS SELECT 1")


@pytest.mark.parametrize(
    "text",
    [
        "PREPARE s AS FROM t",
        "SELECT 'PREPARE s FROM ''x'''",
        "SELECT 1 -- PREPARE s FROM 'x'",
        "PREPARE s (INT) AS SELECT ? FROM t",
    ],
)
def test_other_statements_stay(text: str) -> None:
    assert with_prepared_text(text) == text


def test_nothing_follows_the_string() -> None:
    with pytest.raises(SyntaxError, match="USING"):
        with_prepared_text("PREPARE s FROM 'SELECT 1' USING 1")
