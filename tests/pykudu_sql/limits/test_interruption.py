"""A statement that is asked to stop does so, wherever it is, and harms nothing."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.dbapi.cursor import Cursor
from pykudu_sql.engine import duckdb_engine
from pykudu_sql.engine.engine_cursor import EngineCursor
from pykudu_sql.executor import cancellation as cancellation_module
from pykudu_sql.executor import session_state
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.reading.scans import StreamedScan
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.errors import InvalidValueError, QueryCancelledError
from pykudu_sql.storage.maintenance.manager import MaintenanceManager
from pykudu_sql.storage.tablet.maintenance import compaction, diskrowset_writer
from pykudu_sql.storage.transaction.transaction import Transaction

ENDLESS = {
    "a join": "select count(*) from t x, t y, t z where x.a * y.a * z.a = 7",
    "a series": "select count(*) from range(1000000000000) r(i) where i % 7 = 3",
    "a recursion": "with recursive r(n) as (select 1 union all select n + 1 from r) "
    "select count(*) from r",
    "an update": "update t set a = (select count(*) from t x, t y, t z where x.a * y.a * z.a = 7)",
}

ENDLESS_ROWS = "select i from range(1000000000000) r(i)"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
MAINTENANCE = {
    "flush": (diskrowset_writer, "encode_column"),
    "flush table t": (diskrowset_writer, "encode_column"),
    "optimize table t": (diskrowset_writer, "encode_column"),
    "optimize table t full": (compaction, "splice"),
    "vacuum": (MaintenanceManager, "due_in"),
}


@pytest.fixture(autouse=True)
def _default_handler_of_ctrl_c() -> Iterator[None]:
    """Spark, where it has been started in this process, has left a handler of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def connection() -> Iterator[pykudu_sql.Connection]:
    opened = pykudu_sql.connect(":memory:", autocommit=True)
    opened.execute("create table t (id bigint primary key, a int)")
    opened.append("t", pa.table({"id": range(20_000), "a": pa.array(range(20_000), pa.int32())}))
    opened.execute("flush table t")
    yield opened
    opened.rollback()
    opened.close()


def _stopped(cancellation: Cancellation) -> bool:
    """Whether the running statement was asked to stop."""
    try:
        cancellation.check()
    except QueryCancelledError:
        return True
    return False


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.05])
@pytest.mark.parametrize("sql", ENDLESS.values(), ids=ENDLESS)
def test_an_endless_statement_ends_when_it_is_interrupted(
    connection: pykudu_sql.Connection, sql: str, delay: float
) -> None:
    stopping = threading.Event()

    def interrupt() -> None:
        time.sleep(delay)
        while not stopping.wait(0.01):  # a request before the statement has begun is about none
            connection.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(QueryCancelledError) as caught:
            connection.execute(sql)
    finally:
        stopping.set()
        thread.join()
    assert caught.value.sqlstate == "57014"
    assert connection.execute("select count(*), sum(a) from t").fetchone() == (20_000, 199_990_000)


@pytest.mark.parametrize("sql", ENDLESS.values(), ids=ENDLESS)
def test_one_request_is_enough_while_a_statement_runs(
    connection: pykudu_sql.Connection, sql: str
) -> None:
    timer = threading.Timer(0.2, connection.interrupt)
    timer.start()
    with pytest.raises(QueryCancelledError, match="interrupted"):
        connection.execute(sql)
    timer.join()


def test_a_scan_stops_between_its_stretches(connection: pykudu_sql.Connection) -> None:
    store = connection._session.database.store
    table = store.catalog.table("t")
    asked = store.begin().scan(table, ScanSpec(table.schema.key_ids))
    checks: list[int] = []

    def stop_soon() -> None:
        checks.append(1)
        if len(checks) == 2:
            raise QueryCancelledError("enough")

    with pytest.raises(QueryCancelledError, match="enough"):
        replace(asked, cancel_check=stop_soon).to_table()
    assert asked.to_table().num_rows == 20_000


