"""Types by the names that the engine gives them: digits, elements, fields, common types."""

import pytest

from pykudu_sql.planner.functions.decimal_values import Digits
from pykudu_sql.planner.types.engine_types import (
    NULL,
    column_type,
    common_name,
    digits_of_type,
    element_type,
    field_type,
    widest_integer,
)
from pykudu_sql.storage.common.types.types import DataType, Kind


@pytest.mark.parametrize(
    ("name", "digits"),
    [("DECIMAL(9,2)", Digits(7, 2)), ("BIGINT", Digits(19, 0)), ("DOUBLE", None), (None, None)],
)
def test_an_exact_number_has_digits(name: str | None, digits: Digits | None) -> None:
    assert digits_of_type(name) == digits


def test_a_list_has_elements_and_a_struct_has_fields_by_any_case() -> None:
    assert element_type("INTEGER[][]") == "INTEGER[]"
    assert element_type("INTEGER") is None
    nested = 'STRUCT(a INTEGER, "b c" STRUCT(d DECIMAL(9,2), e VARCHAR)[])'
    assert field_type(nested, "A") == "INTEGER"
    assert field_type(nested, "b c") == "STRUCT(d DECIMAL(9,2), e VARCHAR)[]"
    assert field_type(nested, "d") is None


def test_several_values_have_the_type_with_all_digits_behind_the_point() -> None:
    def common(*names: str | None) -> str | None:
        return common_name(names, [digits_of_type(name) for name in names])

    assert common("DECIMAL(9,2)", "DECIMAL(4,3)") == "DECIMAL(10,3)"
    assert common("DECIMAL(38,10)", "DECIMAL(38,0)") == "DECIMAL(38,10)"
    assert common(NULL, "DATE") == "DATE"
    assert common("DECIMAL(9,2)", "DOUBLE") == "DOUBLE"
    assert common("DATE", "BIGINT") is None


def test_the_widest_integer_is_none_beside_what_is_no_signed_integer() -> None:
    assert widest_integer(["TINYINT", "BIGINT", "INTEGER"]) == "BIGINT"
    assert widest_integer(["TINYINT", "UBIGINT"]) is None


def test_a_type_of_the_engine_is_that_of_a_column_if_there_is_one() -> None:
    assert column_type("DECIMAL(9,2)") == DataType(Kind.DECIMAL, precision=9, scale=2)
    assert column_type("DATE") == DataType(Kind.DATE)
    assert column_type("INTEGER[]") is None
