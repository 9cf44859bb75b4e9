"""How many parameters a statement takes, and what is told where others are passed."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql.executor.parameter_shape import check_parameter_shape, parameter_rows
from pykudu_sql.planner.plan.plan import Plan
from pykudu_sql.storage.errors import InterfaceError

Planned = Callable[[str], Plan]
SELECT, NAMED = 2, -1


@pytest.mark.parametrize(
    ("arity", "parameters", "message"),
    [
        (SELECT, (1,), "takes 2 parameter"),
        (SELECT, (1, 2, 3), "3 were given"),
        (SELECT, "ab", "come as a sequence, not as str"),
        (SELECT, b"ab", "not as bytes"),
        (SELECT, {"a": 1}, "not as dict"),
        (SELECT, 7, "not as int"),
        (NAMED, (1,), "named parameters"),
    ],
)
def test_parameters_of_another_shape_are_refused(
    planned: Planned, arity: int, parameters: Any, message: str
) -> None:
    with pytest.raises(InterfaceError, match=message) as caught:
        check_parameter_shape(planned("SELECT 1"), arity, parameters)
    assert caught.value.sqlstate == "07001"
    is_mapping = "mapping stand as :name" in (caught.value.hint or "")
    assert is_mapping == isinstance(parameters, dict)


@pytest.mark.parametrize(
    ("arity", "parameters"),
    [(SELECT, (1, 2)), (SELECT, [1, 2]), (NAMED, {"a": 1}), (0, ()), (0, {})],
)
def test_parameters_of_the_shape_wanted_are_taken(
    planned: Planned, arity: int, parameters: Any
) -> None:
    check_parameter_shape(planned("SELECT 1"), arity, parameters)


def test_a_plan_is_explained_without_its_parameters_and_analyzed_with_them(
    planned: Planned,
) -> None:
    check_parameter_shape(planned("EXPLAIN SELECT 1"), SELECT, ())
    with pytest.raises(InterfaceError):
        check_parameter_shape(planned("EXPLAIN ANALYZE SELECT 1"), SELECT, ())


def test_none_stands_for_no_parameters_and_a_number_for_no_sequence() -> None:
    assert parameter_rows([(1,), None, {"a": 2}]) == [(1,), (), {"a": 2}]
    with pytest.raises(InterfaceError, match="takes a sequence of parameters, not int"):
        parameter_rows(7)  # type: ignore[arg-type]