def test_statement_timeout_stops_what_takes_longer(connection: pykudu_sql.Connection) -> None:
    connection.execute("set statement_timeout = '100ms'")
    for sql in ENDLESS.values():
        with pytest.raises(QueryCancelledError, match="longer than statement_timeout, 100 ms"):
            connection.execute(sql)
    connection.execute("set statement_timeout = '1h'")
    assert connection.execute("select count(*) from t").fetchone() == (20_000,)
    connection.execute("set statement_timeout = 0")
    time.sleep(0.15)
    assert connection.execute("select count(*) from t").fetchone() == (20_000,)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("250", 250), ("'3s'", 3000), ("'2 minutes'", 120_000), ("'1h'", 3_600_000), ("default", 0)],
)
def test_statement_timeout_reads_times(
    connection: pykudu_sql.Connection, text: str, milliseconds: int
) -> None:
    connection.execute(f"set statement_timeout = {text}")
    shown = dict(row[:2] for row in connection.execute("show settings").fetchall())
    assert shown["statement_timeout"] == str(milliseconds)


@pytest.mark.parametrize("text", ["'soon'", "-1", "'3 parsecs'", "true"])
def test_statement_timeout_refuses_what_is_no_time(
    connection: pykudu_sql.Connection, text: str
) -> None:
    with pytest.raises(InvalidValueError, match="statement_timeout"):
        connection.execute(f"set statement_timeout = {text}")


def _wait_for(met: Callable[[], bool]) -> None:
    while not met():
        time.sleep(0.001)


def test_a_request_holds_for_the_statement_that_runs_and_no_other() -> None:
    pressed: list[int] = []
    cancellation = Cancellation(lambda: pressed.append(1))
    cancellation.request()
    with cancellation.at_work:
        cancellation.begin(0)
        cancellation.check()
        cancellation.request()
        _wait_for(lambda: len(pressed) > 2)
        with pytest.raises(QueryCancelledError):
            cancellation.check()
        cancellation.end()
    count = len(pressed)
    with cancellation.at_work:
        cancellation.begin(0)
        cancellation.check()
        time.sleep(0.06)
        assert len(pressed) == count
        cancellation.end()


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_statement_asked_to_stop_while_it_writes_changes_nothing(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch, in_transaction: bool
) -> None:
    cancellation = connection._session._state.cancellation

    def interrupted_behind(write: Callable[..., int]) -> Callable[..., int]:
        def write_and_be_interrupted(*given: object) -> int:
            changed = write(*given)
            connection.interrupt()
            _wait_for(partial(_stopped, cancellation))
            return changed

        return write_and_be_interrupted

    if in_transaction:
        connection.execute("begin")
        connection.execute("update t set a = 7 where id = 0")
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "write", interrupted_behind(Transaction.write))
        for sql in ("update t set a = 5 where a > 1", "insert into t select id + 50000, 1 from t"):
            with pytest.raises(QueryCancelledError, match="interrupted"):
                connection.execute(sql)
    expected = 199_990_007 if in_transaction else 199_990_000
    assert connection.execute("select count(*), sum(a) from t").fetchone() == (20_000, expected)


@POSIX
def test_ctrl_c_stops_a_query_of_the_main_thread(connection: pykudu_sql.Connection) -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        connection.execute(ENDLESS["a series"])
    timer.join()
    assert connection.execute("select count(*) from t").fetchone() == (20_000,)


