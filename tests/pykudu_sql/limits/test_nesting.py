"""Deep statements run or are refused, whatever the interpreter's recursion limit is."""

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import pykudu_sql
from pykudu_sql.planner.deep_stack import run_deep
from pykudu_sql.storage.errors import StatementTooComplexError

Shape = Callable[[int], str]

DEEP: dict[str, Shape] = {
    "parentheses": lambda n: "SELECT " + "(" * n + "a" + ")" * n + " FROM t",
    "sums": lambda n: "SELECT " + "(1 - " * n + "a" + ")" * n + " FROM t",
    "conditions": lambda n: "SELECT a FROM t WHERE " + "(a > 0 AND " * n + "a = 1" + ")" * n,
    "CASE": lambda n: "SELECT " + "CASE WHEN a = 2 THEN 2 ELSE " * n + "1" + " END" * n + " FROM t",
    "CASE WHEN": lambda n: (
        "SELECT a FROM t WHERE " + "CASE WHEN " * n + "a = 1" + " THEN true END" * n
    ),
    "NOT": lambda n: "SELECT a FROM t WHERE " + "NOT " * n + "a = 1",
    "minus": lambda n: "SELECT " + "- " * n + "a FROM t",
    "casts": lambda n: "SELECT " + "CAST(" * n + "a" + " AS INT)" * n + " FROM t",
    "IN lists": lambda n: "SELECT a FROM t WHERE " + "a IN (7, " * n + "a" + ")" * n,
    "queries": lambda n: "(" * n + "SELECT a FROM t" + ")" * n,
    "unions": lambda n: "SELECT a FROM t UNION (" * n + "SELECT 1" + ")" * n,
    "joins": lambda n: "SELECT a FROM " + "(" * n + "t" + ")" * n,
}
QUERIES: dict[str, Shape] = {
    "scalar": lambda n: "SELECT " + "(SELECT " * n + "1" + ")" * n,
    "FROM": lambda n: "SELECT a FROM " + "(SELECT * FROM " * n + "t" + ")" * n,
    "IN": lambda n: "SELECT a FROM t WHERE " + "a IN (SELECT a FROM t WHERE " * n + "a=1" + ")" * n,
    "EXISTS": lambda n: (
        "SELECT a FROM t WHERE " + "EXISTS (SELECT 1 FROM t WHERE " * n + "a = 1" + ")" * n
    ),
    "WITH": lambda n: "WITH x AS (" * n + "SELECT 1" + ") SELECT * FROM x" * n,
}
FLAT: dict[str, Shape] = {
    "AND": lambda n: "SELECT a FROM t WHERE " + " AND ".join(f"a <> {i + 2}" for i in range(n)),
    "OR": lambda n: "SELECT a FROM t WHERE " + " OR ".join(f"a + 1 = {i + 2}" for i in range(n)),
}
CALLS: dict[str, Shape] = {
    "calls": lambda n: "SELECT " + "abs(" * n + "a" + ")" * n + " FROM t",
    "lists": lambda n: "SELECT " + "[" * n + "1" + "]" * n,
    "list functions": lambda n: "SELECT " + "list_value(" * n + "1" + ")" * n,
    "structs": lambda n: "SELECT " + "{'a': " * n + "1" + "}" * n,
    "types": lambda n: "SELECT CAST(NULL AS " + "STRUCT(a " * n + "INT" + ")" * n + ")",
}

RETRIED: dict[str, Shape] = {
    "rows": lambda n: "SELECT " + "row(" * n + "1" + ")" * n,
    "arrays": lambda n: "SELECT " + "array[" * n + "1" + "]" * n,
    "lambdas": lambda n: "SELECT " + "list_transform([1], lambda x: " * n + "1" + ")" * n,
    "arrows": lambda n: "SELECT " + "list_transform([1], x -> " * n + "1" + ")" * n,
}


@pytest.fixture
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
        connection.execute("INSERT INTO t VALUES (1, 1)")
        yield connection


