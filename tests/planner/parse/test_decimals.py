"""DECIMAL with and without parameters."""

import pytest
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.parse.decimals import complete_decimals, mark_precisions
from pykudu_sql.storage.common.types.type_names import parse_type


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
