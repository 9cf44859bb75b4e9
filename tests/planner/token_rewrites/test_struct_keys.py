"""Keys of struct literals: names and strings, nothing that the parser would take apart."""

import pytest
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.token_rewrites.struct_keys import check_struct_keys
from pykudu_sql.storage.errors import SyntaxError


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{'a': 1, b: 2, \"c d\": (1, 2), date: [3, 4]}",
        "{a: {b: 1}, c: CASE WHEN x THEN 1 END}",
        "MAP {f(1): 2, -1: 3, {a: 1}: 4}",
    ],
)
def test_names_and_strings_are_keys(text: str) -> None:
    check_struct_keys(DuckDB().tokenize(text))


@pytest.mark.parametrize(
    "key",
    ["f(1)", "-1", "1", "1 + 1", "a.b", "(a)", "'a' || 'b'", "x'00'", "null", "true",
     "current_date", "date '2026-01-01'"],
)  # fmt: skip
@pytest.mark.parametrize("text", ["{%s: 2}", "{a: 1, %s: 2}", "{a: {%s: 2}}", "MAP {1: {%s: 2}}"])
def test_other_expressions_are_none(key: str, text: str) -> None:
    with pytest.raises(SyntaxError, match="a field in braces is a name or a string"):
        check_struct_keys(DuckDB().tokenize(text % key))
