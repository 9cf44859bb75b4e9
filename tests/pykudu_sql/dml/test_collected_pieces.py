"""Rows that are collected in pieces: the report, the counts and the rows of one batch."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowResults
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.properties.examples import examples

WIDE = "a" * 1000
SMALL, WHOLE = 4096, chunked_rows.CHUNK_BYTES
Row = tuple[object, ...]
Write = Callable[[Connection, Sequence[Row]], int]
DDL = """
    CREATE TABLE t (
      k INT PRIMARY KEY, x STRING NOT NULL, n INT NOT NULL DEFAULT 0 CHECK (n < 90),
      i INT IMMUTABLE
    )
"""


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setattr(chunked_rows, "CHUNK_BYTES", SMALL)
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as opened:
        opened.execute(DDL)
        opened.execute("SET row_errors = 'collect'")
        yield opened


def many(sql: str) -> Write:
    def write(connection: Connection, rows: Sequence[Row]) -> int:
        return connection.executemany(sql, rows).rowcount

    return write


def columns_of(rows: Sequence[Row]) -> Iterator[list[object]]:
    return map(list, zip(*rows, strict=True))


def appended(operation: str) -> Write:
    def write(connection: Connection, rows: Sequence[Row]) -> int:
        k, x, n, i = columns_of(rows)
        numbers = pa.array([value if isinstance(value, int) else None for value in n], pa.int64())
        return connection.append("t", {"k": k, "x": x, "n": numbers, "i": i}, operation=operation)

    return write


def streamed(operation: str) -> Write:
    def write(connection: Connection, rows: Sequence[Row]) -> int:
        columns = [[None if value is None else str(value) for value in c] for c in columns_of(rows)]
        table = pa.table(dict(zip("kxni", columns, strict=True)))
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))
        return connection.append("t", reader, operation=operation)

    return write


WRITES: dict[str, Write] = {
    "insert": many("INSERT INTO t VALUES (?, ?, ?, ?)"),
    "two rows": many("INSERT INTO t VALUES (?, ?, ?, ?), (1000, 'y', 1, 1)"),
    "insert or ignore": many("INSERT OR IGNORE INTO t VALUES (?, ?, ?, ?)"),
    "upsert": many("UPSERT INTO t VALUES (?, ?, ?, ?)"),
    "update": lambda c, rows: many("UPDATE t SET x = ?, n = ? WHERE k = ?")(
        c, [(x, n, k) for k, x, n, _ in rows]
    ),
    "delete": lambda c, rows: many("DELETE FROM t WHERE k = ?")(c, [(k,) for k, *_ in rows]),
    **{f"append {kind}": appended(kind) for kind in ("insert", "upsert_ignore", "update")},
    **{f"stream {kind}": streamed(kind) for kind in ("insert", "upsert", "update_ignore")},
}
keys = st.integers(0, 30) | st.sampled_from([None, 1 << 40, "7"])
rows = st.tuples(
    keys,
    st.sampled_from([WIDE, WIDE * 2, "z", None]),
    st.integers(0, 100) | st.none(),
    st.integers(0, 9) | st.none(),
)


def report(
    connection: Connection, chunk: int, write: Write, batches: Sequence[Sequence[Row]]
) -> list[object]:
    """What a connection answers to batches, in pieces of at most so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunked_rows, "CHUNK_BYTES", chunk)
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(DDL)
        connection.execute("SET row_errors = 'collect'")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?)", [(k, "old", 1, 1) for k in range(0, 30, 3)]
        )
        answers: list[object] = []
        for batch in batches:
            answers += [write(connection, batch), connection.row_errors]
        connection.execute("FLUSH")
        answers.append(connection.execute("SELECT * FROM t ORDER BY k").fetchall())
        return answers


@pytest.mark.parametrize("name", WRITES)
@settings(max_examples=examples(4), deadline=None)
@given(batches=st.lists(st.lists(rows, min_size=1, max_size=40), min_size=1, max_size=2))
def test_pieces_answer_as_one_batch_does(name: str, batches: list[list[Row]]) -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        whole = report(connection, WHOLE, WRITES[name], batches)
        assert report(connection, SMALL, WRITES[name], batches) == whole


def test_rows_are_numbered_over_all_pieces(connection: Connection) -> None:
    given_rows: list[Row] = [(place, WIDE, 1, None) for place in range(40)]
    given_rows[21], given_rows[33], given_rows[38] = (
        (21, WIDE, "one", None),
        (2, WIDE, 1, None),
        (38, WIDE, 95, None),
    )
    cursor = connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", given_rows)
    assert cursor.rowcount == 37
    assert [(e.position, e.key, e.sqlstate) for e in cursor.row_errors] == [
        (21, "parameters 22", "22018"), (33, "(k) = (2)", "23505"), (38, "(k) = (38)", "23514"),
    ]  # fmt: skip


def test_a_key_that_no_row_can_have_moves_no_other_position(connection: Connection) -> None:
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", [(place, "a", 1, None) for place in range(4)]
    )
    sets = [("b", 1 << 40), ("b", 0), (None, 1), ("b", 1 << 41), (None, 2)]
    cursor = connection.executemany("UPDATE t SET x = ? WHERE k = ?", sets)
    assert cursor.rowcount == 1
    assert [e.position for e in cursor.row_errors] == [2, 4]


@pytest.mark.parametrize("name", ["insert", "append insert", "stream insert"])
def test_no_more_than_a_piece_is_converted_at_once(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    converted: list[int] = []
    collect = Transaction.collect_batches

    def noting(self, table, batches) -> Iterator[RowResults]:  # type: ignore[no-untyped-def]
        def noted(batch: RowOperations) -> RowOperations:
            assert batch.kind is RowOpKind.INSERT
            converted.append(batch.length)
            return batch

        return collect(self, table, map(noted, batches))

    monkeypatch.setattr(Transaction, "collect_batches", noting)
    given_rows = [(place, WIDE, 1, None) for place in range(40)]
    assert WRITES[name](connection, given_rows) == sum(converted) == 40
    assert max(converted) <= 9


def test_an_error_of_the_whole_statement_undoes_every_piece(connection: Connection) -> None:
    given_rows = [{"k": place, "x": WIDE} for place in range(40)]
    sql = "INSERT INTO t (k, x) VALUES (:k, :x)"
    with pytest.raises(pykudu_sql.Error) as raised:
        connection.executemany(sql, [*given_rows, {"k": 41, "y": WIDE}, {"k": 42, "x": WIDE * 9}])
    assert raised.value.sqlstate == "07001"
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(0,)]
    connection.execute("BEGIN")
    connection.executemany(sql, given_rows)
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(40,)]
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(0,)]


def test_all_pieces_are_one_commit(connection: Connection) -> None:
    begun = connection.execute("SELECT now()").fetchall()[0][0]
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", [(place, WIDE, 1, None) for place in range(40)]
    )
    commits = connection.execute(
        "SELECT count(*), count(DISTINCT _commit_timestamp) FROM CHANGES(t, ?)", (begun,)
    )
    assert commits.fetchall() == [(40, 1)]
