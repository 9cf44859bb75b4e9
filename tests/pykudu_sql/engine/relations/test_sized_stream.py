"""What DuckDB makes of streams that tell their length."""

import subprocess
import sys
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa
import pytest

from pykudu_sql.engine.duckdb_engine import DuckDBEngine
from pykudu_sql.engine.duckdb_instance import DuckDB, EngineOptions
from pykudu_sql.engine.relations import sized_stream
from pykudu_sql.engine.relations.sized_stream import (
    PlainStream,
    SizedStream,
    reads_sizes,
    registered,
)
from pykudu_sql.storage.errors import Error

SIZE = 1 << 20
BATCHES = 50
BATCH_ROWS = 4096
OPTIONS = EngineOptions(threads=2, memory_limit=256 << 20, spill_directory=None)


class Numbers:
    """Rows (i, 10 i, 'v' and i) in batches; notes what is opened and how far it is read."""

    schema = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("c", pa.string())])

    def __init__(self, row_count: int = 7_000_000, fails_at: int = BATCHES) -> None:
        self.row_count = row_count
        self.row_bytes = 16.0
        self.opened: list[list[int]] = []
        self.read = 0
        self._fails_at = fails_at

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        self.opened.append(list(columns))
        for number in range(BATCHES):
            if number == self._fails_at:
                raise ValueError("block 7 is torn")
            self.read += 1
            rows = range(number * BATCH_ROWS, (number + 1) * BATCH_ROWS)
            cells = [list(rows), [10 * i for i in rows], [f"v{i}" for i in rows]]
            arrays = [pa.array(column) for column in cells]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema).select(list(columns))


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def test_the_installed_duckdb_reads_sizes() -> None:
    assert reads_sizes()


def test_the_plan_has_the_row_count(connection: duckdb.DuckDBPyConnection) -> None:
    connection.register("t", registered(Numbers(1_234_567), SIZE))
    plan = connection.execute("EXPLAIN SELECT sum(b) FROM t").fetchall()[0][1]
    assert "1,234,567 rows" in plan


def test_binding_opens_nothing(connection: duckdb.DuckDBPyConnection) -> None:
    rows = Numbers()
    connection.register("t", registered(rows, SIZE))
    relation = connection.sql("SELECT a, c FROM t WHERE b > 3 ORDER BY a")
    assert relation.columns == ["a", "c"]
    assert rows.opened == []


def test_only_the_columns_of_the_query_are_read(connection: duckdb.DuckDBPyConnection) -> None:
    rows = Numbers()
    connection.register("t", registered(rows, SIZE))
    assert connection.execute("SELECT max(c) FROM t WHERE a < 2").fetchall() == [("v1",)]
    assert [sorted(columns) for columns in rows.opened] == [[0, 2]]


@pytest.mark.parametrize("row_count", [0, 1, BATCHES * BATCH_ROWS, 1 << 40])
def test_answers_do_not_depend_on_the_row_count(
    connection: duckdb.DuckDBPyConnection, row_count: int
) -> None:
    connection.register("t", registered(Numbers(row_count), SIZE))
    total = BATCHES * BATCH_ROWS
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(total,)]
    rows = connection.execute("SELECT count(*), max(x.a) FROM t x JOIN t y ON x.b = y.a").fetchall()
    assert rows == [((total + 9) // 10, (total - 1) // 10)]


def test_each_mention_opens_a_stream_once(connection: duckdb.DuckDBPyConnection) -> None:
    rows = Numbers()
    connection.register("t", registered(rows, SIZE))
    connection.execute("SELECT count(*) FROM t x JOIN t y ON x.a = y.b").fetchall()
    assert sorted(rows.opened) == [[0], [1]]


def test_a_limit_ends_the_reading(connection: duckdb.DuckDBPyConnection) -> None:
    rows = Numbers()
    connection.register("t", registered(rows, SIZE))
    assert len(connection.execute("SELECT a, b FROM t LIMIT 5").fetchall()) == 5
    assert rows.read < BATCHES // 2


@pytest.mark.parametrize("sql", ["SELECT sum(a) FROM t", "SELECT a FROM t ORDER BY b DESC"])
def test_an_error_of_the_rows_is_one_of_ours_and_keeps_its_words(sql: str) -> None:
    opened = DuckDB(OPTIONS)
    engine = DuckDBEngine(opened)
    with pytest.raises(Error, match="block 7 is torn"):
        engine.execute(sql, {"t": Numbers(fails_at=7)}, [])
    assert engine.execute("SELECT 1 AS one", {}, []).table.to_pylist() == [{"one": 1}]
    engine.close()
    opened.close()


@pytest.mark.parametrize(
    "member", ["nbytes", "shape", "num_columns", "column", "to_pandas", "validate", "schema"]
)
def test_inherited_members_are_refused(member: str) -> None:
    with pytest.raises(TypeError, match="no rows of a table"):
        getattr(SizedStream(Numbers(), [0, 1, 2], SIZE), member)


def test_no_member_that_reads_a_table_is_inherited() -> None:
    stream = SizedStream(Numbers(), [0], SIZE)
    own = {"num_rows", "__len__", "select", "__arrow_c_stream__", "__pyx_vtable__"}
    for name in sorted(set(dir(pa.Table)) - set(dir(object)) - own):
        with pytest.raises(TypeError, match="no rows of a table"):
            getattr(stream, name)
    assert stream == stream
    assert stream != SizedStream(Numbers(), [0], SIZE)
    assert "SizedStream" in repr(stream)


def test_a_duckdb_that_reads_no_sizes_gets_plain_streams(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sized_stream, "reads_sizes", lambda: False)
    stream = registered(Numbers(), SIZE)
    assert isinstance(stream, PlainStream)
    connection.register("t", stream)
    sql = "SELECT count(*), max(x.c) FROM t x JOIN t y ON x.a = y.b WHERE y.a < 100"
    assert connection.execute(sql).fetchall() == [(100, "v990")]


@pytest.mark.parametrize("lost", ["select", "num_rows"])
def test_the_check_notices_a_duckdb_that_reads_otherwise(
    lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise TypeError(lost)

    monkeypatch.setattr(SizedStream, lost, property(fail))
    reads_sizes.cache_clear()
    assert not reads_sizes()
    monkeypatch.undo()
    reads_sizes.cache_clear()
    assert reads_sizes()


def test_to_try_a_stream_loads_no_pandas() -> None:
    program = (
        "import sys; from pykudu_sql.engine.relations.sized_stream import reads_sizes;"
        "assert reads_sizes(); assert 'pandas' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
