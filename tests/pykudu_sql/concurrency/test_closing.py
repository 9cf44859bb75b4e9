"""A connection that is closed while a statement runs: the statement ends, and the close returns."""

import asyncio
import threading
import time
from collections.abc import Callable

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import aio
from pykudu_sql.storage.errors import InterfaceError, QueryCancelledError

ENDLESS = {
    "a join": "select count(*) from t x, t y, t z where x.a + y.a * z.a = 7",
    "a series": "select count(*) from range(1000000000000) r(i) where i % 7 = 3",
    "an insert": "insert into t select i + 100000, 1 from range(1000000000000) r(i)",
}


def _connection() -> pykudu_sql.Connection:
    connection = pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=1000)
    connection.execute("create table t (id bigint primary key, a int)")
    connection.append(
        "t", pa.table({"id": range(20_000), "a": pa.array(range(20_000), pa.int32())})
    )
    return connection


def _in_thread(call: Callable[[], object], raised: list[BaseException]) -> threading.Thread:
    def run() -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def _wait_for(met: Callable[[], object]) -> None:
    while not met():
        time.sleep(0.001)


@pytest.mark.parametrize("sql", ENDLESS.values(), ids=ENDLESS)
def test_closing_interrupts_the_statement_of_another_thread(sql: str) -> None:
    connection = _connection()
    cancellation = connection._session._state.cancellation
    raised: list[BaseException] = []
    thread = _in_thread(lambda: connection.execute(sql), raised)
    _wait_for(lambda: cancellation.running)
    connection.close()
    thread.join()
    (error,) = raised
    assert isinstance(error, QueryCancelledError)
    assert error.message == "the statement was interrupted: its connection was closed"


def test_closing_interrupts_a_fetch() -> None:
    connection = _connection()
    cancellation = connection._session._state.cancellation
    cursor = connection.execute("select x.a from t x, t y, t z")
    raised: list[BaseException] = []
    thread = _in_thread(cursor.fetchall, raised)
    _wait_for(lambda: cancellation.running)
    connection.close()
    thread.join()
    assert [error.sqlstate for error in raised if isinstance(error, pykudu_sql.Error)]


def test_a_statement_that_waits_for_the_connection_never_begins() -> None:
    connection = _connection()
    cancellation = connection._session._state.cancellation
    cursors = [connection.cursor(), connection.cursor()]
    raised: list[BaseException] = []
    threads = [_in_thread(lambda c=c: c.execute(ENDLESS["a join"]), raised) for c in cursors]  # type: ignore[misc]
    _wait_for(lambda: cancellation.running)
    connection.close()
    for thread in threads:
        thread.join()
    assert sorted(type(error).__name__ for error in raised) == [
        InterfaceError.__name__,
        QueryCancelledError.__name__,
    ]


def test_a_connection_of_asyncio_closes_beside_what_runs_and_waits_in_its_thread() -> None:
    async def story() -> None:
        connection = await aio.connect(autocommit=True)
        first = asyncio.create_task(connection.execute(ENDLESS["a series"]))
        second = asyncio.create_task(connection.execute(ENDLESS["a series"]))
        while not connection._connection._session._state.cancellation.running:
            await asyncio.sleep(0.001)
        await connection.close()
        with pytest.raises(QueryCancelledError, match="its connection was closed"):
            await first
        with pytest.raises(InterfaceError, match="closed"):
            await second

    asyncio.run(story())


def test_a_block_of_asyncio_that_raises_does_not_wait_for_what_its_tasks_run() -> None:
    async def story() -> None:
        with pytest.raises(ZeroDivisionError):
            async with await aio.connect(autocommit=True) as connection:
                task = asyncio.create_task(connection.execute(ENDLESS["a series"]))
                while not connection._connection._session._state.cancellation.running:
                    await asyncio.sleep(0.001)
                raise ZeroDivisionError
        with pytest.raises(QueryCancelledError):
            await task

    asyncio.run(story())
