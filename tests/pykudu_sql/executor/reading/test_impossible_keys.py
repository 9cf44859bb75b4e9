"""A statement may name a key that no row can have: it finds none, whichever way it goes."""

from collections.abc import Iterator

import pytest

import pykudu_sql

LAYOUTS = {
    "one tablet": "",
    "hash partitions": "PARTITION BY HASH (k) PARTITIONS 3",
    "a range to 'q'": "PARTITION BY RANGE (k) (PARTITION VALUES < 'q')",
}
KEYS = {"outside all ranges": "z", "over 16 KiB": "b" * 17_000, "over 64 KiB": "b" * 70_000}


@pytest.fixture(params=LAYOUTS.values(), ids=LAYOUTS)
def connection(request: pytest.FixtureRequest) -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute(f"CREATE TABLE t (k STRING PRIMARY KEY, v INT) {request.param}")
        opened.execute("INSERT INTO t VALUES ('a', 1), ('c', 3)")
        yield opened


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("flushed", [False, True])
def test_a_key_that_no_row_can_have_finds_none(
    connection: pykudu_sql.Connection, key: str, flushed: bool
) -> None:
    if flushed:
        connection.execute("FLUSH TABLE t")
    assert connection.execute("SELECT v FROM t WHERE k = ?", (key,)).fetchall() == []
    assert connection.execute("SELECT v FROM t WHERE k IN (?, 'c')", (key,)).fetchall() == [(3,)]
    assert connection.execute("UPDATE t SET v = 0 WHERE k = ?", (key,)).rowcount == 0
    assert connection.execute("UPDATE t SET v = 0 WHERE k IN (?, 'c')", (key,)).rowcount == 1
    assert connection.execute("DELETE FROM t WHERE k = ?", (key,)).rowcount == 0
    keys = [(key,), ("a",)]
    assert connection.executemany("UPDATE t SET v = 5 WHERE k = ?", keys).rowcount == 1
    assert connection.executemany("DELETE FROM t WHERE k = ?", keys).rowcount == 1
    assert connection.execute("SELECT k, v FROM t").fetchall() == [("c", 0)]


def test_a_row_is_still_refused_whose_key_is_too_long(connection: pykudu_sql.Connection) -> None:
    for sql in ("INSERT INTO t VALUES (?, 1)", "UPSERT INTO t VALUES (?, 1)"):
        with pytest.raises(pykudu_sql.DataError, match="encoded primary key too large"):
            connection.execute(sql, ("b" * 17_000,))
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


def test_a_range_may_end_at_a_value_longer_than_any_key(connection: pykudu_sql.Connection) -> None:
    long = "m" * 20_000
    connection.execute(
        "CREATE TABLE r (k STRING PRIMARY KEY) PARTITION BY RANGE (k) "
        f"(PARTITION VALUES < '{long}', PARTITION '{long}' <= VALUES)"
    )
    connection.execute("INSERT INTO r VALUES ('a'), ('z')")
    assert connection.execute("SELECT k FROM r WHERE k > 'm'").fetchall() == [("z",)]
    assert len(connection.execute("SHOW PARTITIONS r").fetchall()) == 2
