"""Predicates joined while some still wait for parameters."""

from collections.abc import Callable, Sequence

import pytest

from pykudu_sql.planner.operands.comparison import ALWAYS, NEVER
from pykudu_sql.planner.operands.template import (
    AllOf,
    AnyOf,
    ParameterComparison,
    PredicateTemplate,
    all_of,
    any_of,
)
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.storage.common.predicate.column_predicate import And, Comparison, Op, Or, Predicate
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind

Join = Callable[[Sequence[PredicateTemplate]], PredicateTemplate]

COLUMN = ColumnSchema(1, "a", DataType(Kind.INT32), nullable=False)
WAITING = ParameterComparison(COLUMN, Op.EQ, Parameter(0, COLUMN.type, COLUMN.name))
LESS, MORE = Comparison(1, Op.LT, 5), Comparison(1, Op.GT, 1)


@pytest.mark.parametrize(
    ("join", "joined", "neutral", "absorbing"),
    [(all_of, AllOf, ALWAYS, NEVER), (any_of, AnyOf, NEVER, ALWAYS)],
)
def test_a_part_that_decides_the_join_is_all_of_it(
    join: Join, joined: type[AllOf] | type[AnyOf], neutral: Predicate, absorbing: Predicate
) -> None:
    assert join([WAITING, absorbing]) == absorbing
    assert join([WAITING, neutral]) == WAITING
    assert join([neutral]) == neutral
    assert join([LESS, WAITING]) == joined((LESS, WAITING))


@pytest.mark.parametrize(("join", "whole"), [(all_of, And), (any_of, Or)])
def test_complete_parts_are_one_predicate(join: Join, whole: type[And] | type[Or]) -> None:
    assert join([LESS, MORE]) == whole((LESS, MORE))
    both = join([LESS, WAITING, MORE])
    assert isinstance(both, AllOf | AnyOf)
    assert both.parts == (whole((LESS, MORE)), WAITING)
