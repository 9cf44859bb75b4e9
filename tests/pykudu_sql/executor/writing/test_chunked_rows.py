"""INSERTs of rows that come in chunks: the same rows, counts and errors as of one batch."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.error_boundary import ErrorBoundary
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.executor.writing.chunked_rows import chunk_bytes, reader_rows
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.memory_budget import MemoryBudget, MemoryShares
from pykudu_sql.storage.common.rows.row_operation import RowOperations
from pykudu_sql.storage.transaction.transaction import Transaction

ROWS = 2000
BATCH = 100


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setattr(chunked_rows, "CHUNK_BYTES", 4096)
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, word STRING DEFAULT 'new', n INT)")
        yield opened


def reader(
    table: pa.Table, read: Callable[[int], None] = lambda place: None
) -> pa.RecordBatchReader:
    """Rows in small batches; `read` is told before each."""

    def batches() -> Iterator[pa.RecordBatch]:
        for place, batch in enumerate(table.to_batches(BATCH)):
            read(place)
            yield batch

    return pa.RecordBatchReader.from_batches(table.schema, batches())


def numbered(*keys: int | None) -> pa.Table:
    return pa.table({"k": pa.array(keys, pa.int64()), "n": [(key or 0) % 7 for key in keys]})


SHUFFLED = [key * 7919 % ROWS for key in range(ROWS)]


def rows_of(connection: Connection) -> list[Any]:
    return connection.execute("SELECT k, word, n FROM t ORDER BY k").fetchall()


def test_a_stream_is_cut_into_chunks_that_are_read_when_they_are_taken() -> None:
    told: list[int] = []
    error_boundary = ErrorBoundary("", tuple)
    assert reader_rows(reader(numbered(*range(ROWS)), told.append), 1 << 20, error_boundary).is_all
    told.clear()
    rows = reader_rows(reader(numbered(*range(ROWS)), told.append), 4096, error_boundary)
    assert (rows.is_all, len(told)) == (False, 3)
    rows.chunk_bytes = 2048
    chunks = rows.chunks()
    assert next(chunks).num_rows == 300
    assert len(told) == 3
    rest = list(chunks)
    assert [chunk.num_rows for chunk in rest] == [200] * 8 + [100]
    assert pa.concat_tables(rest).column("k").to_pylist() == list(range(300, ROWS))
    with pytest.raises(pykudu_sql.OperationalError, match="cannot be read again"):
        next(rows.chunks())


def test_a_chunk_takes_a_quarter_of_what_is_left_for_statements_at_most() -> None:
    budget = MemoryBudget(MemoryShares(0, 0, 0, 0, statements=2 << 30))
    assert chunk_bytes(budget) == 256 << 20
    others = pa.table({})
    budget.hold(others, (2 << 30) - (64 << 20))
    assert chunk_bytes(budget) == 16 << 20
    budget.hold(others, 63 << 20)
    assert chunk_bytes(budget) == 1 << 20
    del others
    assert chunk_bytes(budget) == 256 << 20


@pytest.mark.parametrize("mode", ["fail", "collect"])
def test_rows_of_a_reader_are_inserted_with_their_defaults(
    connection: Connection, mode: str
) -> None:
    connection.execute(f"SET row_errors = '{mode}'")
    assert connection.append("t", reader(numbered(*SHUFFLED))) == ROWS
    assert rows_of(connection) == [(key, "new", key % 7) for key in range(ROWS)]


@pytest.mark.parametrize("operation", ["upsert", "insert_ignore", "upsert_ignore"])
def test_other_operations_take_a_reader_in_chunks(connection: Connection, operation: str) -> None:
    # The last row has the key of one in an earlier chunk, and is counted again where it changes it.
    count = ROWS if operation == "insert_ignore" else ROWS + 1
    assert connection.append("t", reader(numbered(*SHUFFLED, 5)), operation) == count
    assert rows_of(connection) == [(key, "new", key % 7) for key in range(ROWS)]


FAULTS = {
    "there": (numbered(*SHUFFLED, 9999), r"already present .*\(k\) = \(9999\)", "23505"),
    "twice": (numbered(*SHUFFLED, 5), r"twice in one INSERT .*\(k\) = \(5\)", "23505"),
    "null": (numbered(*SHUFFLED, None), "NULL values not allowed", "23502"),
    "range": (
        pa.table({"k": [*SHUFFLED, 10_000], "n": pa.array([*SHUFFLED, 1 << 40], pa.int64())}),
        "1099511627776",
        "22003",
    ),
}


@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_row_that_does_not_fit_is_named_and_nothing_is_inserted(
    connection: Connection, tmp_path: Path, fault: str, in_transaction: bool
) -> None:
    data, message, sqlstate = FAULTS[fault]
    connection.execute("INSERT INTO t VALUES (9999, 'old', 1)")
    if in_transaction:
        connection.execute("BEGIN")
    with pytest.raises(pykudu_sql.Error, match=message) as error:
        connection.append("t", reader(data))
    assert error.value.sqlstate == sqlstate
    assert rows_of(connection) == [(9999, "old", 1)]
    assert not list((tmp_path / "my.db" / "tmp").glob("*.base"))


@pytest.mark.parametrize("fault", FAULTS)
def test_where_rows_are_collected_those_that_do_not_fit_are_reported_by_their_place(
    connection: Connection, fault: str
) -> None:
    data, _, sqlstate = FAULTS[fault]
    connection.execute("INSERT INTO t VALUES (9999, 'old', 1)")
    connection.execute("SET row_errors = 'collect'")
    assert connection.append("t", reader(data)) == ROWS
    errors = connection.execute("SHOW ROW ERRORS").fetchall()
    assert len(errors) == 1
    assert errors[0][0] == ROWS
    assert sqlstate in errors[0]
    assert len(rows_of(connection)) == ROWS + 1


@pytest.mark.parametrize("mode", ["fail", "collect"])
@pytest.mark.parametrize("failing", [0, 12])
@pytest.mark.parametrize(
    "raised", [ValueError("gone"), FileNotFoundError(2, "gone"), KeyboardInterrupt(), EOFError()]
)
def test_what_the_reader_raises_comes_back_and_nothing_is_inserted(
    connection: Connection, raised: BaseException, failing: int, mode: str
) -> None:
    def read(place: int) -> None:
        if place == failing:
            raise raised

    connection.execute(f"SET row_errors = '{mode}'")
    with pytest.raises(type(raised)) as caught:
        connection.append("t", reader(numbered(*SHUFFLED), read))
    assert caught.value is raised
    assert rows_of(connection) == []
    assert connection.append("t", reader(numbered(*SHUFFLED))) == ROWS


def test_a_reader_cannot_be_read_again_after_a_race_is_lost(
    connection: Connection, tmp_path: Path
) -> None:
    def read(place: int) -> None:
        if place == 12:
            with pykudu_sql.connect(connection.path, autocommit=True) as other:
                other.execute("INSERT INTO t (k) VALUES (77)")

    with pytest.raises(pykudu_sql.OperationalError, match="cannot be read again") as error:
        connection.append("t", reader(numbered(*SHUFFLED), read))
    assert error.value.sqlstate == "40001"
    assert rows_of(connection) == [(77, "new", None)]


def test_the_rows_of_a_query_of_the_same_session_can_be_appended_as_they_are_fetched(
    connection: Connection,
) -> None:
    connection.append("t", numbered(*SHUFFLED))
    connection.execute("CREATE TABLE u (k BIGINT PRIMARY KEY, n INT)")
    connection.execute("SET result_memory_bytes = 1024")
    cursor = connection.execute("SELECT k, n FROM t")
    assert connection.append("u", cursor) == ROWS
    assert connection.execute("SELECT count(*), sum(k) FROM u").fetchall() == [
        (ROWS, ROWS * (ROWS - 1) // 2)
    ]


def test_a_load_is_cancelled_between_two_chunks(connection: Connection) -> None:
    def read(place: int) -> None:
        if place == 12:
            connection.interrupt()

    with pytest.raises(pykudu_sql.OperationalError, match="interrupted") as error:
        connection.append("t", reader(numbered(*SHUFFLED), read))
    assert error.value.sqlstate == "57014"
    assert rows_of(connection) == []


QUERIES = {
    "generated": "SELECT i AS k, i % 7 AS n FROM range(2000) AS r(i)",
    "scanned": "SELECT k + 0 AS k, n FROM source",
    "joined": "SELECT a.k, b.n FROM source a JOIN source b ON a.k = b.k",
    "united": "SELECT k, n FROM source WHERE k < 9 UNION ALL SELECT k, n FROM source WHERE k >= 9",
}


@pytest.fixture
def source(connection: Connection) -> None:
    """A table of many rows, whose scans are streams."""
    connection.execute("CREATE TABLE source (k BIGINT PRIMARY KEY, n INT)")
    connection.append("source", numbered(*SHUFFLED))
    connection.execute("SET scan_memory_bytes = 1024")


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_rows_of_a_query_are_inserted_as_they_are_computed(
    connection: Connection, query: str, in_transaction: bool
) -> None:
    if in_transaction:
        connection.execute("BEGIN")
    cursor = connection.execute(f"INSERT INTO t (k, n) {query}")
    assert cursor.rowcount == ROWS
    if in_transaction:
        connection.execute("COMMIT")
    assert rows_of(connection) == [(key, "new", key % 7) for key in range(ROWS)]


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_table_is_made_of_a_query_while_it_is_computed(
    connection: Connection, query: str
) -> None:
    connection.execute(f"CREATE TABLE made PRIMARY KEY (k) AS {query}")
    rows = connection.execute("SELECT k, n FROM made ORDER BY k").fetchall()
    assert rows == [(key, key % 7) for key in range(ROWS)]


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("mode", ["fail", "collect"])
def test_a_query_of_the_table_that_it_fills_sees_none_of_the_new_rows(
    connection: Connection, mode: str
) -> None:
    connection.execute(f"SET row_errors = '{mode}'")
    sql = (
        "INSERT INTO source SELECT k + 2000, n FROM source UNION ALL SELECT k + 4000, n FROM source"
    )
    assert connection.execute(sql).rowcount == 2 * ROWS
    assert connection.execute("SELECT count(*), max(k) FROM source").fetchall() == [
        (3 * ROWS, 3 * ROWS - 1)
    ]


FAILING = {
    "twice": ("SELECT k % 1999 AS k, n FROM source", "twice in one INSERT", "23505"),
    "there": ("SELECT k + 8000 AS k, n FROM source", r"already present .*\(9999\)", "23505"),
    "null": ("SELECT nullif(k, 1990) AS k, n FROM source", "NULL values not allowed", "23502"),
    "cast": (
        "SELECT k, CASE k WHEN 1990 THEN CAST('x' || k AS INT) ELSE n END AS n FROM source",
        "x1990",
        "22018",
    ),
}


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("name", FAILING)
def test_a_query_that_fails_or_whose_rows_do_not_fit_inserts_nothing(
    connection: Connection, tmp_path: Path, name: str, in_transaction: bool
) -> None:
    query, message, sqlstate = FAILING[name]
    connection.execute("INSERT INTO t VALUES (9999, 'old', 1)")
    if in_transaction:
        connection.execute("BEGIN")
    with pytest.raises(pykudu_sql.Error, match=message) as error:
        connection.execute(f"INSERT INTO t (k, n) {query}")
    assert error.value.sqlstate == sqlstate
    assert rows_of(connection) == [(9999, "old", 1)]
    assert not list((tmp_path / "my.db" / "tmp").glob("*.base"))


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("name", [name for name in FAILING if name != "there"])
def test_a_table_whose_query_fails_or_whose_rows_do_not_fit_is_not_made(
    connection: Connection, name: str
) -> None:
    query, message, sqlstate = FAILING[name]
    with pytest.raises(pykudu_sql.Error, match=message) as error:
        connection.execute(f"CREATE TABLE made PRIMARY KEY (k) AS {query}")
    assert error.value.sqlstate == sqlstate
    assert connection.list_tables() == ["source", "t"]


@pytest.mark.usefixtures("source")
def test_a_query_that_lost_a_race_is_computed_again(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert, attempts = Transaction.insert, 0

    def beside(self: Transaction, table: TableInfo, batches: Iterable[RowOperations]) -> int:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            with pykudu_sql.connect(connection.path, autocommit=True) as other:
                other.execute("INSERT INTO t (k) VALUES (77)")
                other.execute("DELETE FROM source WHERE k = 77")
        return insert(self, table, batches)

    monkeypatch.setattr(Transaction, "insert", beside)
    cursor = connection.execute("INSERT INTO t (k, n) SELECT k, n FROM source")
    assert (cursor.rowcount, attempts) == (ROWS - 1, 2)
    assert len(rows_of(connection)) == ROWS


def test_rows_beyond_the_memory_limit_are_inserted(tmp_path: Path) -> None:
    with pykudu_sql.connect(tmp_path / "my.db", memory_limit="32MB", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a STRING)")
        query = "SELECT i, repeat('a', 1000) FROM range(100000) r(i)"
        assert opened.execute(f"INSERT INTO t {query}").rowcount == 100_000
        assert opened.execute("SELECT count(*), sum(length(a)) FROM t").fetchall() == [
            (100_000, 100_000_000)
        ]


def test_a_table_made_from_a_query_is_nowhere_until_all_its_rows_are_there(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.append("t", numbered(*range(ROWS)))
    connection.execute("FLUSH")
    seen: list[list[Any]] = []
    insert = Transaction.insert

    def watched(self: Transaction, table: TableInfo, batches: Iterable[RowOperations]) -> int:
        def watching() -> Iterator[RowOperations]:
            for batch in batches:
                with pykudu_sql.connect(tmp_path / "my.db") as other:
                    seen.append(other.execute("SHOW TABLES").fetchall())
                yield batch

        return insert(self, table, watching())

    monkeypatch.setattr(Transaction, "insert", watched)
    monkeypatch.setattr(chunked_rows, "CHUNK_BYTES", 256)
    connection.execute("CREATE TABLE c PRIMARY KEY (k) AS SELECT k, word || 'x' AS w FROM t")
    assert len(seen) >= 1
    assert {len(tables) for tables in seen} == {1}
    assert connection.execute("SELECT count(*) FROM c").fetchone() == (ROWS,)
