"""Results of large tables are computed while they are fetched."""

import gc
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.engine.engine_by_size import EngineBySize
from pykudu_sql.storage.errors import (
    Error,
    InterfaceError,
    InvalidValueError,
    NotSupportedError,
    ProgrammingError,
    QueryCancelledError,
    ValueOutOfRangeError,
)

ROWS = 600_000


def queries_at_work(connection: pykudu_sql.Connection) -> int:
    engine = connection._session._state.engine
    assert isinstance(engine, EngineBySize)
    return len(engine._small._working) + len(engine._large._working)


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    opened = pykudu_sql.connect(":memory:", autocommit=True, threads=2)
    opened.execute("create table t (id bigint primary key, s string)")
    words = pa.array([f"v{i % 1000}" for i in range(ROWS)])
    opened.append("t", pa.table({"id": range(ROWS), "s": words}))
    opened.execute("flush table t")
    opened.execute("set scan_memory_bytes = 1000")
    opened.execute("set result_memory_bytes = 1000")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def words(connection: pykudu_sql.Connection) -> pykudu_sql.Connection:
    connection.execute("create table d (word string primary key)")
    connection.append("d", pa.table({"word": [f"v{i}" for i in range(1000)]}))
    return connection


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


def test_an_interrupt_is_about_the_statement_that_runs(words: pykudu_sql.Connection) -> None:
    waiting = words.execute("select t.id, d.word from t join d on t.s = d.word")
    total = sum(row[0] for row in waiting.fetchmany(10))
    timer = threading.Timer(0.1, words.interrupt)
    timer.start()
    with pytest.raises(QueryCancelledError):
        words.execute("select count(*) from range(1000000000000) r(i) where i % 7 = 3")
    timer.join()
    assert total + sum(row[0] for row in waiting) == ROWS * (ROWS - 1) // 2


def test_an_interrupt_between_two_fetches_ends_the_results_begun_before(
    words: pykudu_sql.Connection,
) -> None:
    begun = words.execute("select t.id, d.word from t join d on t.s = d.word")
    begun.fetchone()
    words.interrupt()
    later = words.execute("select t.id, d.word from t join d on t.s = d.word")
    with pytest.raises(QueryCancelledError, match="interrupted"):
        begun.fetchall()
    assert len(later.fetchall()) == ROWS


def test_a_stream_cannot_be_scrolled_and_ends_with_its_connection() -> None:
    connection = pykudu_sql.connect(
        ":memory:", autocommit=True, scan_memory_bytes=10, result_memory_bytes=0
    )
    connection.execute("create table t (id int primary key)")
    connection.append("t", pa.table({"id": pa.array(range(200_000), pa.int32())}))
    cursor = connection.execute("select id from t")
    with pytest.raises(NotSupportedError, match="scrolled"):
        cursor.scroll(3)
    assert len(cursor.fetchmany(10)) == 10
    connection.close()
    with pytest.raises(Error):
        connection.execute("select 1")


LARGE = {
    "a join": "select x.id, y.s from t x join t y on x.id = y.id and y.s is not null",
    "two tables": "select t.id, d.word from t join d on t.s = d.word",
    "a union": "select id, s from t where id >= 300000 union all select id, s from t "
    "where id < 300000",
    "a limit": "select id, s from t limit 1000000",
    "a subquery": "select id, s from t where s in (select word from d)",
    "a window": "select id, first_value(s) over (partition by id) from t",
    "a WITH query": "with w as (select id, s from t) select * from w union all "
    "select * from w where id < 0",
}


@pytest.mark.parametrize("sql", LARGE.values(), ids=LARGE)
def test_every_large_result_is_a_stream(words: pykudu_sql.Connection, sql: str) -> None:
    cursor = words.execute(sql)
    assert cursor.rowcount == -1
    seen = 0
    while some := cursor.fetchmany(70_000):
        assert all(row[1] == f"v{row[0] % 1000}" for row in some[:100])
        seen += sum(row[0] for row in some)
    assert cursor.rownumber == ROWS
    assert seen == ROWS * (ROWS - 1) // 2


