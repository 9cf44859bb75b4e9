"""Results of large tables are computed while they are fetched."""

import threading
import tracemalloc
from collections.abc import Iterator

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.storage.errors import (
    Error,
    InvalidValueError,
    NotSupportedError,
    QueryCancelledError,
)

ROWS = 600_000


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    opened = pykudu_sql.connect(":memory:", autocommit=True)
    opened.execute("create table t (id bigint primary key, s string)")
    words = pa.array([f"v{i % 1000}" for i in range(ROWS)])
    opened.append("t", pa.table({"id": range(ROWS), "s": words}))
    opened.execute("flush table t")
    opened.execute("set scan_memory_bytes = 1000")
    yield opened
    opened.close()


def test_a_stream_has_all_rows_once(connection: pykudu_sql.Connection) -> None:
    cursor = connection.execute("select id, s from t where id % 3 = 1")
    assert cursor.rowcount == -1
    assert [column[0] for column in cursor.description or ()] == ["id", "s"]
    found = []
    while some := cursor.fetchmany(10_001):
        found += some
    assert sorted(found) == [(i, f"v{i % 1000}") for i in range(1, ROWS, 3)]
    assert cursor.rownumber == len(found)
    assert cursor.fetchone() is None


def test_fetching_some_rows_does_not_hold_the_others(connection: pykudu_sql.Connection) -> None:
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    cursor = connection.execute("select id, id * 2, id * 3, id * 5, id * 7 from t")
    peak = 0
    for _ in range(50):
        assert len(cursor.fetchmany(10_000)) == 10_000
        peak = max(peak, pool.bytes_allocated() - before)
    python_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    cursor.close()
    assert peak < ROWS * 5 * 8 // 2
    assert python_peak < ROWS * 5 * 32 // 2


def test_a_table_of_a_stream_has_what_was_not_fetched(connection: pykudu_sql.Connection) -> None:
    cursor = connection.execute("select id as a, id as a from t")
    first = cursor.fetchmany(7)
    table = cursor.fetch_arrow_table()
    assert table.num_rows == ROWS - 7
    assert table.column_names == ["a", "a"]
    assert {row[0] for row in first}.isdisjoint(table.column(0).to_pylist())
    assert cursor.fetchall() == []


def test_statements_run_beside_a_stream_and_do_not_change_it(
    connection: pykudu_sql.Connection,
) -> None:
    cursor = connection.execute("select id from t")
    total = sum(row[0] for row in cursor.fetchmany(1000))
    connection.execute("upsert into t values (-1, 'new')")
    connection.execute("flush table t")
    assert connection.execute("select count(*) from t where id < 0").fetchone() == (1,)
    total += sum(row[0] for row in cursor)
    assert total == ROWS * (ROWS - 1) // 2
    connection.execute("delete from t where id = -1")


def test_an_error_in_the_middle_is_told(connection: pykudu_sql.Connection) -> None:
    sql = f"select cast(case when id = {ROWS - 1} then 'x' else '1' end as int) from t"
    with pytest.raises(InvalidValueError, match="could not convert"):
        # An engine that runs ahead may come to it before the first row is fetched.
        connection.execute(sql).fetchall()
    assert connection.execute("select 1").fetchone() == (1,)


@pytest.mark.parametrize("order", ["", "order by s, id"], ids=["as it comes", "sorted first"])
def test_an_interrupt_stops_a_stream(connection: pykudu_sql.Connection, order: str) -> None:
    stopping = threading.Event()

    def interrupt() -> None:
        while not stopping.wait(0.01):
            connection.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(QueryCancelledError):
            while True:
                connection.execute(f"select id, id + 1 from t {order}").fetchall()
    finally:
        stopping.set()
        thread.join()


def test_a_stream_cannot_be_scrolled_and_ends_with_its_connection() -> None:
    connection = pykudu_sql.connect(":memory:", autocommit=True, scan_memory_bytes=10)
    connection.execute("create table t (id int primary key)")
    connection.append("t", pa.table({"id": pa.array(range(200_000), pa.int32())}))
    cursor = connection.execute("select id from t")
    with pytest.raises(NotSupportedError, match="scrolled"):
        cursor.scroll(3)
    assert len(cursor.fetchmany(10)) == 10
    connection.close()
    with pytest.raises(Error):
        connection.execute("select 1")


def test_a_stream_nobody_reads_any_more_is_given_up(connection: pykudu_sql.Connection) -> None:
    engine = connection._session._engine
    cursor = connection.execute("select id from t")
    assert len(cursor.fetchmany(10)) == 10
    assert len(engine._streaming) == 1
    cursor.execute("select 1")
    assert not engine._streaming
