"""UPDATEs and DELETEs of rows in chunks: the same rows, counts and errors as of one batch."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.storage.transaction.transaction import Transaction

ROWS = 3000
STATEMENTS = [
    "UPDATE t SET n = n + 10",
    "UPDATE t SET n = n * 2, word = word || '!' WHERE k % 3 <> 1",
    "UPDATE t SET word = NULL WHERE n = 5",
    "UPDATE t SET n = (SELECT max(n) FROM t) - n",
    "UPDATE t SET n = o.n FROM o WHERE o.k = t.k",
    "DELETE FROM t WHERE k % 5 = 2",
    "DELETE FROM t USING o WHERE o.k = t.k AND o.n > 3",
    "DELETE FROM t",
]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as opened:
        for name in ("t", "o"):
            opened.execute(
                f"CREATE TABLE {name} (k BIGINT PRIMARY KEY, n INT NOT NULL, word STRING) "
                "PARTITION BY HASH (k) PARTITIONS 2"
            )
        opened.execute(f"INSERT INTO t SELECT i, i % 7, 'w' || i FROM range({ROWS}) r (i)")
        opened.execute("FLUSH t")
        opened.execute("INSERT INTO t VALUES (-1, 5, 'in memory')")
        opened.execute(f"INSERT INTO o SELECT i * 2, i % 5, '' FROM range({ROWS}) r (i)")
        yield opened


@pytest.fixture
def chunks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many chunks each statement took that took more than one."""
    taken: list[int] = []
    change = Transaction.change

    def counting(self: Transaction, table: Any, batches: Any) -> int:
        lengths: list[int] = []

        def counted() -> Iterator[Any]:
            for batch in batches:
                lengths.append(batch.length)
                yield batch

        done = change(self, table, counted())
        taken.append(len(lengths))
        return done

    monkeypatch.setattr(Transaction, "change", counting)
    return taken


def rows_of(connection: Connection) -> list[Any]:
    return connection.execute("SELECT k, n, word FROM t ORDER BY k").fetchall()


@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_in_chunks_does_what_it_does_in_one_batch(
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    chunks: list[int],
    statement: str,
    in_transaction: bool,
) -> None:
    connection.execute("BEGIN")
    count = connection.execute(statement).rowcount
    expected = rows_of(connection)
    connection.execute("ROLLBACK")
    assert chunks == []
    monkeypatch.setattr(chunked_rows, "CHANGE_BYTES", 100)
    if in_transaction:
        connection.execute("BEGIN")
    assert connection.execute(statement).rowcount == count
    assert rows_of(connection) == expected
    if in_transaction:
        connection.execute("COMMIT")
    assert rows_of(connection) == expected
    assert len(chunks) == 1
    connection.execute("OPTIMIZE t FULL")
    assert rows_of(connection) == expected


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        ("UPDATE t SET word = repeat('c', 5000)", []),
        ("UPDATE t SET word = ?", ["c" * 5000]),
        (
            "UPDATE t SET word = :word, n = o.n + :n FROM o WHERE o.k = t.k",
            {"word": "c" * 5000, "n": 7},
        ),
    ],
)
def test_a_long_constant_counts_for_each_row_of_a_chunk(
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    chunks: list[int],
    statement: str,
    parameters: Any,
) -> None:
    connection.execute("BEGIN")
    count = connection.execute(statement, parameters).rowcount
    expected = rows_of(connection)
    connection.execute("ROLLBACK")
    assert {len(word) for _, _, word in expected if word[:2] == "cc"} == {5000}
    chunks.clear()
    monkeypatch.setattr(chunked_rows, "CHANGE_BYTES", 1 << 20)
    assert connection.execute(statement, parameters).rowcount == count
    assert rows_of(connection) == expected
    assert count * 5000 / (2 << 20) < chunks[0] < count * 5000 / (1 << 18)


