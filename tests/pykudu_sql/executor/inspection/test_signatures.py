"""What functions take: the engine's names of arguments, where the dialect allows as many."""

from types import SimpleNamespace
from typing import Any

import pykudu_sql
from pykudu_sql.executor.inspection.signatures import signatures


def told(*forms: tuple[str, tuple[str, ...]]) -> Any:
    """What is told where the engine has these forms of functions."""
    state: Any = SimpleNamespace(engine=SimpleNamespace(signatures=lambda: forms))
    return signatures(state)


def test_forms_are_those_that_the_dialect_allows() -> None:
    names = ("string", "count", "character")
    forms = told(("lpad", names), ("lpad", ("string",)), ("pragma_of_the_engine", ("a",)))
    assert forms["lpad"] == ("string, count, character",)
    assert "pragma_of_the_engine" not in forms


def test_a_function_without_names_has_the_number_of_its_arguments() -> None:
    assert told()["months_between"] == ("2 arguments",)


def test_a_connection_tells_what_functions_take() -> None:
    with pykudu_sql.connect() as conn:
        forms = conn.list_signatures()
    assert forms["date_trunc"] == ("part, timestamp",)
    assert forms["regexp_replace"][0] == "string, regex, replacement"
    assert "duckdb_functions" not in forms
