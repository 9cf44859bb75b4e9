"""Which values a stored cell is compared with just as the engine does."""

import datetime as dt
from decimal import Decimal

import pytest

from pykudu_sql.planner.operands.comparison import ANY_ROW, among, compare, exact_cell
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, InList, Op
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type

DAY, MOMENT = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12)


def column(type_name: str) -> ColumnSchema:
    return ColumnSchema(3, "x", parse_type(type_name), nullable=True)


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("INT", 5), ("TINYINT", 5000), ("BIGINT", -(1 << 63)), ("INT", 1.5), ("INT", "1.5"),
        ("INT", Decimal("0.1")), ("BIGINT", (1 << 127) - 1), ("DECIMAL(5,2)", 1),
        ("DECIMAL(5,2)", "0.005"), ("STRING", "ä"), ("VARCHAR(2)", "abc"), ("DATE", DAY),
        ("DATE", " 2020-02-29"), ("DATE", MOMENT), ("TIMESTAMP", MOMENT), ("TIMESTAMP", DAY),
        ("TIMESTAMP", "2020-02-29"), ("TIMESTAMP", "2020-02-29T12:00:00.25"), ("BOOLEAN", True),
        ("BINARY", b"x"), ("DOUBLE", None),
    ],
)  # fmt: skip
def test_values_that_a_cell_has_exactly_or_lies_beside_are_compared_exactly(
    type_name: str, value: object
) -> None:
    for op in Op:
        assert compare(column(type_name), op, value).is_exact


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("INT", True), ("BIGINT", float(1 << 53)), ("BIGINT", 1 << 127), ("INT", "x"),
        ("STRING", "\ud800"), ("STRING", 5), ("DATE", "2020-02-30"), ("DATE", "20200229"),
        ("TIMESTAMP", MOMENT.replace(tzinfo=dt.UTC)), ("TIMESTAMP", "2020-02-29 12:00:00Z"),
        ("TIMESTAMP", "2020-02-29 12:00:00.1234567"), ("BOOLEAN", 1), ("DOUBLE", True),
        ("DOUBLE", (1 << 53) + 1), ("DOUBLE", Decimal("1.000000000000001")),
        ("DOUBLE", Decimal("1E+5")), ("DOUBLE", Decimal("NaN")),
        ("FLOAT", 1), ("DECIMAL(5,2)", 1.5),
    ],
)  # fmt: skip
def test_with_all_others_only_the_engine_compares_exactly(type_name: str, value: object) -> None:
    for op in Op:
        assert not compare(column(type_name), op, value).is_exact


def test_a_list_is_as_exact_as_all_its_values() -> None:
    assert among(column("INT"), [1, "2", None]) == (InList(3, (1, 2)), True)
    assert among(column("INT"), [1, "x"]) == ANY_ROW
    assert among(column("BOOLEAN"), [True]) == (Comparison(3, Op.EQ, True), True)


def test_the_cell_of_a_key_is_that_of_an_exact_equality() -> None:
    assert exact_cell(parse_type("DATE"), MOMENT) is None
    assert exact_cell(parse_type("DATE"), str(DAY)) == 18321
