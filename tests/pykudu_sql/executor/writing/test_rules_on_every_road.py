"""A rule on rows holds whichever statement writes them: one entry guards every road."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.errors import DataError
from pykudu_sql.storage.ingest import validation
from pykudu_sql.storage.ingest.bulk_writer import BULK_ROWS
from pykudu_sql.storage.ingest.row_batch import RowBatch
from pykudu_sql.storage.ingest.validation import Precheck, RowRule, Violation

NOTE = 1
BAD = "bad"


def check_note(batch: RowBatch) -> Violation | None:
    if NOTE not in batch.operations.columns:
        return None
    notes = plain(batch.operations.columns[NOTE])
    mask = pc.fill_null(pc.equal(notes, BAD), False).to_numpy(zero_copy_only=False)
    return Violation(mask, lambda place: DataError("a bad note"))


def precheck_note(table: TableInfo) -> Precheck:
    return lambda cells: cells.get(NOTE) != BAD


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pykudu_sql.Connection]:
    rule = RowRule(check_note, precheck_note)
    monkeypatch.setattr(validation, "ROW_RULES", (*validation.ROW_RULES, rule))
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as opened:
        cursor = opened.cursor()
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, note STRING, n INT)")
        cursor.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
        yield opened


WRITES = {
    "insert": "INSERT INTO t VALUES (?, 'bad', 0)",
    "insert_ignore": "INSERT OR IGNORE INTO t VALUES (1 + ?, 'bad', 0)",
    "insert_rows": "INSERT INTO t VALUES (8, 'good', 0), (?, 'bad', 0)",
    "insert_query": "INSERT INTO t SELECT ? + id, 'bad', 0 FROM t",
    "insert_returning": "INSERT INTO t VALUES (?, 'bad', 0) RETURNING id",
    "upsert": "UPSERT INTO t VALUES (?, 'bad', 0)",
    "upsert_columns": "UPSERT INTO t (id, note) VALUES (? - 8, 'bad')",
    "update_key": "UPDATE t SET note = 'bad' WHERE id = ? - 8",
    "update_scan": "UPDATE t SET note = 'bad' WHERE n < ?",
    "update_from": "UPDATE t SET note = s.v FROM (SELECT ? - 8 i, 'bad' v) s WHERE t.id = s.i",
    "update_returning": "UPDATE t SET note = 'bad' WHERE n < ? RETURNING id",
    "merge_update": "MERGE INTO t USING (SELECT ? - 8 i) s ON t.id = s.i "
    "WHEN MATCHED THEN UPDATE SET note = 'bad'",
    "merge_insert": "MERGE INTO t USING (SELECT ? i) s ON t.id = s.i "
    "WHEN NOT MATCHED THEN INSERT VALUES (s.i, 'bad', 0)",
    "conflict": "INSERT INTO t VALUES (? - 8, 'x', 0) ON CONFLICT (id) DO UPDATE SET note = 'bad'",
}


def rows_of(connection: pykudu_sql.Connection) -> list[Any]:
    return connection.execute("SELECT id, note, n FROM t ORDER BY id").fetchall()


UNCHANGED = [(1, "a", 1), (2, "b", 2)]


@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("sql", WRITES.values(), ids=WRITES)
def test_a_statement_with_a_row_that_breaks_a_rule_changes_nothing(
    connection: pykudu_sql.Connection, sql: str, in_transaction: bool
) -> None:
    cursor = connection.cursor()
    if in_transaction:
        cursor.execute("BEGIN")
    with pytest.raises(pykudu_sql.DataError, match="a bad note"):
        cursor.execute(sql, (9,))
    assert rows_of(connection) == UNCHANGED


@pytest.mark.parametrize("name", [n for n in WRITES if "returning" not in n])
def test_where_rows_are_collected_just_those_that_break_a_rule_are_left_out(
    connection: pykudu_sql.Connection, name: str
) -> None:
    cursor = connection.cursor()
    cursor.execute("SET row_errors = 'collect'")
    cursor.execute(WRITES[name], (9,))
    assert {error.message for error in cursor.row_errors} == {"a bad note"}
    assert rows_of(connection) == UNCHANGED + [(8, "good", 0)] * (name == "insert_rows")


def test_many_rows_at_once_are_held_to_it(connection: pykudu_sql.Connection) -> None:
    cursor = connection.cursor()
    with pytest.raises(pykudu_sql.DataError, match="a bad note"):
        cursor.executemany("INSERT INTO t VALUES (?, ?, 0)", [(8, "good"), (9, BAD)])
    with pytest.raises(pykudu_sql.DataError, match="a bad note"):
        cursor.executemany("UPDATE t SET note = ? WHERE id = ?", [("good", 1), (BAD, 2)])
    notes = ["good"] * BULK_ROWS + [BAD]
    for rows in (notes[-2:], notes):
        data = {"id": list(range(10, 10 + len(rows))), "note": rows}
        with pytest.raises(pykudu_sql.DataError, match="a bad note"):
            connection.append("t", data)
    assert rows_of(connection) == UNCHANGED


def test_a_table_made_of_such_rows_is_not_made(connection: pykudu_sql.Connection) -> None:
    cursor = connection.cursor()
    with pytest.raises(pykudu_sql.DataError, match="a bad note"):
        cursor.execute("CREATE TABLE u PRIMARY KEY (id) AS SELECT id, 'bad' note FROM t")
    assert cursor.execute("SHOW TABLES").fetchall() == [("t",)]


def test_restored_rows_are_held_to_it(
    connection: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = connection.cursor()
    with monkeypatch.context() as lenient:
        lenient.setattr(validation, "ROW_RULES", ())
        cursor.execute("UPDATE t SET note = 'bad' WHERE id = 1")
        cursor.execute("CREATE SNAPSHOT before")
        cursor.execute("UPDATE t SET note = 'a' WHERE id = 1")
    with pytest.raises(pykudu_sql.DataError, match="a bad note"):
        cursor.execute("RESTORE TABLE t TO SNAPSHOT before")
    assert rows_of(connection) == UNCHANGED
