"""`Connection.progress`: what statements count while they run."""

from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.storage.common.progress import Counter, Progress

ROWS = 300_000


@pytest.fixture
def conn(tmp_path: Path) -> pykudu_sql.Connection:
    conn = pykudu_sql.connect(tmp_path / "my.db", autocommit=True, files=str(tmp_path))
    conn.execute(
        f"CREATE TABLE t PRIMARY KEY (id) AS SELECT i AS id, i % 7 AS k FROM range({ROWS}) r(i)"
    )
    return conn


def told(conn: pykudu_sql.Connection, sql: str) -> tuple[str, int, int | None]:
    """What the connection says once a statement is done."""
    conn.execute(sql)
    report = conn.progress()
    assert report is not None
    return report.activity, report.done, report.total


def test_nothing_is_told_before_the_first_statement() -> None:
    with pykudu_sql.connect() as conn:
        assert conn.progress() is None


def test_a_load_counts_rows_that_are_computed_and_written(conn: pykudu_sql.Connection) -> None:
    assert told(conn, "CREATE TABLE u PRIMARY KEY (id) AS SELECT * FROM t")[1:] == (ROWS, ROWS)


@pytest.mark.parametrize("scan_memory_bytes", [1, 1 << 30])
def test_a_scan_has_counted_all_rows_at_its_end(
    conn: pykudu_sql.Connection, scan_memory_bytes: int
) -> None:
    conn.execute(f"SET scan_memory_bytes = {scan_memory_bytes}")
    conn.execute("SELECT k, count(DISTINCT id) FROM t WHERE id > 5 GROUP BY k")
    report = conn.progress()
    assert report is not None
    assert (report.activity, report.unit) in (("reading t", "rows"), ("computing", "rows"))
    assert report.done == report.total


def test_a_compaction_counts_rows(conn: pykudu_sql.Connection) -> None:
    conn.execute(f"INSERT INTO t SELECT i + {ROWS}, 0 FROM range({ROWS}) r(i)")
    assert told(conn, "OPTIMIZE t FULL") == ("compacting rowsets", 2 * ROWS, 2 * ROWS)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "json.zst", "parquet"])
def test_files_that_are_copied_are_counted_in_bytes(
    conn: pykudu_sql.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    for name, rest in (("a", 0), ("b", 1)):
        conn.execute(f"COPY (SELECT * FROM t WHERE k % 2 = {rest}) TO '{name}.{suffix}'")
    conn.execute("CREATE TABLE u (id BIGINT PRIMARY KEY, k BIGINT)")
    made: list[Counter] = []

    def counter(progress: Progress, statement: int, *arguments: Any) -> Counter:
        made.append(Counter(*arguments))
        return made[-1]

    monkeypatch.setattr(Progress, "counter", counter)
    conn.execute(f"COPY u FROM '*.{suffix}'")
    size = sum(path.stat().st_size for path in tmp_path.glob(f"*.{suffix}"))
    (files,) = (one for one in made if one.activity == "reading files for u")
    assert (files.unit, files.done, files.total) == ("bytes", size, size)


def test_a_lookup_by_key_counts_nothing(conn: pykudu_sql.Connection) -> None:
    conn.execute("SELECT count(*) FROM t WHERE k = 1")
    conn.execute("SELECT * FROM t WHERE id = 1").fetchall()
    assert conn.progress() is None
