"""Defaults that are functions, on every road by which rows come; sql_tests has what SQL can say."""

import datetime as dt
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.storage.common.types.hybrid_time import StatementTime

DDL = (
    "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT, at TIMESTAMP NOT NULL DEFAULT now(), "
    "token STRING DEFAULT uuid())"
)


@pytest.fixture
def conn() -> Any:
    with pykudu_sql.connect(autocommit=True, files=True) as connection:
        connection.execute(DDL)
        yield connection


def counts(conn: Any, where: str = "true") -> tuple[int, int, int]:
    """Rows, times and tokens."""
    query = f"SELECT count(*), count(DISTINCT at), count(DISTINCT token) FROM t WHERE {where}"
    row: tuple[int, int, int] = conn.execute(query).fetchone()
    return row


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t (id) VALUES (?)",
        "INSERT INTO t (id, at, token) VALUES (?, DEFAULT, DEFAULT)",
        "INSERT INTO t (id) SELECT ?",
        "UPSERT INTO t (id, n) VALUES (?, 1)",
        "UPSERT INTO t (id, at, token) VALUES (?, DEFAULT, DEFAULT)",
        "REPLACE INTO t (id) VALUES (?)",
        "INSERT IGNORE INTO t (id) VALUES (?)",
        "INSERT INTO t (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET n = 1",
        "INSERT INTO t (id) VALUES (?) RETURNING at",
        "INSERT INTO t (id) VALUES (?) ON CONFLICT DO NOTHING RETURNING token",
    ],
)
@pytest.mark.parametrize("explicit", [False, True])
def test_a_plan_that_is_kept_keeps_no_time(conn: Any, sql: str, explicit: bool) -> None:
    if explicit:
        conn.execute("BEGIN")
    before = conn.execute("SELECT now()").fetchone()[0]
    for number in range(4):
        conn.execute(sql, (number,))
    if explicit:
        conn.execute("COMMIT")
    assert counts(conn) == (4, 4, 4)
    times = [row[0] for row in conn.execute("SELECT at FROM t ORDER BY id").fetchall()]
    assert times == sorted(times)
    assert before < times[0] < times[-1] < conn.execute("SELECT now()").fetchone()[0]


@pytest.mark.parametrize("wait", [0.0, 0.3])
def test_a_prepared_statement_runs_at_its_own_time(conn: Any, wait: float) -> None:
    conn.execute("PREPARE one AS INSERT INTO t (id) VALUES (?)")
    conn.execute("EXECUTE one(1)")
    time.sleep(wait)
    conn.execute("EXECUTE one(2)")
    (first,), (second,) = conn.execute("SELECT at FROM t ORDER BY id").fetchall()
    assert second - first > dt.timedelta(seconds=wait)


@pytest.mark.parametrize("collect", [False, True])
@pytest.mark.parametrize(
    "sql",
    ["INSERT INTO t (id) VALUES (?)", "UPSERT INTO t (id, at, token) VALUES (?, DEFAULT, DEFAULT)"],
)
def test_the_rows_of_executemany_are_of_one_statement(conn: Any, sql: str, collect: bool) -> None:
    if collect:
        conn.execute("SET row_errors = 'collect'")
    conn.executemany(sql, [(number,) for number in range(10_000)])
    assert counts(conn) == (10_000, 1, 10_000)
    conn.executemany(sql.replace("INSERT", "UPSERT"), [(0,), (10_000,)])
    assert counts(conn, "id = 10000") == (1, 1, 1)


def test_a_large_insert_in_chunks_is_of_one_statement(conn: Any) -> None:
    conn.execute("INSERT INTO t (id, n) SELECT i, i FROM range(300000) AS r(i)")
    assert counts(conn) == (300_000, 1, 300_000)


@pytest.mark.parametrize("operation", ["insert", "upsert", "insert_ignore"])
def test_append_fills_what_a_frame_lacks(conn: Any, operation: str) -> None:
    conn.append("t", pa.table({"id": range(1000), "n": range(1000)}), operation)
    assert counts(conn) == (1000, 1, 1000)
    conn.append("t", pa.table({"id": range(500, 1500)}), "upsert")
    assert counts(conn) == (1500, 2, 1500)
    assert counts(conn, "id < 1000") == (1000, 1, 1000)


def test_statements_within_another_one_leave_its_time_alone(conn: Any) -> None:
    schema = pa.schema({"id": pa.int64(), "token": pa.string()})

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, 12_000, 1000):
            before = conn.execute("SELECT now()").fetchone()
            assert conn.execute("SELECT now()").fetchone() > before
            columns = [pa.array(range(start, start + 1000)), pa.array(["x" * 30_000] * 1000)]
            yield pa.record_batch(columns, schema=schema)

    conn.append("t", pa.RecordBatchReader.from_batches(schema, batches()), "insert")
    assert counts(conn)[:2] == (12_000, 1)