@pytest.mark.parametrize(
    ("shape", "levels"),
    [(s, 200) for s in DEEP.values()]
    + [(s, 50) for s in QUERIES.values()]
    + [(s, 1000) for s in FLAT.values()],
    ids=[*DEEP, *(f"{name} queries" for name in QUERIES), *FLAT],
)
def test_a_deep_statement_answers(
    connection: pykudu_sql.Connection, shape: Shape, levels: int
) -> None:
    limit = sys.getrecursionlimit()
    assert connection.execute(shape(levels)).fetchall() == [(1,)]
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize(
    ("shape", "levels"),
    [(s, n) for s in (DEEP | QUERIES).values() for n in (1000, 20_000)]
    + [(s, n) for s in CALLS.values() for n in (70, 200, 20_000)],
)
def test_beyond_the_limits_is_an_error(
    connection: pykudu_sql.Connection, shape: Shape, levels: int
) -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(pykudu_sql.Error) as caught:
        connection.execute(shape(levels))
    assert caught.value.sqlstate == "54001"
    assert sys.getrecursionlimit() == limit


def test_deep_statements_change_rows_and_make_views(connection: pykudu_sql.Connection) -> None:
    value, condition = "(1 + " * 200 + "b" + ")" * 200, "(a = 1 AND " * 200 + "true" + ")" * 200
    assert connection.execute(f"UPDATE t SET b = {value} WHERE {condition}").rowcount == 1
    connection.execute(f"CREATE VIEW v AS SELECT {value} AS c FROM t")
    assert connection.execute("SELECT c FROM v").fetchall() == [(401,)]
    connection.execute(f"INSERT INTO t VALUES (2, {'(' * 200}7{')' * 200})")
    assert connection.execute(f"DELETE FROM t WHERE {condition}").rowcount == 1
    assert connection.execute("SELECT a, b FROM t").fetchall() == [(2, 7)]


def test_threads_plan_deep_statements_at_once() -> None:
    limit, size = sys.getrecursionlimit(), threading.stack_size()

    def run(levels: int) -> object:
        with pykudu_sql.connect(":memory:") as connection:
            return connection.execute("SELECT " + "(1 + " * levels + "0" + ")" * levels).fetchall()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(90, 98))) == [[(levels,)] for levels in range(90, 98)]
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)


def test_the_limit_is_not_lowered_below_a_thread_that_is_deeper() -> None:
    limit = sys.getrecursionlimit()
    raised, deep, lowered = threading.Event(), threading.Event(), threading.Event()

    def descend(frames: int, bottom: Callable[[], None]) -> int:
        if not frames:
            bottom()
            return 0
        return 1 + descend(frames - 1, bottom)

    def stay() -> None:
        deep.set()
        assert lowered.wait(60)

    def work_on_a_usual_stack() -> int:
        assert raised.wait(60)
        return descend(limit + 500, stay) + descend(limit + 600, lambda: None)

    def work_on_a_large_stack() -> None:
        if not raised.is_set():
            raised.set()
            raise RecursionError
        assert deep.wait(60)

    with ThreadPoolExecutor(2) as pool:
        depth = pool.submit(run_deep, work_on_a_usual_stack)
        pool.submit(run_deep, work_on_a_large_stack).result()
        lowered.set()
        assert depth.result() == 2 * limit + 1100
    assert sys.getrecursionlimit() == limit


def test_errors_of_deep_work_are_raised_where_it_was_asked_for() -> None:
    def fail() -> None:
        raise StatementTooComplexError("no")

    with pytest.raises(StatementTooComplexError, match="no"):
        run_deep(fail)


def test_a_system_without_room_for_the_stack_refuses_the_statement(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    limit = sys.getrecursionlimit()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(pykudu_sql.Error, match="nested too deeply"):
        connection.execute(DEEP["sums"](200))
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("shape", RETRIED.values(), ids=RETRIED)
def test_what_the_parser_reads_again_at_each_level_is_nested_little(
    connection: pykudu_sql.Connection, shape: Shape
) -> None:
    assert len(connection.execute(shape(8)).fetchall()) == 1
    for depth in (9, 60, 200):
        with pytest.raises(StatementTooComplexError, match="ROW, ARRAY and lambdas"):
            connection.execute(shape(depth))
    beside = shape(1).removeprefix("SELECT ")
    assert len(connection.execute("SELECT " + ", ".join([beside] * 30)).fetchall()) == 1
