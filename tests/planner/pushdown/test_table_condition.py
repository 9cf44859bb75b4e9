"""Joins of conditions, and values that a common type would hold less of."""

from decimal import Decimal
from typing import Any

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, Typing
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.table_condition import (
    Condition,
    conjunction,
    disjunction,
    lose_digits,
)
from pykudu_sql.storage.common.predicate.column_predicate import And, Comparison, IsNull, Op, Or

FIVE, ABSENT = Comparison(1, Op.EQ, 5), IsNull(2)


def test_a_join_is_exact_if_it_is_whole_and_its_parts_are(context: PlanContext) -> None:
    reference = bind(parse("select 1 from t"), context).references[0]
    equal, absent = (
        Condition(reference, FIVE, True, True),
        Condition(reference, ABSENT, False, True),
    )
    assert conjunction([equal, absent], True) == Condition(
        reference, And((FIVE, ABSENT)), True, True
    )
    assert disjunction([equal, absent], True) == Condition(
        reference, Or((ABSENT, FIVE)), False, True
    )
    assert not conjunction([equal, absent], False).is_exact
    assert not conjunction([equal, Condition(reference, ABSENT, False)], True).is_exact


@pytest.mark.parametrize(
    ("values", "loses"),
    [
        ((1, 2), False),
        ((1.5, 2), False),
        ((1.5, (1 << 53) + 1), True),
        ((1.5, Decimal(1 << 54)), True),
        (((1 << 53) + 1, None), False),
    ],
)
def test_large_numbers_beside_doubles_lose_digits(values: tuple[Any, ...], loses: bool) -> None:
    assert lose_digits([Constant(value) for value in values]) is loses
    assert lose_digits([None, Hole(0), Constant(1, Typing.HIDDEN)])