def test_copy_fills_columns_and_keys_that_files_lack(conn: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,n\n1,1\n2,2\n")
    lines = [{"id": 3, "n": 3}, {"id": 4, "token": "mine"}, {"id": 5, "at": "2026-01-01"}]
    (tmp_path / "a.json").write_text("\n".join(map(json.dumps, lines)))
    conn.execute(f"COPY t FROM '{tmp_path}/a.csv'")
    conn.execute(f"COPY t FROM '{tmp_path}/a.json'")
    assert counts(conn) == (5, 3, 5)
    assert counts(conn, "id IN (3, 4)") == (2, 1, 2)
    rows = conn.execute("SELECT at, token FROM t WHERE id IN (4, 5) ORDER BY id").fetchall()
    assert (rows[0][1], rows[1][0]) == ("mine", dt.datetime(2026, 1, 1))


@pytest.mark.parametrize(
    ("column_type", "default", "cell"),
    [
        *(("TINYINT", "7", 7), ("BIGINT", "-7", -7), ("FLOAT", "1.5", 1.5), ("DOUBLE", "0.1", 0.1)),
        *(("BOOLEAN", "true", True), ("STRING", "'it''s'", "it's"), ("VARCHAR(3)", "'abc'", "abc")),
        *((f"DECIMAL({n},2)", "-1.50", Decimal("-1.50")) for n in (4, 9, 10, 18, 19, 38)),
        *(("BINARY", "x'00ff'", b"\x00\xff"), ("DATE", "'2026-01-31'", dt.date(2026, 1, 31))),
        ("TIMESTAMP", "'2026-01-31 12:00:00'", dt.datetime(2026, 1, 31, 12)),
    ],
)
@pytest.mark.parametrize("as_array", [False, True])
def test_json_that_lacks_a_column_gets_its_default(
    conn: Any, tmp_path: Path, column_type: str, default: str, cell: object, as_array: bool
) -> None:
    conn.execute(f"CREATE TABLE d (id INT PRIMARY KEY, v {column_type} DEFAULT {default})")
    conn.execute("INSERT INTO d (id) VALUES (0)")
    objects = ['{"id": 1}', '{"id": 2, "v": null}', '{"id": 3}']
    text = f"[{', '.join(objects)}]" if as_array else "\n".join(objects)
    (tmp_path / "a.json").write_text(text)
    conn.execute(f"COPY d FROM '{tmp_path}/a.json'")
    stored = conn.execute("SELECT v FROM d ORDER BY id").fetchall()
    assert stored == [(cell,), (cell,), (None,), (cell,)]


def test_what_returning_shows_is_stored(conn: Any) -> None:
    for sql in (
        "INSERT INTO t (id) VALUES (1), (2) RETURNING *",
        "INSERT INTO t (id) SELECT i FROM range(10, 15) AS r(i) RETURNING *",
        "INSERT INTO t (id) VALUES (2), (3) "
        "ON CONFLICT (id) DO UPDATE SET token = DEFAULT RETURNING *",
        "INSERT INTO t (id) VALUES (20) ON CONFLICT (id) DO UPDATE SET n = 1 RETURNING *",
        "UPSERT INTO t (id, n) VALUES (3, 7), (4, 7) RETURNING *",
        "UPDATE t SET token = DEFAULT, at = DEFAULT WHERE id < 3 RETURNING *",
        "UPDATE t SET token = DEFAULT, at = DEFAULT WHERE id = 3 RETURNING *",
        "MERGE INTO t USING (SELECT 3 AS k UNION ALL SELECT 30 UNION ALL SELECT 31) s ON t.id = k "
        "WHEN MATCHED THEN UPDATE SET token = DEFAULT WHEN NOT MATCHED AND k = 30 THEN INSERT (id) "
        "VALUES (k) WHEN NOT MATCHED THEN INSERT (id, token) VALUES (k, DEFAULT) RETURNING t.*",
    ):
        shown = conn.execute(sql).fetchall()
        keys = ", ".join(str(row[0]) for row in shown)
        stored = conn.execute(f"SELECT * FROM t WHERE id IN ({keys}) ORDER BY id").fetchall()
        assert sorted(shown) == stored, sql
        assert len({row[2] for row in shown}) == len({row[2] for row in stored}), sql
    rows, _, tokens = counts(conn)
    assert rows == tokens == 12


def test_setting_a_time_to_default_is_planned_each_time(conn: Any) -> None:
    conn.execute("INSERT INTO t (id) VALUES (1), (2), (3)")
    for sql in (
        "UPDATE t SET at = DEFAULT WHERE id = ?",
        "UPDATE t SET at = DEFAULT, n = id WHERE id = ? OR id < 0",
        "INSERT INTO t (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET at = DEFAULT",
        "MERGE INTO t USING (SELECT ? AS k) s ON id = k WHEN MATCHED THEN UPDATE SET at = DEFAULT",
    ):
        for number in (1, 2, 3):
            conn.execute(sql, (number,))
        assert counts(conn)[1] == 3, sql
    conn.execute("UPDATE t SET at = DEFAULT, token = DEFAULT")
    assert counts(conn) == (3, 1, 3)


def test_rollback_and_savepoints_take_values_back(conn: Any) -> None:
    conn.execute("BEGIN")
    conn.execute("INSERT INTO t (id) VALUES (1)")
    conn.execute("SAVEPOINT s")
    conn.execute("INSERT INTO t (id) VALUES (2)")
    conn.execute("ROLLBACK TO s")
    conn.execute("INSERT INTO t (id) VALUES (2)")
    seen = conn.execute("SELECT * FROM t ORDER BY id").fetchall()
    conn.execute("COMMIT")
    assert conn.execute("SELECT * FROM t ORDER BY id").fetchall() == seen
    assert counts(conn) == (2, 2, 2)


def test_the_past_has_the_default_of_then(conn: Any) -> None:
    conn.execute("INSERT INTO t (id) VALUES (1)")
    conn.execute("ALTER TABLE t ADD COLUMN later TIMESTAMP DEFAULT '2026-01-01'")
    bound = conn.snapshot_timestamp()
    conn.execute("ALTER TABLE t ALTER COLUMN later SET DEFAULT now()")
    conn.execute("INSERT INTO t (id) VALUES (2)")
    query = "SELECT column_default FROM information_schema.columns WHERE column_name = 'later'"
    assert conn.execute(query).fetchone() == ("now()",)
    conn.execute(f"SET as_of = {bound}")
    assert conn.execute(query).fetchone() == ("'2026-01-01 00:00:00'",)
    conn.execute("SET as_of = DEFAULT")
    conn.execute(f"RESTORE TABLE t TO {bound}")
    conn.execute("INSERT INTO t (id) VALUES (3)")
    (old,), (new,) = conn.execute("SELECT later FROM t ORDER BY id").fetchall()
    assert old == dt.datetime(2026, 1, 1) < new


def test_show_create_table_makes_the_table_again(conn: Any) -> None:
    statement = conn.execute("SHOW CREATE TABLE t").fetchone()[0]
    assert "at TIMESTAMP NOT NULL DEFAULT now()" in statement
    assert "token STRING DEFAULT uuid()" in statement
    conn.execute("DROP TABLE t")
    conn.execute(statement)
    assert conn.execute("SHOW CREATE TABLE t").fetchone()[0] == statement
    described = {row[0]: row[6] for row in conn.execute("DESCRIBE t").fetchall()}
    assert (described["at"], described["token"], described["n"]) == ("now()", "uuid()", None)


KILLED = """
import os, sys, pykudu_sql
conn = pykudu_sql.connect(sys.argv[1], autocommit=True)
conn.execute(sys.argv[2])
conn.execute("INSERT INTO t (id) VALUES (1), (2)")
conn.execute("INSERT INTO t (id) VALUES (3)")
conn.execute("ALTER TABLE t ADD COLUMN since TIMESTAMP NOT NULL DEFAULT now()")
conn.execute("UPDATE t SET token = DEFAULT WHERE id = 1")
for row in conn.execute("SELECT id, at, token, since FROM t ORDER BY id").fetchall():
    print(*row, sep="|", flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_was_logged_comes_back_after_a_crash(path: str) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, path, DDL], capture_output=True, text=True, check=False
    )
    assert killed.returncode == -9, killed.stderr
    for _ in range(2):
        with pykudu_sql.connect(path, autocommit=True) as conn:
            rows = conn.execute("SELECT id, at, token, since FROM t ORDER BY id").fetchall()
            assert [*map("|".join, (map(str, row) for row in rows))] == killed.stdout.splitlines()
            default = conn.execute("PRAGMA table_info(t)").fetchall()[4][4]
            assert default == "now()"
            conn.execute("OPTIMIZE TABLE t")
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("INSERT INTO t (id) VALUES (9)")
        assert counts(conn) == (4, 3, 4)


def test_without_a_statement_a_transaction_has_the_time_of_its_first_use(conn: Any) -> None:
    store = conn._session._state.store
    transaction = store.begin()
    assert isinstance(transaction.time, StatementTime)
    table, before = store.catalog.tables["t"], store.now()
    cells = [transaction.insert_row(table, {0: key}) for key in (1, 2)]
    transaction.commit(False)
    assert cells[0][2] == cells[1][2]
    assert cells[0][3] != cells[1][3]
    assert before >> 12 <= cells[0][2]
