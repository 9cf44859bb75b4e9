"""A number beside a FLOAT is a FLOAT, written in any way or passed as a parameter."""

from collections.abc import Iterator
from decimal import Decimal
from math import inf, nan

import pytest

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as made:
        made.execute("CREATE TABLE t (k INT PRIMARY KEY, f FLOAT, d DOUBLE)")
        made.execute("INSERT INTO t VALUES (1, 0.1, 0.1), (2, 0.25, 0.25)")
        yield made


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("f = 0.1", ()),
        ("f = ?", (0.1,)),
        ("? = f", (Decimal("0.1"),)),
        ("f = ?", ("0.1",)),
        ("f = 1e-1", ()),
        ("-f = -1e-1", ()),
        ("f IN (?, 7)", (0.1,)),
        ("f IN (?)", ([0.1, 7],)),
        ("f = ANY(?)", ([0.1, 7],)),
        ("f = ANY([1e-1, 7])", ()),
        ("f BETWEEN ? AND ?", (0.1, 0.1)),
        ("abs(f) + 0 <= ?", (0.1,)),
        ("f < 1e39 AND f < 0.2", ()),
        ("f <> ?", (0.25,)),
        ("nullif(f, ?) IS NULL", (0.1,)),
        ("CASE f WHEN ? THEN true END", (0.1,)),
        ("(k, f) IN ((?, ?))", (1, 0.1)),
        ("f IS NOT DISTINCT FROM ?", (0.1,)),
        ("d = ?", (0.1,)),
        ("d = 1e-1", ()),
    ],
)
def test_one_number_means_the_same_in_every_form(
    connection: Connection, condition: str, parameters: tuple[object, ...]
) -> None:
    query = f"SELECT k FROM t WHERE {condition}"
    assert connection.execute(query, parameters).fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("condition", "value", "found"),
    [
        ("f < ?", 1e39, 2),
        ("f > ?", -inf, 2),
        ("f = ?", nan, 0),
        ("? BETWEEN f AND d", 0.25, 1),
    ],
)
def test_a_number_beyond_all_floats_keeps_its_value(
    connection: Connection, condition: str, value: float, found: int
) -> None:
    query = f"SELECT count(*) FROM t WHERE {condition}"
    assert connection.execute(query, (value,)).fetchall() == [(found,)]


def test_changes_find_the_row_too() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, f FLOAT)")
        connection.execute("INSERT INTO t VALUES (1, 0.1)")
        assert connection.execute("UPDATE t SET f = f WHERE f = ?", (0.1,)).rowcount == 1
        assert connection.execute("DELETE FROM t WHERE k = 1 AND f = ?", (0.1,)).rowcount == 1
