"""Parameters that no column can hold: a clear error or no row, never a crash, a wrap or a wait."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection

HUGE_TEXT = "9" * 4000


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n BIGINT, d DECIMAL(9, 2))")
        connection.execute("INSERT INTO t VALUES (5, 5, 5)")
        yield connection


@pytest.mark.parametrize("column", ["id", "n", "d"])
@pytest.mark.parametrize("value", [Decimal("1E-99999999"), Decimal("1E+99999"), Decimal("NaN")])
def test_extreme_decimals_equal_no_cell(connection: Connection, column: str, value: Any) -> None:
    assert connection.execute(f"SELECT id FROM t WHERE {column} = ?", (value,)).fetchall() == []


@pytest.mark.parametrize("column", ["id", "n", "d"])
def test_text_of_thousands_of_digits_is_no_number(connection: Connection, column: str) -> None:
    with pytest.raises(pykudu_sql.DataError):
        connection.execute(f"SELECT id FROM t WHERE {column} = ?", (HUGE_TEXT,))


@pytest.mark.parametrize("column", ["id", "n", "d"])
def test_a_literal_of_thousands_of_digits_is_beyond_every_cell(
    connection: Connection, column: str
) -> None:
    for condition, found in ((f"= {HUGE_TEXT}", []), (f"< {HUGE_TEXT}", [(5,)])):
        rows = connection.execute(f"SELECT id FROM t WHERE {column} {condition}").fetchall()
        assert rows == found


@pytest.mark.parametrize("value", [1 << 127, -(1 << 127) - 1, 10**100])
def test_integers_of_more_than_128_bits_are_refused(connection: Connection, value: int) -> None:
    with pytest.raises(pykudu_sql.DataError) as caught:
        connection.execute("SELECT ?", (value,))
    assert caught.value.sqlstate == "22003"


@pytest.mark.parametrize("value", [1 << 127, 10**40, 10**400])
@pytest.mark.parametrize("left", ["id", "id + 0", "CASE WHEN id > 0 THEN id END"])
def test_an_integer_beyond_all_types_equals_nothing_and_is_beyond_all_rows(
    connection: Connection, left: str, value: int
) -> None:
    def matched(condition: str, given: int) -> bool:
        sql = f"SELECT 1 FROM t WHERE {left} {condition} AND id = 5"
        return bool(connection.execute(sql, [given]).fetchall())

    assert not matched("= ?", value) and not matched("= ?", -value)
    assert matched("<> ?", value) and matched("IN (?, 5)", value)
    assert matched("< ?", value) and not matched("> ?", value)
    assert matched("> ?", -value) and not matched("< ?", -value)


@pytest.mark.parametrize("value", [(1 << 127) - 1, -(1 << 127)])
def test_integers_of_128_bits_come_back_as_they_are(connection: Connection, value: int) -> None:
    assert connection.execute("SELECT ?", (value,)).fetchall() == [(value,)]


@pytest.mark.parametrize("parameters", [5, iter([1]), "1", {"a": 1}])
def test_what_is_no_sequence_is_no_set_of_parameters(
    connection: Connection, parameters: Any
) -> None:
    with pytest.raises(pykudu_sql.InterfaceError) as caught:
        connection.execute("SELECT ?", parameters)
    assert caught.value.sqlstate == "07001"
