"""Numbers of very many digits, written or as parameters: refused at once, in a short message."""

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pykudu_sql

_HUGE_NUMBERS = (
    10**5000,
    -(10**5000),
    Decimal("1E+999999"),
    Decimal("-1E+999999999"),
    Decimal(10) ** 5000,
)


@pytest.mark.parametrize("number", _HUGE_NUMBERS, ids=lambda number: f"{type(number).__name__}")
@pytest.mark.parametrize(
    "statement",
    [
        "UPSERT INTO sizes VALUES (?, 1, 1, 'a')",
        "UPSERT INTO sizes VALUES (1, ?, 1, 'a')",
        "UPDATE sizes SET amount = ?",
        "SELECT k FROM sizes AS OF ?",
        "SELECT k FROM sizes LIMIT ?",
        "SELECT k FROM sizes WHERE k IN (?)",
        "SELECT k FROM sizes WHERE name = ?",
        "SELECT CAST(? AS INT)",
        "SELECT coalesce(amount, ?) FROM sizes",
        "SELECT ? UNION SELECT amount FROM sizes",
    ],
)
def test_a_number_of_very_many_digits_is_refused_at_once_in_a_short_message(
    statement: str, number: Any
) -> None:
    conn = pykudu_sql.connect(autocommit=True)
    conn.execute(
        "CREATE TABLE sizes (k INT PRIMARY KEY, amount DECIMAL(9,2), x DOUBLE, name STRING)"
    )
    conn.execute("INSERT INTO sizes VALUES (1, 1, 1, 'a')")
    parameter: Any = [number, 1] if "IN (?)" in statement else number
    with pytest.raises(pykudu_sql.Error) as raised:
        conn.execute(statement, (parameter,))
    assert raised.value.sqlstate != "XX000"
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("literal", ["1e999999", "-1e999999999", "1e-999999999"])
def test_a_literal_of_a_huge_exponent_is_no_moment_and_no_interval(literal: str) -> None:
    conn = pykudu_sql.connect(autocommit=True)
    conn.execute("CREATE TABLE sizes (k INT PRIMARY KEY)")
    with pytest.raises(pykudu_sql.Error) as raised:
        conn.execute(f"SELECT k FROM sizes AS OF {literal}")
    assert raised.value.sqlstate != "XX000"
    with suppress(pykudu_sql.DataError, pykudu_sql.ProgrammingError):
        conn.execute(f"SELECT INTERVAL {literal} DAYS")


@pytest.mark.parametrize("number", _HUGE_NUMBERS, ids=lambda number: f"{type(number).__name__}")
def test_an_appended_number_of_very_many_digits_does_not_fit(number: Any) -> None:
    conn = pykudu_sql.connect(autocommit=True)
    conn.execute("CREATE TABLE sizes (k INT PRIMARY KEY, amount DECIMAL(9,2), x DOUBLE)")
    for row in ({"k": number}, {"k": 1, "amount": number}, {"k": 1, "x": number}):
        with pytest.raises(pykudu_sql.DataError):
            conn.append("sizes", [row])


def test_a_cursor_takes_counts_beyond_a_machine_word() -> None:
    conn = pykudu_sql.connect()
    assert conn.execute("SELECT 1").fetchmany(10**5000) == [(1,)]
    assert conn.execute("SELECT 1 AS a").fetch_dicts(2**63) == [{"a": 1}]
    asked: list[Callable[[], object]] = [
        lambda: conn.execute("SELECT 1").fetchmany(-(10**5000)),
        lambda: conn.execute("SELECT 1").fetch_record_batch(-(10**5000)),
        lambda: conn.execute("SELECT 1").scroll(10**5000),
        lambda: pykudu_sql.connect(memory_limit=10**5000),
        lambda: pykudu_sql.connect(statement_timeout=-(10**5000)),
    ]
    for ask in asked:
        with pytest.raises(pykudu_sql.Error) as raised:
            ask()
        assert raised.value.sqlstate != "XX000"


def test_an_integer_beyond_all_types_makes_no_table() -> None:
    with pytest.raises(pykudu_sql.ProgrammingError) as raised:
        pykudu_sql.connect().create_table("sizes", {"a": [10**5000]}, key=["a"])
    assert raised.value.sqlstate == "42P16"


@pytest.mark.parametrize(
    "moment", [np.datetime64(2**62, "s"), np.datetime64(-(2**40), "Y"), np.datetime64(2**50, "D")]
)
def test_a_numpy_time_beyond_64_bits_of_microseconds_does_not_wrap_around(
    moment: np.datetime64,
) -> None:
    conn = pykudu_sql.connect(autocommit=True)
    conn.execute("CREATE TABLE moments (k INT PRIMARY KEY, at TIMESTAMP, day DATE)")
    for column in ("at", "day"):
        with pytest.raises(pykudu_sql.DataError):
            conn.append("moments", [{"k": 1, column: moment}])
        with pytest.raises(pykudu_sql.DataError):
            conn.execute(f"INSERT INTO moments (k, {column}) VALUES (1, ?)", (moment,))
        with pytest.raises(pykudu_sql.DataError):
            conn.execute(f"SELECT k FROM moments WHERE {column} < ?", (moment,))


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TINYINT", "DOUBLE", "STRING"])
def test_a_value_that_cannot_be_written_out_is_named_by_its_type(kind: str) -> None:
    conn = pykudu_sql.connect(autocommit=True)
    conn.execute(f"CREATE TABLE moments (k INT PRIMARY KEY, v {kind})")
    with pytest.raises(pykudu_sql.DataError, match="TimestampScalar"):
        conn.append("moments", [{"k": 1, "v": pa.scalar(2**62, pa.timestamp("s"))}])
