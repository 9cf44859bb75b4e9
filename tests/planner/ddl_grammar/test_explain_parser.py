"""EXPLAIN's options: what is read before the statement, and where that begins."""

import pytest

from pykudu_sql.planner.ddl_grammar.explain_parser import ExplainOptions, explain_options
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.plan import ExplainFormat
from pykudu_sql.storage.errors import SyntaxError


def test_explain_alone_is_text_and_does_not_run() -> None:
    tokens = TokenStream("explain select 1")
    assert explain_options(tokens) == ExplainOptions(False, ExplainFormat.TEXT, False)
    assert tokens.current.word == "SELECT"


@pytest.mark.parametrize(
    "written", ["explain analyze (format json, passes)", "EXPLAIN (Passes, Analyze, Format Json)"]
)
def test_options_come_in_any_order_and_case(written: str) -> None:
    tokens = TokenStream(f"{written} delete from t")
    assert explain_options(tokens) == ExplainOptions(True, ExplainFormat.JSON, True)
    assert tokens.current.word == "DELETE"


@pytest.mark.parametrize(
    ("written", "runs"),
    [
        ("explain (analyze, buffers, verbose off, costs true)", True),
        ("explain analyze verbose", True),
        ("explain verbose", False),
        ("explain (summary, analyze false)", False),
    ],
)
def test_switches_of_postgresql_without_a_meaning_here_change_nothing(
    written: str, runs: bool
) -> None:
    tokens = TokenStream(f"{written} select 1")
    assert explain_options(tokens) == ExplainOptions(runs, ExplainFormat.TEXT, False)
    assert tokens.current.word == "SELECT"


@pytest.mark.parametrize("query", ["(select 1)", "((values (1)))", "(from t)"])
def test_a_query_in_parentheses_is_no_list_of_options(query: str) -> None:
    tokens = TokenStream(f"explain {query}")
    assert explain_options(tokens) == ExplainOptions(False, ExplainFormat.TEXT, False)
    assert tokens.current.text == "("


@pytest.mark.parametrize(
    ("sql", "offender", "hint"),
    [
        ("explain (colour) select 1", "colour", "ANALYZE, FORMAT, PASSES"),
        ("explain (format yaml) select 1", "yaml", "TEXT or JSON"),
        ("explain () select 1", ")", "ANALYZE"),
        ("explain (analyze select 1", "select", "')'"),
    ],
)
def test_an_unknown_option_is_named_with_those_there_are(
    sql: str, offender: str, hint: str
) -> None:
    with pytest.raises(SyntaxError) as caught:
        explain_options(TokenStream(sql))
    assert caught.value.message == f'syntax error at or near "{offender}"'
    assert hint in (caught.value.hint or "")
