"""The engine behind its lock: what it computes, what it refuses, how it fails."""

import ast
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb as library
import pyarrow as pa
import pytest

from pykudu_sql.engine import duckdb_engine
from pykudu_sql.engine.duckdb_engine import DuckDBEngine
from pykudu_sql.engine.duckdb_instance import DuckDB, EngineOptions
from pykudu_sql.storage.errors import (
    DataError,
    Error,
    InterfaceError,
    InvalidValueError,
    ProgrammingError,
    QueryCancelledError,
    ValueOutOfRangeError,
)

OPTIONS = EngineOptions(threads=2, memory_limit=256 << 20, spill_directory=None)


@pytest.fixture
def duckdb() -> Iterator[DuckDB]:
    opened = DuckDB(OPTIONS)
    yield opened
    opened.close()


@pytest.fixture
def engine(duckdb: DuckDB) -> DuckDBEngine:
    return DuckDBEngine(duckdb)


def values(engine: DuckDBEngine, sql: str, *parameters: object) -> list[tuple[object, ...]]:
    table = engine.execute(sql, {}, parameters).table
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


FORBIDDEN = {
    "a file by its name": "SELECT * FROM '/etc/passwd'",
    "read_csv": "SELECT * FROM read_csv('/etc/passwd')",
    "read_text": "SELECT * FROM read_text('/etc/passwd')",
    "read_blob": "SELECT * FROM read_blob('/etc/passwd')",
    "read_json": "SELECT * FROM read_json('/etc/passwd')",
    "parquet_scan": "SELECT * FROM parquet_scan('/tmp/x.parquet')",
    "glob": "SELECT * FROM glob('/etc/*')",
    "sniff_csv": "SELECT * FROM sniff_csv('/etc/passwd')",
    "COPY TO": "COPY (SELECT 1) TO '/tmp/pykudu_sql_leak.csv'",
    "ATTACH a file": "ATTACH '/tmp/pykudu_sql_leak.db' AS leak",
    "EXPORT": "EXPORT DATABASE '/tmp/pykudu_sql_leak'",
    "IMPORT": "IMPORT DATABASE '/tmp/pykudu_sql_leak'",
    "INSTALL": "INSTALL httpfs",
    "LOAD": "LOAD httpfs",
    "an http address": "SELECT * FROM 'https://example.invalid/x.parquet'",
    "CREATE SECRET": "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "a persistent secret": "CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "SET memory_limit": "SET memory_limit = '100GB'",
    "SET GLOBAL threads": "SET GLOBAL threads = 64",
    "RESET": "RESET memory_limit",
    "unlocking": "SET lock_configuration = false",
    "external access": "SET enable_external_access = true",
    "profiling": "PRAGMA enable_profiling = 'json'",
    "a profile file": "PRAGMA profiling_output = '/tmp/pykudu_sql_leak.json'",
    "a variable of the program": "SELECT * FROM table_of_the_program",
    "getenv": "SELECT getenv('HOME')",
}