@pytest.mark.parametrize("sql", LARGE.values(), ids=LARGE)
def test_every_kind_of_stream_is_given_up_with_its_cursor(
    words: pykudu_sql.Connection, sql: str
) -> None:
    cursor = words.execute(sql)
    assert len(cursor.fetchmany(10)) == 10
    assert words.execute("select count(*) from d").fetchone() == (1000,)
    cursor.close()
    assert queries_at_work(words) == 0


def test_a_stream_of_values_that_take_no_memory_has_all_of_them(
    connection: pykudu_sql.Connection,
) -> None:
    assert connection.execute("select null from t").fetchall() == [(None,)] * ROWS
    rows = connection.execute("select null, id from t where id >= 100").fetchall()
    assert len(rows) == ROWS - 100


def test_small_results_of_large_tables_are_held(connection: pykudu_sql.Connection) -> None:
    cursor = connection.execute("select id from t where id % 60000 = 7 order by id")
    assert cursor.rowcount == 10
    cursor.scroll(3)
    assert cursor.fetchone() == (180_007,)
    cursor = connection.execute("select id from t where cast(id as string) like '%99999' limit 9")
    assert cursor.rowcount == 6


def test_batches_of_a_stream_come_when_they_are_read(connection: pykudu_sql.Connection) -> None:
    cursor = connection.execute("select id as a, id as a from t")
    first = cursor.fetchmany(7)
    before = pa.default_memory_pool().bytes_allocated()
    total, largest = sum(row[0] for row in first), 0
    batches = cursor.fetch_record_batch(1000)
    assert batches.schema.names == ["a", "a"]
    cursor.execute("select 1")
    for batch in batches:
        largest = max(largest, batch.num_rows)
        total += sum(batch.column(1).to_pylist())
        assert pa.default_memory_pool().bytes_allocated() - before < ROWS * 16 // 2
    assert total == ROWS * (ROWS - 1) // 2
    assert largest == 1000


def test_a_result_sees_no_later_write_of_its_transaction(
    connection: pykudu_sql.Connection,
) -> None:
    expected = ROWS * (ROWS - 1) // 2
    for first in ("select 1", "upsert into t values (0, 'mine')"):
        connection.execute("begin")
        connection.execute(first)
        streams = [connection.execute("select id, s from t") for _ in range(2)]
        total = sum(row[0] for row in streams[0].fetchmany(5))
        connection.execute("update t set s = 'other' where id > 10")
        connection.execute("upsert into t values (-5, 'other')")
        rows = streams[0].fetchall()
        assert total + sum(row[0] for row in rows) == expected
        assert not any(row[1] == "other" for row in rows)
        connection.execute("rollback")
        rows = streams[1].fetchall()
        assert sum(row[0] for row in rows) == expected
        assert not any(row[1] == "other" for row in rows)
        assert any(row[1] == "mine" for row in rows) == first.startswith("upsert")


def test_a_stream_outlives_the_files_it_reads(tmp_path: Path) -> None:
    with pykudu_sql.connect(
        tmp_path, autocommit=True, scan_memory_bytes=0, result_memory_bytes=0, durability="off"
    ) as connection:
        connection.execute("create table t (id bigint primary key, n bigint)")
        for start in (0, 1):
            ids = range(start, 400_000, 2)
            connection.append("t", pa.table({"id": ids, "n": ids}))
            connection.execute("flush table t")
        connection.execute("alter table t set tblproperties ('kudu.table.history_max_age_sec'='0')")
        cursor = connection.execute("select id, n from t")
        total = sum(row[1] for row in cursor.fetchmany(10))
        connection.execute("update t set n = -1")
        connection.execute("optimize table t full")
        connection.execute("vacuum table t")
        total += sum(row[1] for row in cursor)
        assert total == 400_000 * 399_999 // 2
        cursor = connection.execute("select id from t")
        connection.execute("drop table t")
        connection.execute("vacuum")
        assert len(cursor.fetchall()) == 400_000


def test_the_end_of_one_result_is_not_that_of_the_next(connection: pykudu_sql.Connection) -> None:
    first = connection.execute("select id from t")
    assert len(first.fetchall()) == ROWS
    second = connection.execute("select id from t")
    first.close()
    assert len(second.fetchall()) == ROWS


