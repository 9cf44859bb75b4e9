"""What may stand in the parentheses of a text type."""

import pytest
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.parse.text_lengths import check_text_lengths
from pykudu_sql.storage.errors import ProgrammingError


@pytest.mark.parametrize("text", ["x::CHAR(10)", "CAST(x AS TEXT)", "SELECT char(10)", "x::CHAR"])
def test_one_number_or_nothing_is_taken(text: str) -> None:
    check_text_lengths(DuckDB().tokenize(text))


@pytest.mark.parametrize("text", ["x::CHAR(10, 2)", "CAST(x AS CHAR('a'))", "x::CHAR(n)"])
def test_anything_else_is_refused_at_the_type(text: str) -> None:
    with pytest.raises(ProgrammingError, match="type CHAR does not take") as caught:
        check_text_lengths(DuckDB().tokenize(text))
    assert caught.value.sqlstate == "42601"
    assert caught.value.span is not None
    assert text[caught.value.span.start :].startswith("CHAR")
