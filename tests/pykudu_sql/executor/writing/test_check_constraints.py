"""CHECK and NOT NULL keep every row on every road, and racing or dying sessions get none past."""

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.storage.ingest.bulk_writer import BULK_ROWS
from pykudu_sql.storage.transaction.bulk_operations import LEAST_ROWS


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as opened:
        opened.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT DEFAULT 9, "
            "CONSTRAINT c CHECK (a < b))"
        )
        opened.execute("INSERT INTO t VALUES (1, 1, 5), (2, 2, 6)")
        yield opened


UNCHANGED = [(1, 1, 5), (2, 2, 6)]
# Each breaks the constraint by one column, and leaves the other as it is or at its default.
WRITES = {
    "insert": "INSERT INTO t VALUES (9, 7, 7)",
    "insert_default": "INSERT INTO t (id, a) VALUES (9, 9)",
    "insert_ignore": "INSERT OR IGNORE INTO t VALUES (9, 7, 7)",
    "insert_query": "INSERT INTO t SELECT id + 8, 9, b FROM t",
    "insert_returning": "INSERT INTO t VALUES (9, 7, 7) RETURNING id",
    "upsert_new": "UPSERT INTO t (id, a) VALUES (9, 9)",
    "upsert_there": "UPSERT INTO t (id, a) VALUES (1, 5)",
    "upsert_query": "UPSERT INTO t (id, b) SELECT id, a FROM t WHERE id = 2",
    "upsert_ignore": "UPSERT IGNORE INTO t (id, a) VALUES (1, 5)",
    "update_key": "UPDATE t SET a = 5 WHERE id = 1",
    "update_scan": "UPDATE t SET a = b WHERE a > 1",
    "update_other": "UPDATE t SET b = 2",
    "update_from": "UPDATE t SET a = s.v FROM (SELECT 1 i, 5 v) s WHERE t.id = s.i",
    "update_returning": "UPDATE t SET a = 6 WHERE id = 2 RETURNING id",
    "merge_update": "MERGE INTO t USING (SELECT 1 i) s ON t.id = s.i "
    "WHEN MATCHED THEN UPDATE SET a = 5",
    "merge_insert": "MERGE INTO t USING (SELECT 9 i) s ON t.id = s.i "
    "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.i, 9)",
    "conflict": "INSERT INTO t VALUES (1, 0, 1) ON CONFLICT (id) DO UPDATE SET a = 5",
}


def rows_of(connection: pykudu_sql.Connection, table: str = "t") -> list[Any]:
    return connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("sql", WRITES.values(), ids=WRITES)
def test_no_statement_gets_a_row_past_a_constraint(
    connection: pykudu_sql.Connection, sql: str, in_transaction: bool, flushed: bool
) -> None:
    if flushed:
        connection.execute("FLUSH TABLE t")
    if in_transaction:
        connection.execute("BEGIN")
    with pytest.raises(pykudu_sql.IntegrityError, match="violates CHECK constraint 'c': a < b"):
        connection.execute(sql)
    assert rows_of(connection) == UNCHANGED


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_transaction_is_held_to_what_it_wrote_itself(
    connection: pykudu_sql.Connection, in_transaction: bool
) -> None:
    if in_transaction:
        connection.execute("BEGIN")
    for column, value in (("b", 50), ("a", 49), ("a", 10), ("b", 11)):
        connection.execute(f"UPDATE t SET {column} = ? WHERE id = 1", (value,))
        connection.execute(f"UPSERT INTO t (id, {column}) VALUES (7, ?)", (value,))
    for sql in ("UPDATE t SET b = 10 WHERE id = 1", "UPSERT INTO t (id, b) VALUES (7, 10)"):
        with pytest.raises(pykudu_sql.IntegrityError, match="'c'"):
            connection.execute(sql)
    assert rows_of(connection) == [(1, 10, 11), (2, 2, 6), (7, 10, 11)]


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_statement_of_several_branches_does_all_or_nothing(
    connection: pykudu_sql.Connection, in_transaction: bool
) -> None:
    if in_transaction:
        connection.execute("BEGIN")
    with pytest.raises(pykudu_sql.IntegrityError, match="'c'"):
        connection.execute(
            "MERGE INTO t USING (SELECT 1 i UNION ALL SELECT 5) s ON t.id = s.i "
            "WHEN MATCHED THEN UPDATE SET a = 7 WHEN NOT MATCHED THEN INSERT VALUES (s.i, 1, 2)"
        )
    assert rows_of(connection) == UNCHANGED


@pytest.mark.parametrize("rows", [3, LEAST_ROWS + 1, BULK_ROWS + 1])
def test_many_rows_at_once_are_held_to_it(connection: pykudu_sql.Connection, rows: int) -> None:
    ids = list(range(10, 10 + rows))
    good, bad = [0] * rows, [*[0] * (rows - 1), 9]
    for operation in ("insert", "upsert"):
        with pytest.raises(pykudu_sql.IntegrityError, match=rf"\(id\) = \({ids[-1]}\)"):
            connection.append("t", {"id": ids, "a": bad}, operation=operation)
    assert rows_of(connection) == UNCHANGED
    connection.append("t", {"id": ids, "a": good})
    for operation in ("update", "upsert"):
        with pytest.raises(pykudu_sql.IntegrityError, match=rf"\(id\) = \({ids[-1]}\)"):
            connection.append("t", {"id": ids, "a": bad}, operation=operation)
    with pytest.raises(pykudu_sql.IntegrityError, match="'c'"):
        connection.execute("UPDATE t SET b = b - 9 WHERE id >= 10")
    assert connection.execute("SELECT count(*), max(a), min(b) FROM t").fetchone() == (
        rows + 2,
        2,
        5,
    )


