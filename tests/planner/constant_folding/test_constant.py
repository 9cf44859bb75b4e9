"""Constants of predicates: literals as they are, the rest as the engine computes it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from sqlglot import exp

from pykudu_sql.planner.constant_folding.constant import (
    Constant,
    Hole,
    Typing,
    constant,
    constants,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.type_names import parse_type


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("((5))", 5),
        ("-5", -5),
        ("1.50", Decimal("1.50")),
        ("1e3", 1000.0),
        ("9" * 39, Decimal("9" * 39)),
        ("'x'", "x"),
        ("null", None),
        ("true", True),
        ("x'0aff'", b"\x0a\xff"),
        ("date '2026-01-31'", dt.date(2026, 1, 31)),
        ("timestamp '2026-01-31 12:00:00'", dt.datetime(2026, 1, 31, 12)),
        ("2 * 3 + 1", 7),
    ],
)
def test_an_expression_without_rows_is_a_constant(
    context: PlanContext, text: str, value: object
) -> None:
    made = constant(parse(f"select {text}").expressions[0], context)
    assert isinstance(made, Constant)
    assert (made.value, type(made.value)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("5", True), ("1e3", True), ("2 + 3", True), ("cast(5 as tinyint)", True), ("'x'", True),
        ("nullif(1, 1)", True), ("'a' || upper('b')", False), ("1 / 2", False),
        ("cast(5 as float)", False), ("to_json(5)", False), ("cast('a' as enum('a'))", False),
        ("date '2020-01-01' - interval 1 hour", True),
        ("timestamp '2020-01-01 10:00:00.1234567'", True),
        ("cast('2020-01-01 10:00:00.1234567' as timestamp_ns)", False),
    ],
)  # fmt: skip
def test_a_constant_says_whether_its_value_is_all_that_meets_a_column(
    context: PlanContext, text: str, is_whole: bool
) -> None:
    made = constant(parse(f"select {text}").expressions[0], context)
    assert isinstance(made, Constant)
    assert made.is_whole_beside(parse_type("TIMESTAMP")) is is_whole


def test_a_computed_text_is_only_a_text(context: PlanContext) -> None:
    (node,) = _items("'a' || upper('b')")
    made = constant(node, context)
    assert isinstance(made, Constant)
    assert made.is_whole_beside(parse_type("VARCHAR(9)"))


@pytest.mark.parametrize("text", ["a", "a + 1", "random()", "(select 1)", "1 + ?"])
def test_what_varies_is_no_constant(context: PlanContext, text: str) -> None:
    assert constant(parse(f"select {text} from t").expressions[0], context) is None


@pytest.mark.parametrize(("text", "key"), [("?", 0), (":x", "x")])
def test_a_parameter_is_a_hole(context: PlanContext, text: str, key: int | str) -> None:
    assert constant(parse(f"select {text}").expressions[0], context) == Hole(key)


def _items(text: str) -> list[exp.Expr]:
    items: list[exp.Expr] = parse(f"select {text}").expressions
    return items


def test_what_the_engine_computes_of_a_list_it_computes_together(context: PlanContext) -> None:
    asked: list[str] = []

    def evaluate(sql: str) -> Sequence[Any]:
        asked.append(sql)
        return context.evaluate(sql)

    nodes = _items(", ".join(f"abs({i}), {i}, 'x' || '{i}'" for i in range(-200, 200)))
    made = constants(nodes, replace(context, evaluate=evaluate))
    expected = [
        Constant(value, typing)
        for i in range(-200, 200)
        for value, typing in (
            (abs(i), Typing.COMPUTED),
            (i, Typing.LITERAL),
            (f"x{i}", Typing.COMPUTED),
        )
    ]
    assert made == expected
    assert len(asked) == 4


@pytest.mark.parametrize("odd", ["a", "random()", "CAST('x' AS INT)", "1 + ?"])
def test_a_list_is_constant_only_as_a_whole(context: PlanContext, odd: str) -> None:
    assert constants(_items(f"1, abs(2), ?, {odd}, abs(3)"), context) is None
    assert constants(_items("1, abs(2), ?"), context) == [
        Constant(1),
        Constant(2, Typing.COMPUTED),
        Hole(0),
    ]
