"""Calls of the API with arguments that nobody should pass: errors of ours, whatever they are."""

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection, Cursor, Error, InterfaceError, ProgrammingError


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (id INT PRIMARY KEY, s STRING)")
        opened.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        yield opened


class Odd:
    """Has a length and nothing behind it."""

    def __len__(self) -> int:
        return 1


ODD_VALUES: list[Any] = [
    *(None, 5, 1.5, True, b"x", "x", "", "\ud800", "\0", object(), Odd(), [], {}, (), set()),
    *([object()], {"a": object()}, [[1]], {1: 2}, iter([]), range(3), float("nan"), 1 << 200, len),
]
CALLS: dict[str, Callable[[Connection, Any], Any]] = {
    "statement": lambda c, x: c.execute(x),
    "parameters": lambda c, x: c.execute("SELECT ?", x),
    "parameter": lambda c, x: c.execute("SELECT ?", (x,)).fetchall(),
    "named parameters": lambda c, x: c.execute("SELECT :a", x),
    "a key": lambda c, x: c.execute("SELECT s FROM t WHERE id = ?", (x,)).fetchall(),
    "a compared text": lambda c, x: c.execute("SELECT id FROM t WHERE s = ?", (x,)).fetchall(),
    "an inserted text": lambda c, x: c.execute("INSERT INTO t VALUES (9, ?)", (x,)),
    "rows of parameters": lambda c, x: c.executemany("INSERT INTO t VALUES (?, ?)", x),
    "a row of parameters": lambda c, x: c.executemany("INSERT INTO t VALUES (?, ?)", [x]),
    "many statements": lambda c, x: c.executemany(x, []),
    "appended rows": lambda c, x: c.append("t", x),
    "an appended column": lambda c, x: c.append("t", {"id": [7], "s": x}),
    "an appended value": lambda c, x: c.append("t", {"id": [7], "s": [x]}),
    "an appended name": lambda c, x: c.append("t", pa.table([[1]], names=["\0"]), x),
    "the table of append": lambda c, x: c.append(x, {"id": [7]}),
    "the operation of append": lambda c, x: c.append("t", {"id": [7]}, x),
    "columns of a table": lambda c, x: c.list_columns(x),
    "fetchmany": lambda c, x: c.execute("SELECT 1").fetchmany(x),
    "batches": lambda c, x: c.execute("SELECT 1").fetch_record_batch(x),
    "scroll": lambda c, x: c.execute("SELECT 1").scroll(x),
    "the mode of scroll": lambda c, x: c.execute("SELECT 1").scroll(0, x),
    "a setting": lambda c, x: pykudu_sql.connect(":memory:", statement_timeout=x).close(),
    "a name of a setting": lambda c, x: pykudu_sql.connect(":memory:", **{str(x): 1}),
    "autocommit": lambda c, x: setattr(c, "autocommit", x),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_odd_argument_is_taken_or_is_an_error_of_ours(connection: Connection, call: str) -> None:
    for value in ODD_VALUES:
        try:
            CALLS[call](connection, value)
        except Error as error:
            assert error.sqlstate != "XX000", (value, error)
    assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("path", [None, 5, "a\0b", object(), b"a\0b", ["x"], ""])
def test_what_is_no_path_is_an_error_of_ours(path: Any) -> None:
    with pytest.raises(Error) as caught:
        pykudu_sql.connect(path)
    assert caught.value.sqlstate != "XX000"


def test_an_exception_of_the_program_in_its_own_generator_comes_back(
    connection: Connection,
) -> None:
    def rows() -> Iterator[tuple[int, str]]:
        yield 7, "x"
        raise LookupError("of the program")

    with pytest.raises(LookupError, match="of the program"):
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows())
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


def _failing() -> Iterator[Any]:
    yield 7
    raise LookupError("of the program")


