"""DECIMAL with and without parameters, and what may stand in the parentheses of a text type."""

import pytest
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.token_rewrites.type_parameters import (
    check_text_lengths,
    complete_decimals,
    mark_precisions,
)
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import ProgrammingError


@pytest.mark.parametrize("written", ["DECIMAL(7,2)", "DECIMAL(18,3)", "DECIMAL(9)"])
def test_parameters_that_are_written_stay(written: str) -> None:
    text = f"CAST(1 AS {written})"
    (tree,) = DuckDB().parser().parse(mark_precisions(DuckDB().tokenize(text)), text)
    assert tree is not None
    complete_decimals(tree)
    kind = tree.find(exp.DataType)
    assert kind is not None
    assert kind.sql("duckdb").replace(" ", "") == written


def test_a_bare_decimal_is_that_of_a_column() -> None:
    (tree,) = DuckDB().parse("CAST(1 AS DECIMAL)")
    assert tree is not None
    complete_decimals(tree)
    default = parse_type("DECIMAL")
    kind = tree.find(exp.DataType)
    assert kind is not None
    assert [int(part.name) for part in kind.expressions] == [default.precision, default.scale]


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
