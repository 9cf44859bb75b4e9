"""Programs that fork while databases are open.

Usage: python -m tests.pykudu_sql.processes.fork_stories NAME PATH.

Each ends with code 0 if what it says of itself holds. Children end as programs do, by `sys.exit`,
unless a pool ends them; one that hangs is killed by its alarm, which its parent sees.
"""

import asyncio
import concurrent.futures
import faulthandler
import gc
import importlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

import pykudu_sql
from pykudu_sql import aio
from pykudu_sql.storage.common.cached_property import cached_property

HANGS_AFTER_SECONDS = 60
ROWS = 5000
STREAMED = "SELECT a.k, b.v FROM t a, t b WHERE b.k < 100"


def fork(action: Callable[[], object]) -> int:
    """A child that does something and ends as a program does."""
    child = os.fork()
    if child == 0:
        faulthandler.register(signal.SIGALRM, chain=True)  # tells where it hangs
        signal.alarm(HANGS_AFTER_SECONDS)
        action()
        sys.exit(0)
    return child


def end_of(child: int) -> None:
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code == 0, f"the child hung, crashed or failed: {code}"


def refused(action: Callable[[], object], owner: int | None = None) -> None:
    """See that something is refused as another process's, the parent's unless one is named."""
    try:
        found = action()
    except pykudu_sql.InterfaceError as error:
        assert error.sqlstate == "08003", error.sqlstate
        assert f"process {owner or os.getppid()}" in str(error), str(error)
        assert "connect in the child" in str(error), str(error)
    else:
        raise AssertionError(f"not refused, but {found!r:.80}")


def new_database(path: str, **settings: object) -> pykudu_sql.Connection:
    connection = pykudu_sql.connect(path, autocommit=True, **settings)
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v STRING)")
    connection.append("t", {"k": list(range(ROWS)), "v": [f"row {k}" for k in range(ROWS)]})
    return connection


def count(connection: pykudu_sql.Connection) -> object:
    return connection.execute("SELECT count(*) FROM t").fetchone()


def check(path: str) -> None:
    """See that the database is whole."""
    command = [sys.executable, "-m", "pykudu_sql", "check", path]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def files_of(path: str) -> dict[str, tuple[int, int]]:
    found = (file for file in Path(path).rglob("*") if file.is_file())
    return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in found}


@contextmanager
def busy(*works: Callable[[int], object]) -> Iterator[None]:
    """A block beside which threads do things over and over, told which time it is."""
    ends = threading.Event()

    def run(work: Callable[[int], object]) -> None:
        number = 0
        while not ends.is_set():
            work(number)
            number += 1

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def inherited(path: str) -> None:
    """Nothing that a child inherits works, nothing of it touches a file, and the parent goes on."""
    # Without maintenance, so that the parent writes nothing while the child looks at the files.
    connection = new_database(path, maintenance=False)
    memory = new_database(":memory:")
    reader = pykudu_sql.connect(path, maintenance=False)
    reader.execute("INSERT INTO t VALUES (-1, 'not committed')")
    held = connection.execute("SELECT k FROM t ORDER BY k")
    held.fetchmany(10)
    connection.execute("SET result_memory_bytes = 1000")
    stream = connection.execute(STREAMED)
    stream.fetchmany(10)
    exported = connection.execute(STREAMED).fetch_record_batch(100)
    exported.read_next_batch()
    connection.execute("FLUSH TABLE t")
    idle = connection.cursor()

    def child() -> None:
        before = files_of(path)
        for one in (connection, memory, reader):
            refused(lambda one=one: one.execute("SELECT 1"))
            refused(lambda one=one: one.execute("INSERT INTO t VALUES (-2, '')"))
            refused(lambda one=one: one.execute("SELECT v FROM t WHERE k = 1"))
            refused(lambda one=one: one.executemany("INSERT INTO t VALUES (?, '')", [(-3,)]))
            refused(lambda one=one: one.append("t", {"k": [-4], "v": [""]}))
            refused(one.cursor)
            refused(one.commit)
            refused(one.rollback)
            refused(one.refresh)
            refused(one.flush)
            refused(one.interrupt)
            refused(one.list_tables)
            refused(one.snapshot_timestamp)
            refused(lambda one=one: one.autocommit)
            refused(lambda one=one: one.in_transaction)
        for cursor in (held, stream):
            refused(cursor.fetchone)
            refused(cursor.fetchall)
            refused(cursor.fetch_arrow_table)
            refused(cursor.fetch_record_batch)
            refused(cursor.__arrow_c_stream__)
            refused(lambda cursor=cursor: next(cursor))
            refused(lambda cursor=cursor: cursor.execute("SELECT 1"))
        refused(lambda: idle.execute("SELECT 1"))
        refused(exported.read_next_batch)
        refused(lambda: connection.__exit__(None, None, None))
        for thing in (held, stream, idle, connection, memory, reader):
            thing.close()
        gc.collect()
        assert files_of(path) == before

    end_of(fork(child))
    assert len(held.fetchall()) == ROWS - 10
    assert len(stream.fetchall()) == ROWS * 100 - 10
    assert exported.read_all().num_rows == ROWS * 100 - 100
    reader.commit()
    connection.execute("INSERT INTO t VALUES (-5, 'after')")
    assert count(connection) == (ROWS + 2,) and count(memory) == (ROWS,)
    for one in (connection, reader, memory):
        one.close()
    check(path)


