"""What other databases have is refused by its name, with what to write instead."""

import pytest
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.parse.unsupported import (
    refuse_unsupported_node,
    refuse_unsupported_statement,
    refuse_with_offset,
    unsupported_clause,
)
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("grant select on t to x", "GRANT", "who may read the files"),
        ("Create Temp table t (a int)", "CREATE TEMP", "drop it again"),
        ("create sequence s", "CREATE SEQUENCE", "numbers the rows"),
        ("checkpoint", "CHECKPOINT", "FLUSH"),
    ],
)
def test_a_statement_of_another_database_is_refused(text: str, what: str, hint: str) -> None:
    with pytest.raises(NotSupportedError, match=f"^{what} is not supported") as caught:
        refuse_unsupported_statement(TokenStream(text))
    assert hint in (caught.value.hint or "")
    assert caught.value.span is not None and caught.value.span.start == 0


@pytest.mark.parametrize("text", ["", "create table t (a int)", "'grant'", '"grant"', "granted"])
def test_other_statements_pass(text: str) -> None:
    refuse_unsupported_statement(TokenStream(text))


def test_a_clause_without_advice_is_refused_as_well() -> None:
    span = SourceSpan(3, 4)
    known, unknown = (unsupported_clause(what, span) for what in ("CONNECT BY", "ROWS FROM"))
    assert (known.hint, unknown.hint) == ("write WITH RECURSIVE", None)
    assert (unknown.message, unknown.span) == ("ROWS FROM is not supported", span)


def test_with_offset_is_refused_where_it_stands() -> None:
    text = "select * from unnest([1]) as x with offset as i"
    with pytest.raises(NotSupportedError, match="WITH OFFSET") as caught:
        refuse_with_offset(DuckDB().tokenize(text))
    assert caught.value.span is not None
    assert text[caught.value.span.start :].startswith("offset")


@pytest.mark.parametrize(
    "text",
    [
        "with offset as (select 1) select 2",
        "with offset(a) as (select 1) select 2",
        "with offset as materialized (select 1) select 2",
        "with offset as not materialized (select 1) select 2",
        "select 1 limit 2 offset 3",
    ],
)
def test_a_with_query_may_be_called_offset(text: str) -> None:
    refuse_with_offset(DuckDB().tokenize(text))


@pytest.mark.parametrize(
    ("node", "what"), [(exp.Lock(), "FOR UPDATE"), (exp.Insert(), "a statement inside a query")]
)
def test_a_node_of_what_is_not_supported_is_refused(node: exp.Expr, what: str) -> None:
    with pytest.raises(NotSupportedError, match=f"^{what} is not supported"):
        refuse_unsupported_node(node)
    refuse_unsupported_node(exp.Select())