@POSIX
def test_ctrl_c_while_the_engine_is_loaded_is_a_keyboard_interrupt(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = duckdb.connect

    class Connection:
        """Tells of a signal as DuckDB does when one comes while it works."""

        def __init__(self) -> None:
            self._opened = connect(":memory:")

        def execute(self, sql: str) -> object:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                return self._opened.execute(sql)
            except KeyboardInterrupt:
                raise RuntimeError("Query interrupted") from None

        def __getattr__(self, name: str) -> object:
            return getattr(self._opened, name)

    def interrupted(*arguments: Any, **options: Any) -> Connection:
        return Connection()

    monkeypatch.setattr(duckdb, "connect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        connection.execute("select count(*) from range(9) r(i) where i % 7 = 3")
    monkeypatch.undo()
    rows = connection.execute("select count(*) from range(9) r(i) where i % 7 = 3").fetchall()
    assert rows == [(1,)]


@POSIX
@pytest.mark.parametrize(
    ("owner", "step"),
    [(duckdb_engine.DuckDBEngine, "_register"), (EngineCursor, "clear")],
    ids=["gets", "gives back"],
)
def test_ctrl_c_while_the_engine_gets_or_gives_back_tables_is_a_keyboard_interrupt(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch, owner: Any, step: str
) -> None:
    done = getattr(owner, step)

    def interrupted(*arguments: Any) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            done(*arguments)
        except KeyboardInterrupt:  # as DuckDB tells of what its call into Python raised
            raise duckdb.InvalidInputException("KeyboardInterrupt") from None

    query = "select count(*) from t where a % 7 = 3"
    expected = connection.execute(query).fetchall()
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            connection.execute(query)
    assert connection.execute(query).fetchall() == expected


@pytest.mark.parametrize("sql", MAINTENANCE)
@pytest.mark.parametrize("by", ["interrupt", "timeout", pytest.param("Ctrl-C", marks=POSIX)])
def test_maintenance_that_is_asked_to_stop_does_so_and_can_be_done_again(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch, sql: str, by: str
) -> None:
    cancellation = connection._session._state.cancellation

    owner, name = MAINTENANCE[sql]
    step = getattr(owner, name)
    statement = threading.current_thread()

    def ask_and_go_on(*given: object) -> object:
        if threading.current_thread() is not statement:
            return step(*given)  # the same work, done in the background
        if by == "interrupt":
            connection.interrupt()
        elif by == "Ctrl-C":
            os.kill(os.getpid(), signal.SIGINT)
        _wait_for(partial(_stopped, cancellation))
        return step(*given)

    connection.execute("update t set a = a + 1 where id < 100")
    connection.execute("upsert into t values (20000, 7)")
    if by == "timeout":
        connection.execute("set statement_timeout = '1ms'")
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, ask_and_go_on)
        with pytest.raises(KeyboardInterrupt if by == "Ctrl-C" else QueryCancelledError):
            connection.execute(sql)
    connection.execute("set statement_timeout = 0")
    connection.execute("optimize table t full")
    connection.execute(sql)
    found = connection.execute("select count(*), sum(a) from t").fetchone()
    assert found == (20_001, 199_990_107)


@pytest.mark.parametrize(
    "fetch",
    [Cursor.fetchall, Cursor.fetch_arrow_table, Cursor.fetch_dicts],
    ids=lambda f: f.__name__,
)
def test_statement_timeout_stops_whoever_fetches_without_end(
    fetch: Callable[[Cursor], object],
) -> None:
    with pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=1) as opened:
        cursor = opened.execute(ENDLESS_ROWS)
        opened.execute("set statement_timeout = '300ms'")
        with pytest.raises(QueryCancelledError, match="longer than statement_timeout, 300 ms"):
            fetch(cursor)


def test_each_fetch_may_take_as_long_as_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    minutes = count(step=25)
    clock = SimpleNamespace(monotonic=lambda: 60.0 * next(minutes))
    with pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=1) as opened:
        opened.execute("set statement_timeout = '1h'")
        cursor = opened.execute(ENDLESS_ROWS)
        monkeypatch.setattr(session_state, "time", clock)
        for _ in range(4):
            assert len(cursor.fetchmany(50_000)) == 50_000
        with pytest.raises(QueryCancelledError, match="statement_timeout, 3600000 ms"):
            cursor.fetchall()