def test_an_open_transaction_cannot_bring_what_a_new_rule_forbids(
    connection: pykudu_sql.Connection, tmp_path: Path
) -> None:
    rules = {
        "ADD CONSTRAINT d CHECK (a > 0)": ("a = 0", "a = 1"),
        "ALTER COLUMN a SET NOT NULL": ("a = NULL", "a = 1"),
    }
    for rule, (breaks, mends) in rules.items():
        with pykudu_sql.connect(tmp_path / "my.db") as other:
            other.execute(f"UPDATE t SET {breaks} WHERE id = 1")
            connection.execute(f"ALTER TABLE t {rule}")
            with pytest.raises(pykudu_sql.OperationalError) as refused:
                other.commit()
            assert refused.value.sqlstate == "40001"
        with pytest.raises(pykudu_sql.IntegrityError):
            connection.execute(f"UPDATE t SET {breaks} WHERE id = 1")
        connection.execute(f"UPDATE t SET {mends} WHERE id = 1")


def test_a_snapshot_older_than_not_null_still_shows_null(
    connection: pykudu_sql.Connection, tmp_path: Path
) -> None:
    connection.execute("INSERT INTO t VALUES (3, NULL, 1)")
    with pykudu_sql.connect(tmp_path / "my.db") as older:
        assert older.execute("SELECT count(*) FROM t").fetchone() == (3,)
        connection.execute("UPDATE t SET a = 0 WHERE a IS NULL")
        connection.execute("ALTER TABLE t ALTER COLUMN a SET NOT NULL")
        assert older.execute("SELECT count(a) FROM t").fetchone() == (2,)
        assert older.execute("SELECT id FROM t WHERE a IS NULL").fetchall() == [(3,)]


_DIES = """
import os, sys, pykudu_sql
connection = pykudu_sql.connect(sys.argv[1], autocommit=True)
connection.execute("ALTER TABLE t ADD CONSTRAINT d CHECK (length(s) <= 2)")
connection.execute("ALTER TABLE t ALTER COLUMN s SET NOT NULL")
connection.execute("UPDATE t SET s = 'xy' WHERE id = 1")
os._exit(9)
"""


def test_rules_outlive_a_process_that_dies(tmp_path: Path) -> None:
    path = tmp_path / "my.db"
    with pykudu_sql.connect(path, autocommit=True) as made:
        made.execute("CREATE TABLE t (id INT PRIMARY KEY, s STRING)")
        made.execute("INSERT INTO t VALUES (1, 'x')")
    assert subprocess.run([sys.executable, "-c", _DIES, path], check=False).returncode == 9
    with pykudu_sql.connect(path, autocommit=True) as opened:
        with pytest.raises(pykudu_sql.IntegrityError, match="'d'"):
            opened.execute("UPDATE t SET s = 'xyz'")
        with pytest.raises(pykudu_sql.IntegrityError, match="'s'"):
            opened.execute("UPDATE t SET s = NULL")
        assert rows_of(opened) == [(1, "xy")]


_TABLE = """CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER, s {text},
    CHECK (a < b OR s IS NULL), CHECK (b BETWEEN -5 AND 12),
    CHECK (NOT (s LIKE 'x%' AND a <> 3) AND length(s) <= 2))"""


def _operation(draw: random.Random) -> tuple[str, tuple[Any, ...]]:
    number = lambda: draw.choice([None, *range(-7, 15)])  # noqa: E731
    word = draw.choice([None, "", "a", "x", "xy", "abc", "é"])
    key, column = draw.randrange(12), draw.choice("ab")
    some = draw.randrange(-7, 15)
    return draw.choice(
        [
            ("INSERT INTO t VALUES (?, ?, ?, ?)", (key, number(), number(), word)),
            ("INSERT INTO t (id, a) VALUES (?, ?)", (key, number())),
            (f"UPDATE t SET {column} = ? WHERE id = ?", (some, key)),
            ("UPDATE t SET s = ? WHERE id = ?", (word, key)),
            (f"UPDATE t SET {column} = {column} + ? WHERE id > ?", (draw.choice([-1, 1]), key)),
            ("UPDATE t SET a = b, b = a WHERE id < ?", (key,)),
            ("INSERT INTO t SELECT id + 12, a, b + 1, s FROM t WHERE id = ?", (key,)),
            ("DELETE FROM t WHERE id = ? OR id > 20", (key,)),
        ]
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_statements_do_and_refuse_what_sqlite_does(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    peer = sqlite3.connect(":memory:", isolation_level=None)
    peer.execute(_TABLE.format(text="TEXT"))
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as ours:
        ours.execute(_TABLE.format(text="STRING"))
        refused = 0
        for step in range(150):
            sql, values = _operation(draw)
            if step % 25 == 24:
                ours.execute(draw.choice(["FLUSH TABLE t", "OPTIMIZE TABLE t"]))
            try:
                peer.execute(sql, values)
            except sqlite3.IntegrityError:
                refused += 1
                with pytest.raises(pykudu_sql.IntegrityError):
                    ours.execute(sql, values)
            else:
                ours.execute(sql, values)
            assert rows_of(ours) == rows_of(peer), (sql, values)  # type: ignore[arg-type]
        assert refused > 10
