"""Infinity and NaN are beyond every exact number, wherever they would become one."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection, Error

TYPES = {"i": "INT", "b": "BIGINT", "m": "DECIMAL(9,2)"}
TEXTS = ("inf", "-Infinity", " nan ")
FLOATS = (float("inf"), float("-inf"), float("nan"))


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        for table in ("filled", "empty"):
            opened.execute(
                f"CREATE TABLE {table} (k INT PRIMARY KEY, i INT, b BIGINT, m DECIMAL(9,2))"
            )
        opened.execute("INSERT INTO filled VALUES (1, 1, 1, 1)")
        yield opened


def sqlstate(connection: Connection, sql: str, *parameters: Any) -> str | None:
    try:
        connection.execute(sql, parameters)
    except Error as error:
        return error.sqlstate
    return None


@pytest.mark.parametrize("column", TYPES)
@pytest.mark.parametrize("text", TEXTS)
def test_it_is_cast_and_written_to_no_exact_number(
    connection: Connection, text: str, column: str
) -> None:
    double = f"CAST('{text}' AS DOUBLE)"
    for value in (f"'{text}'", double):
        for statement in (
            f"SELECT CAST({value} AS {TYPES[column]})",
            f"INSERT INTO empty (k, {column}) VALUES (1, {value})",
            f"INSERT INTO empty (k, {column}) SELECT 1, {value}",
            f"UPDATE filled SET {column} = {value} WHERE k = 1",
            f"UPDATE filled SET {column} = {value} WHERE k > 0",
        ):
            assert sqlstate(connection, statement) == "22003", statement
    assert connection.execute(f"SELECT TRY_CAST('{text}' AS {TYPES[column]})").fetchone() == (None,)


@pytest.mark.parametrize("column", TYPES)
@pytest.mark.parametrize("value", [*TEXTS, *FLOATS, Decimal("NaN"), Decimal("-Infinity")], ids=repr)
def test_a_parameter_of_it_becomes_no_exact_number(
    connection: Connection, value: Any, column: str
) -> None:
    for statement in (
        f"INSERT INTO empty (k, {column}) VALUES (1, ?)",
        f"UPDATE filled SET {column} = ? WHERE k = 1",
        f"UPDATE filled SET {column} = ? WHERE k > 0",
    ):
        assert sqlstate(connection, statement, value) == "22003", statement


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_of_it_is_compared_with_no_exact_number(connection: Connection, text: str) -> None:
    for table in ("empty", "filled"):
        for compared in ("k", "i", "m", "i + 1", "m * 2"):
            statement = f"SELECT 1 FROM {table} WHERE {compared} = ?"
            assert sqlstate(connection, statement, text) == "22003", statement


@pytest.mark.parametrize("column", TYPES)
def test_a_long_number_is_only_unequal_to_a_column(connection: Connection, column: str) -> None:
    for table in ("empty", "filled"):
        statement = f"SELECT 1 FROM {table} WHERE {column} = ?"
        assert sqlstate(connection, statement, "9" * 30) is None


@pytest.mark.parametrize("column", TYPES)
@pytest.mark.parametrize("value", [*TEXTS, *FLOATS], ids=repr)
def test_it_is_not_appended_to_a_column_of_exact_numbers(
    connection: Connection, value: Any, column: str
) -> None:
    fitting = "1" if isinstance(value, str) else 1.0
    rows = pa.table({"k": pa.array([1, 2]), column: pa.array([fitting, value])})
    with pytest.raises(Error, match=f"column '{column}'") as caught:
        connection.append("empty", rows)
    assert caught.value.sqlstate == "22003"
