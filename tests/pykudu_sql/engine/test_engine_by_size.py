"""Two DuckDBs behind one engine: which computes what, and what both must do alike."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing

import pyarrow as pa
import pytest

from pykudu_sql import Connection, connect
from pykudu_sql.engine.duckdb_engine import DuckDBEngine
from pykudu_sql.engine.duckdb_instance import DuckDB, EngineOptions
from pykudu_sql.engine.engine_by_size import SMALL_ROWS, EngineBySize, is_small
from pykudu_sql.storage.common.progress import Counter
from pykudu_sql.storage.errors import InterfaceError, QueryCancelledError

THREADS = "SELECT current_setting('threads') AS threads FROM t LIMIT 1"


class ThreeRows:
    """A stream of a table."""

    schema = pa.schema([("k", pa.int64())])
    row_count = 3
    row_bytes = 8.0

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        return iter(rows(3).select(columns).to_batches())


def rows(count: int) -> pa.Table:
    return pa.table({"k": pa.array(range(count), pa.int64())})


@pytest.fixture
def engine() -> Iterator[EngineBySize]:
    with (
        closing(DuckDB(EngineOptions(1, 0, None))) as small,
        closing(DuckDB(EngineOptions(2, 0, None))) as large,
    ):
        yield EngineBySize(DuckDBEngine(small), DuckDBEngine(large))


@pytest.mark.parametrize(("count", "threads"), [(SMALL_ROWS, 1), (SMALL_ROWS + 1, 2)])
def test_few_rows_are_computed_by_one_thread(
    engine: EngineBySize, count: int, threads: int
) -> None:
    relations = {"t": rows(count)}
    assert engine.execute(THREADS, relations, ()).table.to_pylist() == [{"threads": threads}]
    stream = engine.stream(THREADS, relations, (), 0, Counter("test"))
    assert [batch.to_pylist() for batch in stream.batches] == [[{"threads": threads}]]
    stream.close()


def test_rows_of_all_relations_count() -> None:
    half = rows(SMALL_ROWS // 2)
    assert is_small("SELECT 1 FROM a, b", {"a": half, "b": half})
    assert not is_small("SELECT 1 FROM a, b, c", {"a": half, "b": half, "c": rows(1)})


def test_few_rows_of_many_bytes_are_not_small() -> None:
    texts = pa.table({"s": ["x" * (1 << 20)] * 17})
    assert not is_small("SELECT upper(s) FROM t", {"t": texts})


def test_a_stream_is_not_small() -> None:
    assert not is_small("SELECT * FROM t", {"t": ThreeRows()})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(range) FROM range(1000000000)",
        "SELECT count(*) FROM Generate_Series(1, 1000000000)",
        "SELECT unnest([1, 2])",
        "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 9) FROM r",
    ],
)
def test_what_makes_rows_of_nothing_is_not_small(sql: str) -> None:
    assert not is_small(sql, {})
    assert is_small("SELECT 1 AS arrangement", {})


def test_a_query_of_either_engine_is_interrupted(engine: EngineBySize) -> None:
    many = rows(20_000)
    endless = "SELECT sum(a.k * b.k % 7) FROM t AS a, t AS b, t AS c WHERE a.k + b.k <> c.k"
    for relations in ({"t": many}, {"t": rows(SMALL_ROWS + 1)}):
        timer = threading.Timer(0.3, engine.interrupt)
        timer.start()
        with pytest.raises(QueryCancelledError):
            engine.execute(endless, relations, ())
        timer.join()


def test_closing_ends_the_streams_of_both(engine: EngineBySize) -> None:
    streams = [
        engine.stream("SELECT * FROM t", {"t": rows(count)}, (), 0, Counter("test"))
        for count in (SMALL_ROWS, SMALL_ROWS * 4)
    ]
    engine.close()
    engine.close()
    for stream in streams:
        assert not stream.is_all
        with pytest.raises(InterfaceError):
            stream.read()


def engine_memory(connection: Connection) -> int:
    row = connection.execute("SELECT used_bytes FROM sys.memory WHERE holder = 'engine'").fetchone()
    assert row is not None
    return int(row[0])


def test_a_database_counts_the_memory_of_both() -> None:
    with connect(":memory:", autocommit=True, threads=2) as connection:
        engine = connection._session.database.new_engine()
        taken = [0]
        for count in (SMALL_ROWS, SMALL_ROWS * 4):
            sql = "SELECT a.k, b.k FROM t AS a JOIN t AS b ON a.k = b.k + 1"
            stream = engine.stream(sql, {"t": rows(count)}, (), 0, Counter("test"))
            assert not stream.is_all
            taken.append(engine_memory(connection))
        engine.close()
    assert 0 < taken[1] < taken[2]


@pytest.mark.parametrize(("threads", "memory_limit"), [(1, "0"), (2, "512MB")])
def test_one_thread_or_little_memory_has_one_engine(threads: int, memory_limit: str) -> None:
    with connect(":memory:", threads=threads, memory_limit=memory_limit) as connection:
        assert isinstance(connection._session.database.new_engine(), DuckDBEngine)
