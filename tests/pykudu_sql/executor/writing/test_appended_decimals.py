"""Decimals with more digits behind the point than a column has, as `append` takes them."""

from decimal import Decimal

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.storage.errors import ValueOutOfRangeError


@pytest.mark.parametrize("operation", ["insert", "upsert"])
def test_surplus_digits_are_rounded_half_away_from_zero(operation: str) -> None:
    given = ["1.004", "1.005", "-1.005", "9.994", "9.995", "0.000", None]
    values = [None if each is None else Decimal(each) for each in given]
    keys = pa.array(range(len(values)), pa.int32())
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n DECIMAL(9, 2))")
        rows = pa.table({"k": keys, "n": pa.array(values, pa.decimal128(4, 3))})
        connection.append("t", rows, operation=operation)
        stored = [n for (n,) in connection.execute("SELECT n FROM t ORDER BY k").fetchall()]
        expected = ["1.00", "1.01", "-1.01", "9.99", "10.00", "0.00"]
        assert stored == [*map(Decimal, expected), None]
        connection.execute("TRUNCATE TABLE t")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
        written = [n for (n,) in connection.execute("SELECT n FROM t ORDER BY k").fetchall()]
        assert written == stored


def test_surplus_digits_before_the_point_are_an_error() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n DECIMAL(3, 2))")
        rows = pa.table({"k": pa.array([1], pa.int32()), "n": [Decimal("9.995")]})
        with pytest.raises(ValueOutOfRangeError, match="'n'"):
            connection.append("t", rows)
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
