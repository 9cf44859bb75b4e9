"""The types of numbers that are written are those that the engine gives them."""

import duckdb
import pytest
from sqlglot import exp

from pykudu_sql.planner.types.literal_types import fits_integer, literal_type, number

WRITTEN = [
    *("0", "127", "2147483647", "2147483648", "9223372036854775808", "1.50", "0.5", "1e3"),
    *(f"0.{'9' * 38}", f"{'9' * 39}.5"),
    *(str(1 << 127), str((1 << 128) - 1), str(1 << 128)),
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_literal_has_the_type_that_the_engine_gives_it(text: str) -> None:
    with duckdb.connect() as engine:
        row = engine.execute(
            f"SELECT typeof({text.removeprefix('0') if '9' * 38 in text else text})"
        )
        (answer,) = row.fetchone() or ()
    assert literal_type(exp.Literal.number(text)) == answer


def test_a_number_keeps_its_sign_through_parentheses() -> None:
    node = exp.Neg(this=exp.Paren(this=exp.Neg(this=exp.Literal.number("1.50"))))
    assert str(number(node)) == "1.50"
    assert number(exp.Literal.number("1e3")) is None
    assert number(exp.Literal.string("1")) is None


def test_a_whole_number_fits_the_integers_that_have_its_value() -> None:
    assert fits_integer(exp.Literal.number("127"), "TINYINT")
    assert not fits_integer(exp.Literal.number("128"), "TINYINT")
    assert not fits_integer(exp.Literal.number("1.5"), "BIGINT")
    assert not fits_integer(exp.Literal.number("1"), "DATE")
