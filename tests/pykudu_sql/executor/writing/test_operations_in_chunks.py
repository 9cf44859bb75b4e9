"""UPSERT, and UPDATE and DELETE by key, of rows that come in chunks: as of one batch."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.storage.transaction import bulk_operations, filed_changes

ROWS = 240
OPERATIONS = ("upsert", "upsert_ignore", "insert_ignore", "update_ignore", "delete_ignore")
OPTIONS: dict[str, Any] = {"threads": 2, "durability": "off", "maintenance": False}
WHERE_NEW_ROWS_GO = {"rowsets": 0, "memory": 1 << 30}


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setattr(chunked_rows, "CHUNK_BYTES", 1024)
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True, **OPTIONS) as opened:
        opened.execute(
            "CREATE TABLE t (k BIGINT PRIMARY KEY, word STRING, n INT) "
            "PARTITION BY HASH (k) PARTITIONS 2"
        )
        yield opened


def reader(table: pa.Table) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(60))


def rows_of(connection: Connection, table: str = "t") -> list[Any]:
    return connection.execute(f"SELECT k, word, n FROM {table} ORDER BY k").fetchall()


def shuffled(rng: random.Random, operation: str) -> pa.Table:
    """Rows of which many have a key in common, some far apart."""
    keys = [rng.randrange(ROWS) for _ in range(ROWS)]
    columns: dict[str, list[Any]] = {"k": keys}
    if not operation.startswith("delete"):
        columns["word"] = [f"{operation} {number}" for number in range(ROWS)]
        columns["n"] = [rng.randrange(100) for _ in keys]
    return pa.table(columns)


def files_left(path: Path) -> list[str]:
    return [file.name for file in (path / "tmp").iterdir()]


@pytest.mark.parametrize("merged_rows", [0, 1 << 16], ids=["apart", "merged"])
@pytest.mark.parametrize("where", WHERE_NEW_ROWS_GO)
def test_operations_in_chunks_do_what_those_of_one_batch_do(
    connection: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    merged_rows: int,
) -> None:
    monkeypatch.setattr(bulk_operations, "LEAST_ROWS", WHERE_NEW_ROWS_GO[where])
    monkeypatch.setattr(filed_changes, "_MERGED_ROWS", merged_rows)
    connection.execute(
        "CREATE TABLE one (k BIGINT PRIMARY KEY, word STRING, n INT) "
        "PARTITION BY HASH (k) PARTITIONS 2"
    )
    rng = random.Random(7)
    for number in range(12):
        operation = rng.choice(OPERATIONS)
        rows = shuffled(rng, operation)
        if rng.random() < 0.3:
            connection.execute("FLUSH")
        in_transaction = rng.random() < 0.4
        if in_transaction:
            connection.execute("BEGIN")
            for name in ("t", "one"):
                connection.execute(f"UPDATE {name} SET n = n + 1 WHERE k < 50")
        connection.append("t", reader(rows), operation)
        connection.append("one", rows, operation)
        assert rows_of(connection) == rows_of(connection, "one"), (number, operation)
        if in_transaction:
            connection.execute(rng.choice(["COMMIT", "ROLLBACK"]))
        assert rows_of(connection) == rows_of(connection, "one"), (number, operation)
    found = rows_of(connection)
    assert 0 < len(found) < ROWS
    assert files_left(tmp_path / "my.db") == []
    connection.close()
    with pykudu_sql.connect(tmp_path / "my.db") as again:
        assert rows_of(again) == found


@pytest.mark.parametrize("begin", [False, True], ids=["alone", "in a transaction"])
def test_a_row_that_does_not_fit_in_a_late_chunk_leaves_nothing(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: bool
) -> None:
    monkeypatch.setattr(bulk_operations, "LEAST_ROWS", 0)
    old = pa.table({"k": range(0, ROWS, 2), "word": ["old"] * (ROWS // 2), "n": [0] * (ROWS // 2)})
    connection.append("t", old)
    connection.execute("FLUSH")
    before = rows_of(connection)
    words = pa.table(
        {"k": range(ROWS), "word": ["new"] * ROWS, "n": [*range(ROWS - 1), 1 << 40]},
    )
    if begin:
        connection.execute("BEGIN")
    with pytest.raises(pykudu_sql.DataError, match="1099511627776"):
        connection.append("t", reader(words), "upsert")
    with pytest.raises(pykudu_sql.IntegrityError, match="key not found"):
        connection.append("t", reader(pa.table({"k": range(0, 2 * ROWS, 2)})), "delete")
    assert rows_of(connection) == before
    if begin:
        connection.execute("COMMIT")
    assert rows_of(connection) == before
    assert files_left(tmp_path / "my.db") == []


def test_an_upsert_of_a_query_sees_none_of_its_own_rows(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_operations, "LEAST_ROWS", 0)
    connection.execute("SET scan_memory_bytes = 0")
    connection.execute("INSERT INTO t SELECT i, 'old', i FROM range(240) r(i)")
    connection.execute("FLUSH")
    done = connection.execute("UPSERT INTO t SELECT k + 1, 'moved', n FROM t")
    assert done.rowcount == ROWS
    expected = [(0, "old", 0), *((k, "moved", k - 1) for k in range(1, ROWS + 1))]
    assert rows_of(connection) == expected
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET n = -1 WHERE k = 0")
    connection.execute("UPSERT INTO t SELECT k + 1, 'again', n FROM t")
    connection.execute("COMMIT")
    assert rows_of(connection)[:3] == [(0, "old", -1), (1, "again", -1), (2, "again", 0)]


def test_an_upsert_in_chunks_loses_to_a_commit_that_came_first(connection: Connection) -> None:
    connection.append("t", pa.table({"k": range(ROWS), "word": ["old"] * ROWS, "n": [0] * ROWS}))
    connection.execute("FLUSH")
    rows = pa.table({"k": range(ROWS), "word": ["new"] * ROWS, "n": [1] * ROWS})
    with pykudu_sql.connect(connection.path, autocommit=True, **OPTIONS) as other:
        connection.execute("BEGIN")
        connection.append("t", reader(rows), "upsert")
        other.execute("UPDATE t SET word = 'first' WHERE k = 100")
        with pytest.raises(pykudu_sql.OperationalError) as caught:
            connection.execute("COMMIT")
        assert caught.value.sqlstate == "40001"
        assert other.execute("SELECT count(*) FROM t WHERE word = 'old'").fetchone() == (239,)
