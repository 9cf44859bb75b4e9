"""A cursor as an Arrow stream: the whole result or an error, never a part in silence."""

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection, Cursor, InterfaceError

ROWS = 200_000


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, s STRING)")
        opened.execute("INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, 'c')")
        yield opened


@pytest.fixture
def streamed() -> Iterator[Cursor]:
    with pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=1000) as opened:
        opened.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
        opened.append("t", {"id": pa.array(range(ROWS))})
        cursor = opened.execute("SELECT id FROM t")
        assert cursor.rowcount == -1
        yield cursor


HELD = [
    "SELECT id, s FROM t ORDER BY id",
    "SELECT id, s FROM t WHERE id = 2",
    "SELECT 1 AS id, 'x' AS s",
    "SHOW TABLES",
]


@pytest.mark.parametrize("query", HELD)
def test_a_held_result_exports_as_often_as_it_is_asked(connection: Connection, query: str) -> None:
    cursor = connection.execute(query)
    first = pa.table(cursor)
    assert first.num_rows > 0
    assert pa.table(cursor).equals(first)
    assert cursor.fetch_arrow_table().equals(first)
    assert pa.table(cursor).equals(first)


def test_an_export_neither_moves_the_cursor_nor_leaves_out_what_was_fetched(
    connection: Connection,
) -> None:
    cursor = connection.execute("SELECT id FROM t ORDER BY id")
    assert cursor.fetchone() == (1,)
    assert pa.table(cursor).column("id").to_pylist() == [1, 2, 3]
    assert cursor.rownumber == 1
    assert cursor.fetchall() == [(2,), (3,)]
    assert pa.table(cursor).column("id").to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("query", HELD)
def test_other_libraries_count_the_rows_of_a_cursor_each_time(
    connection: Connection, query: str
) -> None:
    cursor = connection.execute(query)
    expected = [(pa.table(cursor).num_rows,)]
    for _ in range(2):
        assert duckdb.sql("SELECT count(*) FROM cursor").fetchall() == expected


def test_the_schema_is_told_without_the_rows(connection: Connection, streamed: Cursor) -> None:
    cursor = connection.execute("SELECT id, s FROM t")
    expected = pa.schema([("id", pa.int64()), ("s", pa.string())])
    assert pa.schema(cursor) == expected
    assert pa.schema(connection.execute("SELECT id, s FROM t WHERE id = 9")) == expected
    assert pa.schema(streamed) == pa.schema([("id", pa.int64())])
    assert len(streamed.fetchall()) == ROWS


def test_a_streamed_result_is_counted_by_another_library(streamed: Cursor) -> None:
    assert duckdb.sql("SELECT count(*) FROM streamed").fetchall() == [(ROWS,)]


AFTER: list[Callable[[Cursor], Any]] = [
    pa.table,
    Cursor.fetchone,
    Cursor.fetchall,
    Cursor.fetchmany,
    Cursor.fetch_arrow_table,
    Cursor.fetch_record_batch,
    Cursor.fetch_df,
    next,
]


@pytest.mark.parametrize("use", AFTER)
def test_a_streamed_result_is_exported_once_and_then_gone(
    streamed: Cursor, use: Callable[[Cursor], Any]
) -> None:
    assert pa.table(streamed).num_rows == ROWS
    with pytest.raises(InterfaceError, match="handed over") as caught:
        use(streamed)
    assert caught.value.sqlstate == "24000"
    assert "result_memory_bytes" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "begin", [Cursor.fetchone, lambda cursor: next(iter(cursor.fetch_record_batch(10)))]
)
def test_a_streamed_result_that_was_begun_is_not_exported_in_part(
    streamed: Cursor, begin: Callable[[Cursor], Any]
) -> None:
    begin(streamed)
    with pytest.raises(InterfaceError, match="begun") as caught:
        pa.table(streamed)
    assert caught.value.sqlstate == "24000"


def test_of_threads_that_export_a_streamed_result_one_has_its_rows(streamed: Cursor) -> None:
    together = threading.Barrier(4)

    def export() -> int | str | None:
        together.wait()
        try:
            return pa.table(streamed).num_rows
        except InterfaceError as error:
            return error.sqlstate

    with ThreadPoolExecutor(together.parties) as pool:
        answers = [future.result() for future in [pool.submit(export) for _ in range(4)]]
    assert sorted(answers, key=str) == [ROWS, "24000", "24000", "24000"]


def test_an_export_of_nothing_is_an_error(connection: Connection) -> None:
    cursor = connection.cursor()
    for statement in (None, "DELETE FROM t"):
        if statement is not None:
            cursor.execute(statement)
        with pytest.raises(pykudu_sql.ProgrammingError, match="no rows to fetch"):
            cursor.__arrow_c_stream__()
        with pytest.raises(pykudu_sql.ProgrammingError, match="no rows to fetch"):
            cursor.__arrow_c_schema__()
    cursor.close()
    with pytest.raises(InterfaceError, match="closed"):
        cursor.__arrow_c_stream__()


def test_a_schema_that_the_rows_do_not_fit_is_refused(connection: Connection) -> None:
    cursor = connection.execute("SELECT s FROM t")
    wanted = pa.schema([("other", pa.int32()), ("more", pa.int8())]).__arrow_c_schema__()
    with pytest.raises(pykudu_sql.NotSupportedError):
        cursor.__arrow_c_stream__(wanted)


@pytest.mark.parametrize("closed", ["cursor", "connection"])
@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_a_reader_ends_with_its_cursor_and_connection(
    closed: str, begun: bool, memory: int
) -> None:
    connection = pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=memory)
    cursor = connection.execute("SELECT i FROM range(100000) r(i)")
    reader = cursor.fetch_record_batch(1000)
    if begun:
        assert reader.read_next_batch().num_rows == 1000
    (cursor if closed == "cursor" else connection).close()

    with pytest.raises(InterfaceError, match="closed"):
        reader.read_all()
    connection.close()


@pytest.mark.parametrize("sql", HELD)
def test_a_reader_outlives_the_next_statement_of_its_cursor(
    connection: Connection, sql: str
) -> None:
    cursor = connection.execute(sql)
    rows = cursor.fetch_arrow_table().num_rows
    reader = cursor.execute(sql).fetch_record_batch(1)
    cursor.execute("SELECT 1")

    assert reader.read_all().num_rows == rows


def test_threads_that_share_a_reader_get_each_batch_once(connection: Connection) -> None:
    for source in ("range(200000)", "(SELECT range FROM range(3000000) WHERE range % 15 = 0)"):
        reader = connection.execute(f"SELECT range FROM {source}").fetch_record_batch(1000)

        def rows_read(_: int, reader: pa.RecordBatchReader = reader) -> int:
            return sum(batch.num_rows for batch in reader)

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(rows_read, range(4))) == ROWS


def test_the_end_of_a_reader_that_threads_share_is_the_end_for_each(
    connection: Connection,
) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(40):
            reader = connection.execute("SELECT range FROM range(5000)").fetch_record_batch(500)

            def rows_read(_: int, reader: pa.RecordBatchReader = reader) -> int:
                return sum(batch.num_rows for batch in reader)

            with ThreadPoolExecutor(4) as pool:
                assert sum(pool.map(rows_read, range(4))) == 5000
    finally:
        sys.setswitchinterval(interval)
