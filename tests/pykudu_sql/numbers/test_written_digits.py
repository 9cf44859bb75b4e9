"""A number of more than 38 digits that a statement writes keeps those that its column has."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

import pykudu_sql

LONG = "0." + "1" * 38 + "4"
STORED = Decimal("0." + "1" * 38)
EXACT = (
    "INSERT INTO t VALUES (1, -(-{v})) ON CONFLICT DO UPDATE SET w = excluded.w",
    "INSERT INTO t VALUES (1, coalesce({v}, 0)) ON CONFLICT DO UPDATE SET w = excluded.w",
    "INSERT INTO t VALUES (1, 0) ON CONFLICT DO UPDATE SET w = (SELECT {v})",
    "INSERT INTO t VALUES (1, 0) ON CONFLICT DO UPDATE SET w = coalesce({v}, t.w)",
    "INSERT INTO t VALUES (1, 0) ON CONFLICT DO UPDATE SET w = {v} RETURNING w",
    "UPDATE t SET w = CASE WHEN k = 1 THEN {v} ELSE w END",
    "UPDATE t SET w = (SELECT max(x) FROM (SELECT {v} AS x) s) WHERE w < 1 RETURNING w",
    "MERGE INTO t USING (SELECT 1 AS k, {v} AS v) s ON t.k = s.k "
    "WHEN MATCHED THEN UPDATE SET w = v",
    "MERGE INTO t USING (VALUES (1, {v}), (2, 0.1)) s(k, v) ON t.k = s.k "
    "WHEN MATCHED THEN UPDATE SET w = v WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.v)",
    "MERGE INTO t USING (SELECT 0 AS k, 0.1 AS v UNION ALL SELECT 2, {v}) s ON t.k = s.k + 1 "
    "WHEN MATCHED THEN UPDATE SET w = {v} RETURNING w",
    "WITH s AS (SELECT 1 AS k, {v} AS v) MERGE INTO t USING s ON t.k = s.k "
    "WHEN MATCHED THEN UPDATE SET w = s.v",
)
COMPUTED = (
    "INSERT INTO t VALUES (1, {v} + 0)",
    "UPDATE t SET w = {v} * 2",
    "UPDATE t SET w = w + {v} WHERE k = 1 RETURNING w",
    "INSERT INTO t VALUES (1, 0) ON CONFLICT DO UPDATE SET w = excluded.w + {v}",
    "MERGE INTO t USING (SELECT 1 AS k, {v} AS v) s ON t.k = s.k "
    "WHEN MATCHED THEN UPDATE SET w = s.v + 0",
)


@pytest.fixture
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, w DECIMAL(38,38))")
        connection.execute("INSERT INTO t VALUES (1, 0.5)")
        yield connection


@pytest.mark.parametrize("sql", EXACT)
def test_a_long_number_is_written_with_the_digits_of_its_column(
    connection: pykudu_sql.Connection, sql: str
) -> None:
    cursor = connection.execute(sql.format(v=LONG))
    if "RETURNING" in sql:
        assert cursor.fetchall() == [(STORED,)]
    assert connection.execute("SELECT w FROM t WHERE k = 1").fetchall() == [(STORED,)]


@pytest.mark.parametrize("sql", COMPUTED)
def test_what_would_be_computed_with_doubles_is_refused(
    connection: pykudu_sql.Connection, sql: str
) -> None:
    with pytest.raises(pykudu_sql.DataError, match="has more digits than a DECIMAL") as caught:
        connection.execute(sql.format(v=LONG))
    assert caught.value.sqlstate == "22003"
    assert caught.value.position is not None
    assert connection.execute("SELECT w FROM t").fetchall() == [(Decimal("0.5"),)]
