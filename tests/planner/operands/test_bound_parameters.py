"""Which values of parameters planning takes, and that it notes them."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.planner.operands.bound_parameters import BoundParameters, can_bind, has_list
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