@pytest.mark.parametrize("sql", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_the_lock_refuses(engine: DuckDBEngine, sql: str) -> None:
    table_of_the_program = pa.table({"a": [1]})
    with pytest.raises(Error):
        engine.execute(sql, {}, ())
    assert table_of_the_program.num_rows == 1
    assert not list(Path("/tmp").glob("pykudu_sql_leak*"))


def test_relations_are_known_during_their_statement_only(engine: DuckDBEngine) -> None:
    sql = "SELECT sum(a) FROM r"
    for numbers, total in (([1, 2], 3), ([10], 10)):
        found = engine.execute(sql, {"r": pa.table({"a": numbers})}, ())
        assert found.table.column(0).to_pylist() == [total]
        assert found.types == ("HUGEINT",)
    with pytest.raises(DataError, match="outside of its query"):
        engine.execute(sql, {}, ())
    text = engine.execute("SELECT max(a) FROM r", {"r": pa.table({"a": ["x"]})}, ())
    assert text.types == ("STRING",)


def test_a_relation_is_forgotten_when_its_statement_fails(engine: DuckDBEngine) -> None:
    relation = pa.table({"a": ["1", "x"]})
    with pytest.raises(InvalidValueError):
        engine.execute("SELECT CAST(a AS INT) FROM r", {"r": relation}, ())
    with pytest.raises(ProgrammingError):
        engine.execute("SELECT * FROM r", {}, ())
    assert values(engine, "SELECT 1") == [(1,)]


def test_sessions_do_not_see_each_others_relations(duckdb: DuckDB) -> None:
    first, second = DuckDBEngine(duckdb), DuckDBEngine(duckdb)
    answers: dict[str, list[int]] = {"first": [], "second": []}

    def run(name: str, engine: DuckDBEngine, number: int) -> None:
        relation = pa.table({"a": [number] * 100})
        for _ in range(50):
            found = engine.execute("SELECT sum(a) AS s FROM r", {"r": relation}, ())
            answers[name].append(int(found.table.column(0)[0].as_py()))

    threads = [
        threading.Thread(target=run, args=("first", first, 1)),
        threading.Thread(target=run, args=("second", second, 2)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {"first": [100] * 50, "second": [200] * 50}


def test_threads_that_share_a_session_get_their_own_rows(engine: DuckDBEngine) -> None:
    wrong: list[object] = []

    def run(number: int) -> None:
        for _ in range(25):
            found = values(engine, "SELECT $1 + 0", number)
            if found != [(number,)]:
                wrong.append(found)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_division_and_null_order_are_those_of_the_dialect(engine: DuckDBEngine) -> None:
    assert values(engine, "SELECT 7 / 2, 7 // 2, 1 / 0, 5 % 0, 1.0 / 0") == [
        (3.5, 3, None, None, None)
    ]
    some = "(VALUES (2), (NULL), (1)) AS v(a)"
    assert values(engine, f"SELECT a FROM {some} ORDER BY a") == [(1,), (2,), (None,)]
    assert values(engine, f"SELECT a FROM {some} ORDER BY a DESC") == [(None,), (2,), (1,)]


@pytest.mark.parametrize(
    ("sql", "error", "sqlstate"),
    [
        ("SELECT CAST('abc' AS INT)", InvalidValueError, "22018"),
        ("SELECT 9223372036854775807 + 1", ValueOutOfRangeError, "22003"),
        ("SELECT (SELECT a FROM (VALUES (1), (2)) AS v(a))", DataError, "21000"),
        ("SELECT regexp_matches('a', '(')", DataError, "2201B"),
        ("SELECT nosuch", ProgrammingError, "42804"),
        ("SELECT nosuch(1)", ProgrammingError, "42883"),
        ("SELECT FROM WHERE", ProgrammingError, "42601"),
    ],
)
def test_errors_are_ours_in_one_line_and_without_the_engines_words(
    engine: DuckDBEngine, sql: str, error: type[Error], sqlstate: str
) -> None:
    with pytest.raises(error) as caught:
        engine.execute(sql, {}, ())
    assert caught.value.sqlstate == sqlstate
    assert "\n" not in caught.value.message
    assert "Error:" not in caught.value.message
    assert "SET " not in caught.value.message


def test_a_running_query_can_be_interrupted_and_the_session_goes_on(engine: DuckDBEngine) -> None:
    started = threading.Event()
    caught: list[BaseException] = []

    def run() -> None:
        started.set()
        try:
            engine.execute(
                "SELECT count(*) FROM range(1000000) a, range(1000000) b"
                " WHERE a.range ^ b.range = 7",
                {},
                (),
            )
        except QueryCancelledError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    while thread.is_alive():
        engine.interrupt()
        thread.join(0.02)
    assert len(caught) == 1
    assert values(engine, "SELECT 1") == [(1,)]


def test_what_does_not_fit_into_memory_is_an_error_that_names_the_way_out(
    engine: DuckDBEngine,
) -> None:
    with pytest.raises(Error) as caught:
        engine.execute(
            "SELECT a.range FROM range(100000000) a ORDER BY hash(a.range) LIMIT 1 OFFSET 50000000",
            {},
            (),
        )
    assert caught.value.sqlstate == "53200"
    assert "memory_limit" in (caught.value.hint or "")


def test_a_closed_engine_says_so(duckdb: DuckDB, engine: DuckDBEngine) -> None:
    assert values(engine, "SELECT 1") == [(1,)]
    engine.close()
    engine.close()
    duckdb.close()
    with pytest.raises(InterfaceError, match="closed"):
        engine.execute("SELECT 1", {}, ())


IN_LIST = "b IN (2, 5, 3, 7, 6, 4, NULL, 1)"


@pytest.mark.parametrize("other", ["a >= a", "b IS NOT NULL", "a > 3 OR b IS NULL"])
@pytest.mark.parametrize("subquery", ["(SELECT 1)", "(SELECT count(*) FROM r)"])
@pytest.mark.parametrize("last", ["a + a > 2", "abs(b) IN (1, 2, 3)"])
def test_in_lists_with_null_stand_beside_scalar_subqueries(
    engine: DuckDBEngine, other: str, subquery: str, last: str
) -> None:
    numbers = [None if i % 5 == 0 else i % 9 for i in range(100)]
    relation = pa.table({"a": pa.array(range(100), pa.int32()), "b": pa.array(numbers, pa.int32())})
    sql = f"SELECT count(*) FROM r WHERE ({IN_LIST} OR {other}) AND a <> {subquery} AND {last}"
    (count,) = engine.execute(sql, {"r": relation}, ()).table.column(0).to_pylist()
    bare = f"SELECT count(*) FROM r WHERE ({IN_LIST} OR {other}) AND {last}"
    (most,) = engine.execute(bare, {"r": relation}, ()).table.column(0).to_pylist()
    assert most - 1 <= count <= most


def test_nothing_is_asked_of_the_connection_that_duckdb_itself_keeps() -> None:
    """Its functions without a connection open one that has no limits and outlives a fork badly."""
    used: set[str] = set()
    for path in Path(duckdb_engine.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(ast.Name("duckdb"), name):
                    used.add(name)
                case ast.ImportFrom(module="duckdb"):
                    used.update(alias.name for alias in node.names)
    assert {name for name in used if not isinstance(getattr(library, name), type)} == {"connect"}


def test_vectors_of_wide_rows_are_not_gathered_and_later_queries_gather_again(
    engine: DuckDBEngine,
) -> None:
    setting = "SELECT current_setting('enable_caching_operators')"
    wide = pa.table({"s": ["x" * 60_000] * 8})
    assert engine.execute(f"{setting} FROM t LIMIT 1", {"t": wide}, ()).table[0].to_pylist() == [
        False
    ]
    assert values(engine, setting) == [(True,)]
