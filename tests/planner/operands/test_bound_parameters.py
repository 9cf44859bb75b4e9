"""Which values of parameters planning takes, and that it notes them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pykudu_sql.planner.operands.bound_parameters import (
    BoundParameters,
    can_bind,
    has_list,
    row_count,
)
from pykudu_sql.storage.errors import InterfaceError


@pytest.mark.parametrize(
    ("parameters", "is_list"),
    [
        (([1],), True),
        ((1, "a"), False),
        ([(1, 2)], True),
        ({"a": {1}}, True),
        ({"a": "text"}, False),
        ((np.arange(2),), True),
        ((pa.array([1]),), True),
        ((), False),
        ((b"bytes",), False),
    ],
)
def test_a_list_among_parameters_is_seen(parameters: Any, is_list: bool) -> None:
    assert has_list(parameters) is is_list


def test_only_plain_containers_are_looked_into() -> None:
    class Odd(dict[str, Any]):
        def __len__(self) -> int:
            raise RuntimeError

    assert not can_bind(Odd(a=1))
    assert not has_list(Odd(a=[1]))
    assert not can_bind(None)
    assert can_bind({"a": 1})


def test_what_is_taken_is_noted() -> None:
    given = BoundParameters("", (5, [1, 2], np.array([3])))
    assert given.list_of(0) is None
    assert not given.used
    assert given.list_of(1) == [1, 2]
    assert given.list_of(2) == [3]
    assert given.value(0, "") == 5
    assert given.list_of(9) is None
    assert given.used == {0, 1, 2}
    with pytest.raises(InterfaceError, match="number 4"):
        given.value(3, "")


@pytest.mark.parametrize(
    ("series", "values"),
    [
        (pd.Series([1.0, float("nan"), 2.0], index=[7, 7, 8]), [1.0, None, 2.0]),
        (pd.Series(["a", None]), ["a", None]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series([], dtype="int64"), []),
        (pd.Index([1, 2]), [1, 2]),
        (pd.MultiIndex.from_tuples([(1, "a")]), [(1, "a")]),
        (pd.array([1, None], dtype="Int64"), [1, None]),
        (pl.Series([1, None]), [1, None]),
        (range(1, 3), [1, 2]),
    ],
)
def test_series_are_lists(series: Any, values: list[Any]) -> None:
    given = BoundParameters("", (series,))

    assert has_list((series,))
    assert given.list_of(0) == values


@pytest.mark.parametrize(
    "value", [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pd.Series, pd.Timestamp(0)]
)
def test_frames_and_single_values_are_no_lists(value: Any) -> None:
    assert not has_list((value,))


def test_numbers_of_rows_are_integers_that_are_not_negative() -> None:
    bound = BoundParameters("", (5, -1, True, "5", None, np.int64(5), 2.0))
    assert [bound.count_of(key) for key in range(8)] == [5] + [None] * 7
    assert bound.counts == {0}
    assert not bound.used
    assert row_count({"n": 0}, "n") == 0
    assert row_count({"n": 0}, "m") is None
