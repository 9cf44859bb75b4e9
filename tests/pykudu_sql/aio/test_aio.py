"""Connections for asyncio: statements, iteration, cancelling, closing."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import aio


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def test_a_block_commits_and_closes(tmp_path: Path) -> None:
    async def story() -> None:
        async with await aio.connect(tmp_path / "my.db", durability="off") as connection:
            await connection.execute("CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
            cursor = await connection.executemany(
                "INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b")]
            )
            assert cursor.rowcount == 2
            assert await connection.append("t", {"id": [3], "v": ["c"]}) == 1
            assert connection.in_transaction
        with pytest.raises(pykudu_sql.InterfaceError, match="the connection is closed"):
            await connection.execute("SELECT 1")

    run(story())
    with pykudu_sql.connect(tmp_path / "my.db") as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (3,)


def test_a_block_that_raises_rolls_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with await aio.connect(tmp_path / "my.db", autocommit=True) as connection:
            await connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        with pytest.raises(ZeroDivisionError):
            async with await aio.connect(tmp_path / "my.db") as connection:
                await connection.execute("INSERT INTO t VALUES (1)")
                raise ZeroDivisionError
        async with await aio.connect(tmp_path / "my.db", read_only=True) as connection:
            assert await (await connection.execute("SELECT * FROM t")).fetchall() == []

    run(story())


def test_rows_are_iterated_and_fetched_by_one_position() -> None:
    async def story() -> None:
        async with await aio.connect() as connection:
            cursor = await connection.execute("SELECT x FROM range(2500) r(x) ORDER BY x")
            assert await cursor.fetchone() == (0,)
            seen = []
            async for (value,) in cursor:
                seen.append(value)
                if value == 1500:
                    break
            assert seen == list(range(1, 1501))
            assert await cursor.fetchmany(2) == [(1501,), (1502,)]
            assert len(await cursor.fetchall()) == 2500 - 1503
            assert await cursor.fetchone() is None
            table = await (await connection.execute("SELECT 1 AS a")).fetch_arrow_table()
            assert table.to_pydict() == {"a": [1]}

    run(story())


def test_other_tasks_go_on_while_a_statement_runs() -> None:
    async def story() -> None:
        async with await aio.connect() as connection:
            long = asyncio.create_task(connection.execute(LONG))
            for _ in range(20):
                await asyncio.sleep(0.005)
            assert not long.done()
            connection.interrupt()
            with pytest.raises(pykudu_sql.OperationalError) as caught:
                await long
            assert caught.value.sqlstate == "57014"

    run(story())


def test_a_cancelled_task_interrupts_its_statement_and_the_connection_goes_on() -> None:
    async def story() -> None:
        async with await aio.connect() as connection:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connection.execute(LONG), 0.2)
            cursor = await connection.execute("SELECT 42")
            assert await cursor.fetchone() == (42,)

    run(story())


def test_errors_are_those_of_the_face() -> None:
    async def story() -> None:
        async with await aio.connect() as connection:
            with pytest.raises(pykudu_sql.ProgrammingError, match="does not exist"):
                await connection.execute("SELECT * FROM nothing")
        with pytest.raises(pykudu_sql.ProgrammingError, match="no_such_setting"):
            await aio.connect(no_such_setting=1)

    run(story())


LONG = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 11"