def test_a_stream_that_failed_stays_so(connection: pykudu_sql.Connection) -> None:
    sql = f"select cast(case when id = {ROWS - 1} then 'x' else '1' end as int) from t order by id"
    connection.execute("set result_memory_bytes = 0")
    cursor = connection.cursor()
    with pytest.raises(InvalidValueError):
        cursor.execute(sql)
        cursor.fetchall()
    with pytest.raises(Error):
        cursor.fetchall()
    connection.execute("set result_memory_bytes = 1000")


def test_a_stream_ends_with_an_error_when_its_connection_is_closed() -> None:
    connection = pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=0)
    cursor = connection.execute("select i from range(1000000) r(i)")
    assert len(cursor.fetchmany(10)) == 10
    connection.close()
    for _ in range(2):
        with pytest.raises(InterfaceError, match="closed"):
            cursor.fetchall()


def test_a_stream_nobody_reads_any_more_is_given_up(connection: pykudu_sql.Connection) -> None:
    cursor = connection.execute("select id from t")
    assert len(cursor.fetchmany(10)) == 10
    assert queries_at_work(connection) == 1
    cursor.execute("select 1")
    assert queries_at_work(connection) == 0


def test_rows_without_python_values_are_never_passed_over(
    connection: pykudu_sql.Connection,
) -> None:
    day = "date '1970-01-01'"
    cursor = connection.execute(
        f"select id, case when id = 3 then {day} + 10000000 else {day} end from t order by id"
    )
    for _ in range(3):
        with pytest.raises(ValueOutOfRangeError, match="fetch it as Arrow"):
            cursor.fetchone()


@pytest.mark.parametrize("sql", ["select id from t", "select 1"], ids=["streamed", "held"])
@pytest.mark.parametrize("rows", [0, -1])
def test_batches_have_at_least_one_row(
    connection: pykudu_sql.Connection, sql: str, rows: int
) -> None:
    cursor = connection.execute(sql)
    with pytest.raises(ProgrammingError, match=f"batches of {rows} rows"):
        cursor.fetch_record_batch(rows)


def test_a_result_that_was_interrupted_lets_its_query_go(words: pykudu_sql.Connection) -> None:
    begun = words.execute("select t.id, d.word from t join d on t.s = d.word")
    begun.fetchone()
    words.interrupt()
    with pytest.raises(QueryCancelledError):
        begun.fetchall()
    assert queries_at_work(words) == 0


def test_a_result_that_is_given_up_lets_its_history_go(connection: pykudu_sql.Connection) -> None:
    holds = connection._session.database.store.history.snapshots
    gc.collect()
    gc.disable()
    try:
        cursor = connection.execute("select id from t")
        cursor.fetchone()
        connection.execute("upsert into t values (0, 'v0')")
        held = holds.oldest()
        cursor.close()
        assert holds.oldest() > held
    finally:
        gc.enable()


_HALF_READ = """
import pykudu_sql
connection = pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=10000)
cursor = connection.execute("select * from range(1000000)")
reader = cursor.fetch_record_batch(1000)
reader.read_next_batch()
other = connection.execute("select * from range(1000000)")
other.fetchone()
"""


@pytest.mark.parametrize("closed", ["cursor", "connection", "nothing"])
def test_a_process_that_ends_with_half_of_a_stream_read_says_nothing(closed: str) -> None:
    last = "" if closed == "nothing" else f"{closed}.close()\n"
    ran = subprocess.run(
        [sys.executable, "-c", _HALF_READ + last], capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("", "")


@pytest.mark.parametrize("begun", [False, True])
def test_a_reader_raises_once_its_cursor_is_closed(
    connection: pykudu_sql.Connection, begun: bool
) -> None:
    cursor = connection.execute("select id from t")
    reader = cursor.fetch_record_batch(10)
    if begun:
        reader.read_next_batch()
    cursor.close()
    assert queries_at_work(connection) == 0
    with pytest.raises(InterfaceError, match="closed"):
        reader.read_all()
