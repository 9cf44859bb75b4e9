"""Session functions become texts before anything runs."""

import getpass

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.session_functions import replace_session_functions
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.common.release import VERSION


def replaced(sql: str, database: str = "it's") -> str:
    return replace_session_functions(parse(sql), database).sql("duckdb")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("current_database()", "it''s"),
        ("current_schema()", "it''s"),
        ("version()", f"pykudu_sql {VERSION}"),
        ("current_catalog", "pykudu"),
        ("User()", getpass.getuser()),
        ("effective_user()", getpass.getuser()),
        ("current_user", getpass.getuser()),
    ],
)
def test_a_call_is_the_fact_as_a_text(call: str, text: str) -> None:
    assert replaced(f"SELECT {call}") == f"SELECT '{text}'"


def test_calls_are_replaced_wherever_they_stand() -> None:
    sql = "SELECT a FROM t WHERE s = current_database() AND EXISTS(SELECT user() || version())"
    printed = replaced(sql, "db")
    assert "'db'" in printed
    assert "(" not in printed.partition("EXISTS(")[2].rstrip(")")


def test_a_call_alone_is_replaced_and_a_column_of_that_name_is_not() -> None:
    call = exp.Anonymous(this="user")
    assert isinstance(replace_session_functions(call, "db"), exp.Literal)
    assert replaced("SELECT user, a.version") == 'SELECT "user", a.version'
