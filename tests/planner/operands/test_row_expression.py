"""Expressions over the cells of one row: their values, and when only the engine can tell."""

import math
from decimal import Decimal

import pytest

from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.row_expression import (
    Arithmetic,
    ArithmeticOp,
    Concatenation,
    FirstNotNull,
    Negation,
    ParameterCell,
    ProposedCell,
    RowCells,
    RowExpression,
    evaluate,
    nodes,
    parameter_cell,
)
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, FixedCell
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind, decimal_type
from pykudu_sql.storage.errors import InterfaceError

BYTE, LONG, DOUBLE = DataType(Kind.INT8), DataType(Kind.INT64), DataType(Kind.DOUBLE)
MONEY = decimal_type(4, 2)


def value(expression: RowExpression, *stored: Cell) -> Cell:
    cells = RowCells(dict(enumerate(stored)), {0: 40}, {})
    return evaluate(expression, cells)


def computed(op: str, left: Cell, right: Cell, data_type: DataType) -> Cell:
    expression = Arithmetic(ColumnCell(0), ArithmeticOp(op), ColumnCell(1), data_type)
    return value(expression, left, right)


@pytest.mark.parametrize(
    ("op", "left", "right", "data_type", "result"),
    [
        ("+", 100, 27, BYTE, 127),
        ("-", -100, 28, BYTE, -128),
        ("*", 3, -4, BYTE, -12),
        ("+", (1 << 62), (1 << 62) - 1, LONG, (1 << 63) - 1),
        ("+", 9900, 99, MONEY, 9999),
        ("*", 0.1, 3.0, DOUBLE, 0.30000000000000004),
        ("-", None, 1, LONG, None),
        ("-", 1, None, LONG, None),
    ],
)
def test_arithmetic_gives_what_fits_its_type(
    op: str, left: Cell, right: Cell, data_type: DataType, result: Cell
) -> None:
    assert computed(op, left, right, data_type) == result


@pytest.mark.parametrize(
    ("op", "left", "right", "data_type"),
    [
        ("+", 100, 28, BYTE),
        ("*", 1 << 62, 2, LONG),
        ("+", 9999, 1, MONEY),
        ("*", 1e200, 1e200, DOUBLE),
        ("+", math.nan, 1.0, DOUBLE),
        ("-", math.inf, math.inf, DOUBLE),
    ],
)
def test_a_result_beyond_the_type_is_for_the_engine(
    op: str, left: Cell, right: Cell, data_type: DataType
) -> None:
    with pytest.raises(EngineRequiredError):
        computed(op, left, right, data_type)


def test_texts_flags_and_first_values() -> None:
    assert value(Concatenation(ColumnCell(0), FixedCell("b")), "a") == "ab"
    assert value(Concatenation(ColumnCell(0), FixedCell("b")), None) is None
    assert value(Negation(ColumnCell(0)), False) is True
    assert value(Negation(ColumnCell(0)), None) is None
    first = FirstNotNull((ColumnCell(0), ProposedCell(0)))
    assert [value(first, cell) for cell in (0, None)] == [0, 40]


def test_all_values_of_coalesce_are_computed() -> None:
    too_large = Arithmetic(FixedCell(127), ArithmeticOp.ADD, FixedCell(1), BYTE)
    with pytest.raises(EngineRequiredError):
        value(FirstNotNull((FixedCell(1), too_large)))


def test_the_nodes_of_an_expression_come_from_outside_in() -> None:
    part = Negation(ColumnCell(3))
    whole = FirstNotNull((part, Concatenation(FixedCell("a"), ColumnCell(4))))
    assert [type(node).__name__ for node in nodes(whole)] == [
        "FirstNotNull", "Negation", "ColumnCell", "Concatenation", "FixedCell", "ColumnCell",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data_type", "given", "cell"),
    [
        (BYTE, 127, 127),
        (BYTE, None, None),
        (MONEY, Decimal("1.5"), 150),
        (MONEY, 7, 700),
        (DOUBLE, 3, 3.0),
        (DataType(Kind.STRING), "é", "é"),
    ],
)
def test_a_parameter_of_the_type_is_its_cell(
    data_type: DataType, given: object, cell: Cell
) -> None:
    assert parameter_cell(Parameter(0, data_type, "c"), (given,)) == cell


@pytest.mark.parametrize(
    ("data_type", "given"),
    [
        (BYTE, 128),
        (BYTE, 1.0),
        (BYTE, "1"),
        (LONG, True),
        (MONEY, Decimal("0.005")),
        (MONEY, 100),
        (MONEY, 1.5),
        (DOUBLE, math.nan),
        (DOUBLE, (1 << 53) + 1),
        (DOUBLE, Decimal("0.1")),
        (DataType(Kind.STRING), 5),
    ],
)
def test_a_parameter_of_another_kind_is_for_the_engine(data_type: DataType, given: object) -> None:
    with pytest.raises(EngineRequiredError):
        parameter_cell(Parameter(0, data_type, "c"), (given,))


def test_a_parameter_without_a_value_is_an_error() -> None:
    with pytest.raises(InterfaceError, match="no value was given"):
        parameter_cell(ParameterCell(Parameter(1, LONG, "c")).parameter, (5,))
