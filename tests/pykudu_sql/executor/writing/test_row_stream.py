"""INSERTs of rows that come in chunks: the same rows, counts and errors as of one batch."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import row_stream
from pykudu_sql.executor.writing.row_stream import stream_of

ROWS = 2000
BATCH = 100


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setattr(row_stream, "CHUNK_BYTES", 4096)
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
    stream = stream_of(reader(numbered(*range(ROWS)), told.append))
    assert stream.is_all
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_stream, "CHUNK_BYTES", 4096)
        told.clear()
        stream = stream_of(reader(numbered(*range(ROWS)), told.append))
        assert (stream.is_all, len(told)) == (False, 3)
        chunks = stream.chunks()
        assert next(chunks).num_rows == 300
        assert len(told) == 3
        rest = list(chunks)
    assert [chunk.num_rows for chunk in rest] == [300] * 5 + [200]
    assert pa.concat_tables(rest).column("k").to_pylist() == list(range(300, ROWS))


@pytest.mark.parametrize("mode", ["fail", "collect"])
def test_rows_of_a_reader_are_inserted_with_their_defaults(
    connection: Connection, mode: str
) -> None:
    connection.execute(f"SET row_errors = '{mode}'")
    assert connection.append("t", reader(numbered(*SHUFFLED))) == ROWS
    assert rows_of(connection) == [(key, "new", key % 7) for key in range(ROWS)]


@pytest.mark.parametrize("operation", ["upsert", "insert_ignore", "upsert_ignore"])
def test_other_operations_take_a_reader_as_one_batch(
    connection: Connection, operation: str
) -> None:
    assert connection.append("t", reader(numbered(*SHUFFLED, 5)), operation) == ROWS
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


def test_what_the_reader_raises_ends_the_statement_and_nothing_is_inserted(
    connection: Connection,
) -> None:
    def read(place: int) -> None:
        if place == 12:
            raise ValueError("the source is gone")

    with pytest.raises(pykudu_sql.Error) as error:
        connection.append("t", reader(numbered(*SHUFFLED), read))
    assert "the source is gone" in str(error.value.__cause__)
    assert rows_of(connection) == []
    assert connection.append("t", reader(numbered(*SHUFFLED))) == ROWS


def test_a_reader_cannot_be_read_again_after_a_race_is_lost(
    connection: Connection, tmp_path: Path
) -> None:
    def read(place: int) -> None:
        if place == 12:
            with pykudu_sql.connect(connection.path, autocommit=True) as other:
                other.execute("INSERT INTO t (k) VALUES (77)")

    with pytest.raises(pykudu_sql.OperationalError, match="append them again") as error:
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