@pytest.mark.parametrize(
    ("column", "value", "sqlstate"),
    [("word", "c" * 70_000, "22001"), ("word", [1], "07006"), ("needed", None, "23502")],
)
def test_a_constant_that_does_not_fit_changes_nothing(
    connection: Connection, column: str, value: Any, sqlstate: str
) -> None:
    connection.execute("ALTER TABLE t ADD COLUMN needed STRING NOT NULL DEFAULT 'd'")
    before = rows_of(connection)
    with pytest.raises(pykudu_sql.Error) as caught:
        connection.execute(f"UPDATE t SET n = 1, {column} = ?", [value])
    assert caught.value.sqlstate == sqlstate
    assert rows_of(connection) == before


def test_a_value_that_does_not_fit_ends_the_statement_and_nothing_is_changed(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(chunked_rows, "CHANGE_BYTES", 100)
    before = rows_of(connection)
    with pytest.raises(pykudu_sql.DataError):
        connection.execute("UPDATE t SET n = CASE WHEN k = 2999 THEN 1 << 40 ELSE 1 END")
    assert rows_of(connection) == before
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET n = 1")
    with pytest.raises(pykudu_sql.IntegrityError):
        connection.execute("UPDATE t SET n = CASE WHEN k = 2999 THEN NULL ELSE 2 END")
    connection.execute("COMMIT")
    assert {n for _, n, _ in rows_of(connection)} == {1}
    assert not list((tmp_path / "my.db" / "tmp").iterdir())


def test_of_two_transactions_that_change_a_row_the_second_is_refused(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(chunked_rows, "CHANGE_BYTES", 100)
    with pykudu_sql.connect(tmp_path / "my.db") as other:
        other.execute("UPDATE t SET n = 1")
        connection.execute("UPDATE t SET n = 2 WHERE k = 17")
        with pytest.raises(pykudu_sql.OperationalError) as error:
            other.commit()
    assert error.value.sqlstate == "40001"
    assert connection.execute("SELECT n FROM t WHERE k = 17").fetchall() == [(2,)]
    assert connection.execute("SELECT count(*) FROM t WHERE n = 1").fetchall() != [(ROWS + 1,)]


def test_earlier_moments_and_the_changes_since_show_a_statement_in_chunks_as_one_commit(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunked_rows, "CHANGE_BYTES", 100)
    connection.execute("CREATE SNAPSHOT before")
    before = rows_of(connection)
    connection.execute("UPDATE t SET n = 100 WHERE k >= 0")
    connection.execute("DELETE FROM t WHERE k >= 1000")
    earlier = connection.execute("SELECT k, n, word FROM t AS OF SNAPSHOT before ORDER BY k")
    assert earlier.fetchall() == before
    assert connection.execute("SELECT count(*), max(n) FROM t").fetchall() == [(1001, 100)]


@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("statement", ["UPDATE t SET n = 5", "DELETE FROM t WHERE k >= 0"])
def test_many_rows_in_memory_get_files_before_a_statement_in_chunks(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, statement: str, in_transaction: bool
) -> None:
    connection.execute("UPSERT INTO t SELECT k + 5000, n, word FROM t")
    connection.execute("BEGIN")
    count = connection.execute(statement).rowcount
    expected = rows_of(connection)
    connection.execute("ROLLBACK")
    monkeypatch.setattr(chunked_rows, "CHANGE_BYTES", 100)
    if in_transaction:
        connection.execute("BEGIN")
        connection.execute("UPDATE t SET word = 'own' WHERE k = 5001")
    assert connection.execute(statement).rowcount == count
    if in_transaction:
        connection.execute("COMMIT")
    changed = [row for row in rows_of(connection) if row[0] != 5001]
    assert changed == [row for row in expected if row[0] != 5001]
    kinds = "SELECT sum(memory_deltas), max(redo_records) > 0 FROM sys.rowsets"
    in_stores, in_files = connection.execute(kinds).fetchall()[0]
    # A transaction that wrote before the flush knows the rows where they were, in memory.
    assert in_files and (in_transaction or in_stores <= 1)