def asynchronous(path: str) -> None:
    """A child does not wait for the thread of an asynchronous connection: it has none."""
    new_database(path, maintenance=False).close()

    async def opened() -> tuple[aio.AsyncConnection, aio.AsyncCursor]:
        connection = await aio.connect(path, maintenance=False)
        await connection.execute("INSERT INTO t VALUES (-1, 'not committed')")
        cursor = await connection.execute("SELECT k FROM t ORDER BY k")
        await cursor.fetchmany(10)
        return connection, cursor

    async def rest(cursor: aio.AsyncCursor) -> int:
        return len(await cursor.fetchall())

    async def first(reader: AsyncIterator[object]) -> object:
        return await anext(reader)

    connection, cursor = asyncio.run(opened())

    def child() -> None:
        for use in (
            cursor.fetchone, cursor.fetchall, cursor.arrow, connection.commit, connection.rollback,
            connection.list_tables, lambda: connection.execute("SELECT 1"),
            lambda: connection.set_autocommit(True), lambda: first(cursor.fetch_record_batches()),
        ):  # fmt: skip
            refused(lambda use=use: asyncio.run(use()))
        asyncio.run(cursor.close())
        asyncio.run(connection.close())
        with pykudu_sql.connect(path, read_only=True) as own:
            assert count(own) == (ROWS,)

    end_of(fork(child))
    assert asyncio.run(rest(cursor)) == ROWS + 1 - 10
    asyncio.run(connection.commit())
    asyncio.run(connection.close())
    check(path)
    with pykudu_sql.connect(path) as later:
        assert count(later) == (ROWS + 1,)


def forgotten(path: str) -> None:
    """A child that lets go of what it inherits, or only ends, does not hang and writes nothing."""
    things: list[object] = [new_database(path, maintenance=False), new_database(":memory:")]
    connection = things[0]
    assert isinstance(connection, pykudu_sql.Connection)
    connection.execute("SET result_memory_bytes = 1000")
    things += [connection.execute(STREAMED), connection.execute("SELECT max(v) FROM t")]
    things.append(pykudu_sql.connect(path, maintenance=False))
    del connection

    def let_go() -> None:
        before = files_of(path)
        things.clear()
        gc.collect()
        assert files_of(path) == before

    end_of(fork(let_go))
    end_of(fork(lambda: None))
    end_of(fork(lambda: end_of(fork(let_go))))
    connection = things[0]
    assert isinstance(connection, pykudu_sql.Connection)
    connection.execute("INSERT INTO t VALUES (-1, 'after')")
    del connection
    things.clear()
    gc.collect()
    with pykudu_sql.connect(path) as connection:
        assert count(connection) == (ROWS + 1,)


def mid_query(path: str) -> None:
    """A child that is forked while a thread holds what nobody else knows of ends in silence."""
    connection = new_database(path, maintenance=False)
    assert connection.execute("SELECT max(v) FROM t").fetchone()
    connection.close()
    del connection
    gc.collect()
    held, ends = threading.Event(), threading.Event()

    def hold() -> None:
        one = duckdb.connect()
        held.set()
        ends.wait()
        one.close()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    end_of(fork(lambda: None))
    ends.set()
    thread.join()


