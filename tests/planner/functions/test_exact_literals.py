"""Literals keep the digits they are written with."""

import duckdb
import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.exact_literals import is_long, type_literals
from pykudu_sql.planner.parse.dialect import parse

LONG = "1." + "123456789" * 4 + "12"


def typed(value: str) -> str:
    tree = type_literals(parse(f"SELECT {value}"))
    return tree.sql("duckdb").removeprefix("SELECT ")


@pytest.mark.parametrize("value", ["1.5", "0.5", "15", "1e400", "'0.5'", f"'{LONG}'"])
def test_what_the_engine_reads_as_it_is_written_stays(value: str) -> None:
    assert typed(value) == value


def test_a_zero_before_the_point_does_not_cost_a_digit() -> None:
    whole = "0." + "9" * 38
    printed = typed(whole)
    assert printed == f"CAST('{whole}' AS DECIMAL(38, 38))"
    with duckdb.connect() as engine:
        ((value,),) = engine.execute(f"SELECT ({printed})::TEXT").fetchall()
    assert value == whole.removeprefix("0")


def test_a_number_that_is_too_long_becomes_a_text_in_a_cast_to_a_decimal() -> None:
    assert typed(f"CAST({LONG} AS DECIMAL(38, 5))") == f"CAST('{LONG}' AS DECIMAL(38, 5))"
    assert typed(f"CAST(-(-(-{LONG})) AS DECIMAL(9, 2))") == f"CAST('-{LONG}' AS DECIMAL(9, 2))"
    assert typed(f"CAST({LONG} AS DOUBLE)") == f"CAST({LONG} AS DOUBLE)"


def test_a_value_alone_is_replaced_too() -> None:
    alone = exp.Literal.number("0." + "1" * 38)
    assert isinstance(type_literals(alone), exp.Cast)


@pytest.mark.parametrize(
    ("text", "long"),
    [(LONG, True), ("0" * 50 + ".5", False), ("9" * 50, False), ("1.5e50", False)],
)
def test_a_number_is_long_by_its_digits_that_count(text: str, long: bool) -> None:
    assert is_long(exp.Literal.number(text)) is long
    assert not is_long(exp.Literal.string(text))
