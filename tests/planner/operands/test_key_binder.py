"""A bound key is what `bind_key` makes of the values, whatever they are."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.key_binder import key_binder
from pykudu_sql.planner.operands.value import Parameter, Value, bind_key
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error

KINDS = (Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.STRING, Kind.BINARY, Kind.DATE)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([edge + step for edge in (-128, 127, 2**31, 2**63) for step in (-1, 0, 1)]),
    st.floats(),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
    st.dates(),
    st.just(np.int64(5)),
)


def outcome(bind: object, *arguments: object) -> object:
    try:
        return bind(*arguments)  # type: ignore[operator]
    except (Error, EngineRequiredError) as error:
        return type(error), str(error)


@given(st.sampled_from(KINDS), VALUES)
def test_a_key_of_one_column_is_bound_as_the_general_way_binds_it(
    kind: Kind, value: object
) -> None:
    key: list[Value] = [Parameter(0, DataType(kind), "id")]
    for parameters in ((value,), [value]):
        assert outcome(key_binder(key), parameters) == outcome(bind_key, key, parameters)


@pytest.mark.parametrize(
    ("key", "parameters"),
    [
        ((Parameter("id", DataType(Kind.INT64), "id"),), {"id": 5}),
        ((5,), ()),
        ((Parameter(1, DataType(Kind.INT32), "a"), 7), (1, 2)),
        ((Parameter(0, DataType(Kind.DATE), "d"),), (dt.date(2024, 1, 2),)),
        ((Parameter(0, DataType(Kind.INT64), "id"),), (Decimal("5.0"),)),
    ],
)
def test_keys_of_other_forms_are_bound_the_general_way(
    key: tuple[Value, ...], parameters: tuple[object, ...] | dict[str, object]
) -> None:
    assert key_binder(key)(parameters) == bind_key(key, parameters)
