"""Times of nanoseconds become the same microseconds and days on every way into a table."""

import pytest

import pykudu_sql

TIMES = (
    "2020-02-29 12:00:00.123456789",
    "1969-12-31 23:59:59.999999999",
    "1969-12-31 23:59:59.9999994",
    "1677-09-22 00:00:00.000000501",
    "2262-04-10 23:59:59.999999501",
)
WAYS = (
    "INSERT INTO t VALUES (1, {})",
    "INSERT INTO t SELECT 1, {}",
    "UPSERT INTO t SELECT x, {} FROM (VALUES (1)) AS q (x)",
    "UPDATE t SET v = {}",
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["TIMESTAMP", "DATE"])
@pytest.mark.parametrize("time", TIMES)
def test_what_is_stored_is_what_cast_gives(time: str, kind: str, way: str) -> None:
    nanoseconds = f"CAST('{time}' AS TIMESTAMP_NS)"
    with pykudu_sql.connect(autocommit=True) as conn:
        conn.execute(f"CREATE TABLE t (k INT PRIMARY KEY, v {kind})")
        if way.startswith("UPDATE"):
            conn.execute("INSERT INTO t (k) VALUES (1)")
        conn.execute(way.format(nanoseconds))
        found = conn.execute(f"SELECT v = CAST({nanoseconds} AS {kind}) FROM t").fetchone()
        assert found == (True,)
