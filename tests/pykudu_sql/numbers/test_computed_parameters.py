"""Numbers computed from parameters never round the decimals that they meet."""

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import DataError, Error

TYPES = ((38, 38), (38, 30), (38, 20), (20, 4), (9, 2))
COMPUTED = ("{p} + 0", "abs({p})", "-({p} * 1)", "(SELECT {p} + 0)", "coalesce({p} + 0, 1)")
UNITED = (
    "SELECT coalesce({c}, {x}) FROM t",
    "SELECT ifnull({c}, {x}) FROM t",
    "SELECT CASE WHEN k >= 0 THEN {c} ELSE {x} END FROM t",
    "SELECT if(k >= 0, {c}, {x}) FROM t",
    "SELECT [{c}, {x}][1] FROM t",
    "SELECT coalesce({c}, y) FROM t, (SELECT {x} AS y) AS s",
    "SELECT {c} FROM t UNION ALL SELECT {x} WHERE false",
    "SELECT * FROM (SELECT {c} FROM t) AS s UNION ALL SELECT {x} WHERE false",
    "SELECT nullif({c}, {x}) FROM t WHERE NOT {c} = 0",
)
VALUES = (Decimal("0.25"), Decimal("12345678901234567890.5"), Decimal("-0.125"), 7, None)


@pytest.fixture(scope="module")
def columns() -> list[list[Decimal]]:
    random = Random(23)
    return [
        [Decimal((0, tuple(random.choices(range(1, 10), k=p)), -s)) for _ in range(4)]
        for p, s in TYPES
    ]


@pytest.fixture(scope="module")
def connection(columns: list[list[Decimal]]) -> Iterator[pykudu_sql.Connection]:
    declared = ", ".join(f"c{i} DECIMAL({p},{s})" for i, (p, s) in enumerate(TYPES))
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute(f"CREATE TABLE t (k INT PRIMARY KEY, {declared})")
        marks = ", ".join("?" * (len(TYPES) + 1))
        rows = [(k, *row) for k, row in enumerate(zip(*columns, strict=True))]
        opened.executemany(f"INSERT INTO t VALUES ({marks})", rows)
        yield opened


def column(connection: pykudu_sql.Connection, sql: str, value: object) -> list[Any] | None:
    """The first column of the rows; None where the numbers have no type in common."""
    try:
        rows = connection.execute(sql, [value] * sql.count("?")).fetchall()
    except Error as error:
        assert isinstance(error, DataError) and error.sqlstate == "22003", (sql, value, error)
        return None
    return [row[0] for row in rows]


@pytest.mark.parametrize("computed", COMPUTED)
@pytest.mark.parametrize("sql", UNITED)
def test_a_decimal_beside_one_keeps_its_digits_or_is_refused(
    connection: pykudu_sql.Connection, columns: list[list[Decimal]], sql: str, computed: str
) -> None:
    for place, stored in enumerate(columns):
        for value in VALUES:
            text = sql.format(c=f"c{place}", x=computed.format(p="?"))
            answer = column(connection, text, value)
            exact = answer is None or sorted(answer) == sorted(stored)
            assert exact, (text, value)


@pytest.mark.parametrize("computed", COMPUTED)
def test_a_comparison_with_one_is_exact_or_refused(
    connection: pykudu_sql.Connection, columns: list[list[Decimal]], computed: str
) -> None:
    for place, stored in enumerate(columns):
        for value in (*stored, *VALUES[:-1]):
            number = Decimal(value or 0)
            if "-" in computed or "abs" in computed:
                number = number.copy_negate() if "-" in computed else number.copy_abs()
            for mark, expected in (
                ("=", [v == number for v in stored]),
                ("<", [v < number for v in stored]),
            ):
                text = f"SELECT c{place} {mark} {computed.format(p='?')} FROM t ORDER BY k"
                answer = column(connection, text, value)
                assert answer is None or answer == expected, (text, value)


def test_a_type_that_has_all_digits_is_found(connection: pykudu_sql.Connection) -> None:
    assert column(connection, "SELECT coalesce(c4, ? + 0) FROM t", Decimal("0.25")) is not None
    assert column(connection, "SELECT c3 = ? + 0 FROM t", Decimal("0.25")) is not None
