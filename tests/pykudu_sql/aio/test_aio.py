"""Connections for asyncio: statements, iteration, cancelling, closing."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection, Cursor, aio


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


def test_a_closed_connection_refuses_everything_but_closing() -> None:
    async def story() -> None:
        connection = await aio.connect(":memory:")
        cursor = await connection.execute("SELECT 1")
        await connection.close()
        await connection.close()
        for call in (
            cursor.fetchone,
            cursor.fetchall,
            cursor.fetch_arrow_table,
            lambda: cursor.execute("SELECT 1"),
            connection.commit,
            connection.list_tables,
        ):
            with pytest.raises(pykudu_sql.InterfaceError, match="the connection is closed"):
                await call()
        await cursor.close()

    run(story())


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


def test_connections_and_cursors_have_what_the_others_have() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    errors = {name for name in public(Connection) if name[0].isupper()}
    assert public(Connection) - public(aio.AsyncConnection) == errors
    instead = {"fetch_record_batch"}
    does_nothing = {"setinputsizes", "setoutputsize", "nextset"}
    assert public(Cursor) - public(aio.AsyncCursor) == instead | does_nothing


def test_what_does_not_run_statements_is_there_too() -> None:
    async def story() -> None:
        async with await aio.connect() as conn:
            assert (conn.path, conn.autocommit) == (":memory:", False)
            await conn.set_autocommit(True)
            assert conn.autocommit
            assert await conn.create_table("t", [{"a": 1, "b": "x"}], key=["a"]) == 1
            await conn.register("df", {"k": [1, 2]})
            cursor = await conn.execute("SELECT k, b FROM df LEFT JOIN t ON a = k ORDER BY k")
            assert await cursor.fetch_dicts(1) == [{"k": 1, "b": "x"}]
            assert cursor.rownumber == 1 and cursor.row_errors == conn.row_errors == ()
            await cursor.scroll(0, "absolute")
            assert (await cursor.pl()).shape == (2, 2)
            assert "<table" in str(cursor._repr_html_())
            await conn.unregister("df")
            await conn.flush()
            assert await conn.list_tables() == ["t"]
            assert "sys.tables" in await conn.list_system_tables()
            assert (await conn.list_columns("t"), await conn.list_keys("t")) == (["a", "b"], ["a"])
            assert "abs" in await conn.list_signatures()
            assert await conn.snapshot_timestamp() > 0
            conn.progress()

    asyncio.run(story())


def test_an_iteration_reads_ahead_and_nobody_sees_it() -> None:
    async def story() -> None:
        async with await aio.connect() as conn:
            cursor = await conn.execute("SELECT i FROM range(10) r(i) ORDER BY i")
            async for _ in cursor:
                break
            assert cursor.rownumber == 1
            cursor.arraysize = 2
            assert await cursor.fetchmany() == [(1,), (2,)]
            await cursor.scroll(1)
            assert await cursor.fetchone() == (4,)
            async for _ in cursor:
                break
            batches = [batch async for batch in cursor.fetch_record_batches(3)]
            assert [batch.to_pydict()["i"] for batch in batches] == [[6, 7, 8], [9]]

    asyncio.run(story())