class FailingStream:
    """Cannot be read as Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise LookupError("of the program")


class FailingColumns(dict[str, Any]):
    """Cannot be gone through."""

    def items(self) -> Any:
        raise LookupError("of the program")


@pytest.mark.parametrize("data", [FailingStream(), {"id": _failing()}, FailingColumns(id=[7])])
def test_an_exception_of_the_program_in_what_it_appends_comes_back(
    connection: Connection, data: Any
) -> None:
    with pytest.raises(LookupError, match="of the program"):
        connection.append("t", data)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


@pytest.mark.parametrize(
    "sql", ["SELECT ?", "SELECT s FROM t WHERE id = ?", "DELETE FROM t WHERE id = ?"]
)
def test_an_exception_of_the_program_in_its_parameters_is_the_cause_of_a_clear_error(
    connection: Connection, sql: str
) -> None:
    class Failing:
        def __len__(self) -> int:
            return 1

        def __getitem__(self, place: int) -> object:
            raise ValueError("of the program")

    with pytest.raises(
        InterfaceError, match=r"number 1 cannot be read .* of the program"
    ) as caught:
        connection.execute(sql, Failing()).fetchall()  # type: ignore[arg-type]
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_generator_may_use_the_connection_it_feeds(connection: Connection) -> None:
    def rows() -> Iterator[tuple[int, str]]:
        for (number,) in connection.execute("SELECT id FROM t"):
            yield number + 10, "again"

    connection.executemany("INSERT INTO t VALUES (?, ?)", rows())
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (4,)


CLOSED: list[Callable[[Cursor], Any]] = [
    lambda cursor: cursor.execute("SELECT 1"),
    lambda cursor: cursor.executemany("INSERT INTO t VALUES (?, ?)", []),
    Cursor.fetchone,
    Cursor.fetchall,
    Cursor.fetchmany,
    Cursor.fetch_arrow_table,
    Cursor.fetch_record_batch,
    Cursor.fetch_df,
    Cursor.nextset,
    lambda cursor: cursor.scroll(0),
    pa.table,
    pa.schema,
    next,
]


@pytest.mark.parametrize("use", CLOSED)
def test_a_closed_cursor_says_so(connection: Connection, use: Callable[[Cursor], Any]) -> None:
    cursor = connection.execute("SELECT 1")
    cursor.close()
    with pytest.raises(InterfaceError, match="closed"):
        use(cursor)


def test_a_row_that_is_not_there_is_an_error_of_ours_and_an_index_error(
    connection: Connection,
) -> None:
    cursor = connection.execute("SELECT 1")
    with pytest.raises(IndexError) as caught:
        cursor.scroll(5)
    assert isinstance(caught.value, ProgrammingError)
    assert caught.value.sqlstate == "22023"


def test_threads_that_share_a_connection_see_errors_of_their_own_statements(
    connection: Connection,
) -> None:
    wrong: list[str] = []

    def work(name: str) -> None:
        for _ in range(50):
            try:
                connection.execute(f"SELECT {name}(id) FROM t")
            except Error as error:
                if name not in error.message:
                    wrong.append(error.message)

    threads = [threading.Thread(target=work, args=(f"nosuch_{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_connection_that_is_forgotten_amid_its_results_prints_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = pykudu_sql.connect(":memory:", autocommit=True, result_memory_bytes=1000)
    connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    connection.append("t", {"id": list(range(100_000))})
    cursor = connection.execute("SELECT id FROM t")
    cursor.fetchone()

    def refuse(session: object) -> None:
        raise RuntimeError("the engine still holds a cursor")

    monkeypatch.setattr("pykudu_sql.session.session.Session.close", refuse)
    del cursor, connection
    gc.collect()


@pytest.mark.parametrize("arguments", [(), ("t", 1, 2, 3)])
def test_another_number_of_arguments_than_a_call_takes_is_a_type_error(
    connection: Connection, arguments: tuple[Any, ...]
) -> None:
    cursor = connection.execute("SELECT 1")
    calls: tuple[Any, ...] = (connection.list_columns, connection.list_keys, cursor.scroll)
    for call in calls:
        with pytest.raises(TypeError, match=call.__name__):
            call(*arguments)


@pytest.mark.parametrize(
    "ask",
    [
        lambda conn: pykudu_sql.split_statements(None),
        lambda conn: pykudu_sql.is_complete(b"SELECT 1"),
        lambda conn: conn.create_table("sizes", {"a": [1]}, key=None),
        lambda conn: conn.create_table("sizes", {"a": [1]}, key=[1]),
        lambda conn: conn.create_table("sizes", {"a": [1]}, key=b"a"),
        lambda conn: conn.create_table("sizes", {"a": 1}, key=["a"]),
        lambda conn: conn.register("frame", {"a": 1}),
        lambda conn: conn.register("frame", {"a": None}),
        lambda conn: conn.register("frame", {"a": (number for number in [1])}),
        lambda conn: conn.executemany("SELECT ?", np.array(3)),
    ],
)
def test_an_argument_of_another_kind_is_an_error_of_the_interface(
    ask: Callable[[Connection], object],
) -> None:
    with pytest.raises(pykudu_sql.InterfaceError):
        ask(pykudu_sql.connect())


def test_a_key_may_be_the_name_of_one_column() -> None:
    conn = pykudu_sql.connect(autocommit=True)
    assert conn.create_table("sizes", {"id": [1, 2]}, key="id") == 2
    assert conn.list_keys("sizes") == ["id"]


def test_parameters_may_be_an_array_of_numpy(connection: Connection) -> None:
    rows = connection.execute("SELECT s FROM t WHERE id IN (?, ?)", np.array([1, 2])).fetchall()
    assert sorted(rows) == [("a",), ("b",)]
    statement = "EXPLAIN SELECT s FROM t WHERE id IN (?, ?)"
    assert connection.execute(statement, np.array([1, 2])).fetchall()
    connection.executemany("UPSERT INTO t (id, s) VALUES (?, ?)", np.array([[3, 4], [5, 6]]))
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(4,)]
    with pytest.raises(InterfaceError):
        connection.execute("SELECT s FROM t WHERE id = ?", np.array([1, 2]))
    for statement in (
        "SELECT ?",
        "SELECT s FROM t WHERE id = ?",
        "SELECT s FROM t WHERE id IN (?)",
    ):
        with pytest.raises(pykudu_sql.Error, match="ndarray cannot be a parameter") as refused:
            connection.execute(statement, (np.array(1),))
        assert refused.value.sqlstate == "07006"
    with pytest.raises(InterfaceError):
        connection.execute("SELECT s FROM t WHERE id = ?", np.array(1))