def test_work_for_an_earlier_statement_goes_on_when_a_later_one_is_stopped() -> None:
    cancellation = Cancellation(lambda: None)
    with cancellation.at_work:
        cancellation.begin(0)
        earlier = cancellation.number
        cancellation.end()
    with cancellation.at_work:
        cancellation.begin(1)
        later = cancellation.number
        deadline = time.monotonic() + 10
        with pytest.raises(QueryCancelledError, match="statement_timeout, 1 ms"):
            while time.monotonic() < deadline:
                cancellation.check_for(earlier)
                cancellation.check_for(later)
        cancellation.end()
    cancellation.check_for(earlier)


def test_what_an_engine_reads_ahead_is_not_about_the_statement_that_runs_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scans: list[StreamedScan] = []
    kept = StreamedScan.__init__

    def keep(scan: StreamedScan, *arguments: Any) -> None:
        kept(scan, *arguments)
        scans.append(scan)

    monkeypatch.setattr(StreamedScan, "__init__", keep)
    with pykudu_sql.connect(scan_memory_bytes=0, result_memory_bytes=0, autocommit=True) as conn:
        conn.execute("create table t (id bigint primary key)")
        conn.append("t", pa.table({"id": range(300_000)}))
        half_read = conn.execute("select id from t")
        conn.execute("set statement_timeout = 5")
        with pytest.raises(QueryCancelledError):
            conn.execute(ENDLESS["a series"])
        # Nothing has run since: the state in which an engine that reads ahead finds it.
        read_ahead = scans[0].batches([0])
        assert sum(batch.num_rows for batch in read_ahead) == 300_000
        conn._session._state.settings = replace(conn._session._state.settings, statement_timeout=0)
        assert len(half_read.fetchall()) == 300_000


@pytest.mark.parametrize("end", ["by itself", "COMMIT", "commit()"])
def test_a_large_update_that_waits_for_maintenance_of_its_table_ends_at_its_timeout(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(chunked_rows, "CHANGE_BYTES", 50_000)
    (tablet,) = connection._session.database.store.tablets.values()
    if end != "by itself":
        connection.execute("begin")
        connection.execute("update t set a = 7")
    connection.execute("set statement_timeout = '300ms'")
    with tablet.maintenance_lock, pytest.raises(QueryCancelledError, match="statement_timeout"):
        if end == "by itself":
            connection.execute("update t set a = 7")
        elif end == "COMMIT":
            connection.execute("commit")
        else:
            connection.commit()
    connection.execute("set statement_timeout = 0")
    assert not connection.in_transaction
    assert connection.execute("select count(*) from t where a = 7").fetchall() == [(1,)]
    connection.execute("update t set a = 7")
    assert connection.execute("select count(*) from t where a = 7").fetchall() == [(20_000,)]


LONG_TO_PLAN = {
    "a chain of ORs": " OR ".join(f"a = {i} + id" for i in range(2_000)),
    "a wide list": f"a IN ({', '.join(f'{i} + id' for i in range(5_000))})",
    "many calls": " AND ".join(f"lower('{i}' || a) <> upper('b')" for i in range(500)),
    "many constants": f"a IN ({', '.join(f'length(lower({i}))' for i in range(2_000))})",
}


@pytest.mark.parametrize("condition", LONG_TO_PLAN.values(), ids=LONG_TO_PLAN)
def test_a_statement_that_takes_long_to_plan_ends_at_its_timeout(
    connection: pykudu_sql.Connection, condition: str
) -> None:
    connection.execute("set statement_timeout = 1")
    with pytest.raises(QueryCancelledError, match="statement_timeout, 1 ms") as caught:
        connection.execute(f"explain select count(*) from t where {condition}")
    assert caught.value.sqlstate == "57014"


def test_the_end_of_the_process_sees_a_statement_before_that_looks_whether_it_may_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cancellation = Cancellation(lambda: None)

    def check_process() -> None:
        assert cancellation.running
        raise SystemExit

    monkeypatch.setattr(cancellation_module, "check_process", check_process)
    with pytest.raises(SystemExit), cancellation.at_work:
        cancellation.begin(0)
    assert not cancellation.stop_at_exit()