def own_connection(path: str) -> None:
    """A child connects as any other process does."""
    connection = new_database(path)
    new_database(f"{path}2").close()
    other = pykudu_sql.connect(f"{path}2", read_only=True)
    leases = Path(f"{path}2", "leases")
    held = list(leases.iterdir())
    assert held

    def child() -> None:
        try:
            pykudu_sql.connect(path)
        except pykudu_sql.OperationalError as error:
            assert error.sqlstate == "55006", error.sqlstate
            assert f"process {os.getppid()}" in str(error), str(error)
        else:
            raise AssertionError("the parent's database was opened")
        with pykudu_sql.connect(path, read_only=True, threads=1) as own:
            assert count(own) == (ROWS,)
            assert own.execute("SELECT v FROM t WHERE k = 7").fetchone() == ("row 7",)
        with new_database(f"{path}3") as own:
            assert count(own) == (ROWS,)
            end_of(fork(lambda: refused(lambda: own.execute("SELECT 1"))))
            assert count(own) == (ROWS,)
        with pykudu_sql.connect(f"{path}2") as own:
            own.execute("CREATE TABLE u (k INT PRIMARY KEY)")
            assert list(leases.iterdir()) == held

    end_of(fork(child))
    assert list(leases.iterdir()) == held
    assert other.execute("SHOW TABLES").fetchall() == [("t",), ("u",)]
    other.close()
    assert not list(leases.iterdir())
    connection.execute("INSERT INTO t VALUES (-1, 'after')")
    connection.close()
    with pykudu_sql.connect(path) as connection:
        assert count(connection) == (ROWS + 1,)


def locks(path: str) -> None:
    """A child keeps no lock of its parent's: neither when that closes, nor when it dies."""
    connection = new_database(path)
    reading, writing = os.pipe()

    def wait() -> None:
        os.close(writing)
        os.read(reading, 1)

    children = [fork(wait) for _ in range(3)]
    connection.close()
    opened = [sys.executable, "-c", "import sys, pykudu_sql; pykudu_sql.connect(sys.argv[1])", path]
    subprocess.run(opened, check=True)

    def parent() -> None:
        pykudu_sql.connect(path)
        fork(wait)
        os._exit(0)

    end_of(fork(parent))
    subprocess.run(opened, check=True)
    os.close(writing)
    for child in children:
        end_of(child)


_INHERITED: list[pykudu_sql.Connection] = []


def _worker(number: int) -> str:
    signal.alarm(HANGS_AFTER_SECONDS)
    try:
        for connection in _INHERITED:
            connection.execute("INSERT INTO t VALUES (?, 'lost')", (100_000 + number,))
    except pykudu_sql.InterfaceError as error:
        return error.sqlstate
    return "none inherited"


def _pass_on(number: int) -> str:
    _INHERITED[0].execute("SELECT 1")
    return str(number)


def _pool_story(path: str, method: str, expected: str) -> None:
    connection = new_database(path)
    _INHERITED.append(connection)
    context = multiprocessing.get_context(method)
    with context.Pool(4) as pool:
        found = pool.map_async(_worker, range(16), chunksize=1)
        for number in range(100):
            connection.execute("INSERT INTO t VALUES (?, 'kept')", (ROWS + number,))
        assert set(found.get(120)) == {expected}
        if method == "fork":
            try:
                pool.map(_pass_on, range(4))
            except pykudu_sql.InterfaceError as error:
                assert error.sqlstate == "08003" and error.hint, error
            else:
                raise AssertionError("a worker's error got lost")
        try:
            pool.apply(_worker, (connection,))
        except pykudu_sql.InterfaceError as error:
            assert "pickled" in str(error), error
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        assert set(executor.map(_worker, range(8))) == {expected}
    assert count(connection) == (ROWS + 100,)
    connection.close()
    check(path)
    with pykudu_sql.connect(path) as connection:
        assert count(connection) == (ROWS + 100,)


def pool_fork(path: str) -> None:
    """The workers of a pool refuse what they inherit, and lose nothing of the parent's."""
    _pool_story(path, "fork", "08003")


def pool_spawn(path: str) -> None:
    """Started anew, workers inherit nothing."""
    _pool_story(path, "spawn", "none inherited")


