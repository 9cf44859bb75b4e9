"""Python values as parameters: which SQL has, and what each is compared with."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import pykudu_sql
from pykudu_sql.planner.operands.parameter_types import check_comparable, parameter_name, sql_value
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import InterfaceError, InvalidValueError


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int16(5), 5),
        (np.bool_(True), True),
        (np.datetime64("2026-01-05T00:00:00.000001999"), dt.datetime(2026, 1, 5, 0, 0, 0, 2)),
        (bytearray(b"x"), b"x"),
        (memoryview(b"x"), b"x"),
        (None, None),
    ],
)
def test_a_value_of_another_library_becomes_the_plain_one(value: Any, plain: object) -> None:
    given = sql_value(value, 0, "c")
    assert (type(given), given) == (type(plain), plain)


def test_what_sql_has_no_value_for_is_named_with_its_parameter_and_column() -> None:
    with pytest.raises(InterfaceError, match=r"parameter number 2 for column 'c': .* type list"):
        sql_value([1], 1, "c")
    with pytest.raises(InvalidValueError, match="parameter :day: 'NaT' is no time"):
        sql_value(np.datetime64("NaT"), "day", "")
    assert (parameter_name(0), parameter_name("x")) == ("parameter number 1", "parameter :x")


@pytest.mark.parametrize(
    "value",
    [
        dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=14))),
        dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(dt.timedelta(hours=-14))),
        Decimal("sNaN"),
    ],
)
@pytest.mark.parametrize("sql", ["SELECT ?", "SELECT [?]", "SELECT * FROM t WHERE v IN (?, 1)"])
def test_a_value_of_python_that_sql_has_not_is_refused_wherever_it_is_given(
    value: object, sql: str
) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (k TIMESTAMP PRIMARY KEY, v DOUBLE)")
        for text in (sql, "SELECT * FROM t WHERE k = ?", "SELECT * FROM t FOR TIMESTAMP AS OF ?"):
            with pytest.raises(pykudu_sql.DataError, match=r"is no (time|value)") as raised:
                connection.execute(text, [value])
            assert raised.value.sqlstate == "22018"


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("INT", [1, 1.5, True, "1", None], [b"1", dt.date(2026, 1, 1)]),
        ("DATE", [dt.date(2026, 1, 1), dt.datetime(2026, 1, 1), "x"], [1, b""]),
        ("BINARY", [b"", "x"], [1]),
        ("STRING", ["", None], [1, True, b"", dt.date(2026, 1, 1), dt.time(1), dt.timedelta(1)]),
    ],
)
def test_a_column_is_compared_with_values_of_its_family(
    name: str, taken: list[object], refused: list[object]
) -> None:
    kind = parse_type(name)
    for value in taken:
        check_comparable(value, kind, 0, "c")
    for value in refused:
        with pytest.raises(InterfaceError, match=f"column 'c' of type {name}") as raised:
            check_comparable(value, kind, 0, "c")
        assert raised.value.sqlstate == "07006"