def pool_forkserver(path: str) -> None:
    """As `pool_spawn`."""
    _pool_story(path, "forkserver", "none inherited")


def pre_fork(path: str) -> None:
    """Workers that a server forks after it has connected read by connections of their own."""
    connection = new_database(path)

    def worker() -> None:
        refused(lambda: connection.execute("SELECT 1"))
        with pykudu_sql.connect(path, read_only=True) as own:
            for _ in range(20):
                (found,) = own.execute("SELECT count(*) FROM t WHERE v LIKE 'row %'").fetchone()
                assert found == ROWS, found
        # As a server reloads: the worker is replaced, which forks again.
        end_of(fork(lambda: refused(lambda: connection.execute("SELECT 1"), server)))

    server = os.getpid()
    with busy(lambda k: connection.execute("UPSERT INTO t VALUES (?, 'new')", (-1 - k % 50,))):
        workers = [fork(worker) for _ in range(4)]
        for child in workers:
            end_of(child)
    connection.close()
    check(path)


def importing(path: str) -> None:
    """A child that is made while another thread imports a module can import it too."""
    connection = new_database(path)
    module = Path(f"{path}-modules") / "slow_module.py"
    module.parent.mkdir()
    module.write_text("import threading\nthreading.Event().wait(0.5)\n")
    sys.path.insert(0, str(module.parent))
    thread = threading.Thread(target=importlib.import_module, args=(module.stem,))
    thread.start()
    while module.stem not in sys.modules:
        time.sleep(0.001)
    child = fork(lambda: importlib.import_module(module.stem))
    thread.join()
    end_of(child)
    within = "import os\nchild = os.fork()\nif child == 0:\n    import colorsys\n    os._exit(0)\n"
    (module.parent / "forking_module.py").write_text(within)
    end_of(importlib.import_module("forking_module").child)
    connection.close()


def computing(path: str) -> None:
    """A child that is made while another thread computes a property can compute that of its own."""
    begun, forked = threading.Event(), threading.Event()
    parent = os.getpid()

    def compute(self: object) -> int:
        begun.set()
        return forked.wait(10) if os.getpid() == parent else False

    holder = type("Holder", (), {"value": cached_property(compute)})
    holder.value.__set_name__(holder, "value")
    thread = threading.Thread(target=lambda: holder().value)
    thread.start()
    begun.wait()
    child = fork(lambda: holder().value)
    forked.set()
    thread.join()
    end_of(child)
    new_database(path).close()


def killed(path: str) -> None:
    """Children that are killed at any moment, of a parent that is at work, harm none."""
    connection = new_database(path, flush_bytes=20_000, rowset_bytes=100_000)
    other = pykudu_sql.connect(path, autocommit=True, flush_bytes=20_000, rowset_bytes=100_000)
    written = [0]
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)

    def write(number: int) -> None:
        connection.execute("INSERT INTO t VALUES (?, ?)", (ROWS + number, "x" * 100))
        written[0] += 1

    def read(_: int) -> None:
        assert other.execute("SELECT count(*), max(v) FROM t").fetchone()

    def reopen(_: int) -> None:
        pykudu_sql.connect(f"{path}-other").close()

    def child() -> None:
        for _ in range(3):
            refused(lambda: connection.execute("INSERT INTO t VALUES (-1, '')"))
            with pykudu_sql.connect(path, read_only=True) as own:
                assert own.execute("SELECT count(*) FROM t").fetchone() >= (ROWS,)
        other.close()
        gc.collect()

    with busy(write, read, reopen):
        for _ in range(20):
            one = fork(child)
            if chance.random() < 0.7:
                time.sleep(chance.random() * 0.1)
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
                os.waitpid(one, 0)
            else:
                end_of(one)
    assert count(connection) == (ROWS + written[0],), seed
    connection.close()
    other.close()
    check(path)
    with pykudu_sql.connect(path) as connection:
        assert count(connection) == (ROWS + written[0],), seed


STORIES = {
    story.__name__: story
    for story in (
        inherited, asynchronous, forgotten, mid_query, own_connection, locks, pool_fork, pool_spawn,
        pool_forkserver, pre_fork, importing, computing, killed,
    )
}  # fmt: skip

if __name__ == "__main__":
    STORIES[sys.argv[1]](sys.argv[2])
