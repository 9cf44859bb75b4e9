"""One limit for the process: what settings come to, who holds what, and the peak of real work."""

import json
import os
import subprocess
import sys

import pytest

import pykudu_sql
from benchmarks.tpch_tables import has_generator

MIB = 1 << 20


def value_of(connection: pykudu_sql.Connection, name: str) -> int:
    return int(connection.execute(f"SHOW SETTINGS LIKE '{name}'").fetchall()[0][1])


def test_settings_that_are_not_given_have_shares_of_the_limit() -> None:
    with pykudu_sql.connect(memory_limit="512MB", write_memory_bytes="16MB") as connection:
        assert value_of(connection, "block_cache_bytes") == 44 * MIB
        assert value_of(connection, "write_memory_bytes") == 16 * MIB
        assert value_of(connection, "flush_bytes") == 8 * MIB
        held = (512 - 160 - 44 - 16) // 2
        assert value_of(connection, "scan_memory_bytes") == held * MIB // 4
        assert value_of(connection, "result_memory_bytes") == held * MIB // 8
        connection.execute("SET scan_memory_bytes = '1GB'")
        assert value_of(connection, "scan_memory_bytes") == 1024 * MIB
        connection.execute("RESET scan_memory_bytes")
        assert value_of(connection, "scan_memory_bytes") == held * MIB // 4


def test_sys_memory_shows_who_holds_what() -> None:
    with pykudu_sql.connect(memory_limit="512MB", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a STRING)")
        connection.execute("INSERT INTO t SELECT i, 'word ' || i FROM range(20000) r(i)")
        found = connection.execute(
            "SELECT holder, limit_bytes >> 20, used_bytes > 0, peak_bytes >= used_bytes "
            "FROM sys.memory ORDER BY holder"
        ).fetchall()
        assert [row[:2] for row in found] == [
            ("block_cache", 44), ("engine", 132), ("memstores", 44), ("process", 512),
            ("statements", 132),
        ]  # fmt: skip
        assert all(row[3] for row in found)
        assert {row[0] for row in found if row[2]} >= {"memstores", "process"}


def test_a_streamed_result_holds_its_tables_until_it_is_closed() -> None:
    with pykudu_sql.connect(result_memory_bytes=1000, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)")
        connection.execute("INSERT INTO t SELECT i FROM range(200000) r(i)")
        used = "SELECT used_bytes FROM sys.memory WHERE holder = 'statements'"
        cursor = connection.execute("SELECT k FROM t")
        assert cursor.fetchone() is not None
        assert connection.execute(used).fetchone()[0] >= 1_600_000
        cursor.close()
        del cursor
        assert connection.execute(used).fetchone()[0] < 1_600_000


def test_a_query_whose_tables_find_no_room_reads_them_as_streams() -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)")
        connection.execute("INSERT INTO t SELECT i FROM range(200000) r(i)")
        budget = connection._session.database.store.budget
        rest = set[int]()
        budget.hold(rest, budget.free)
        query = "SELECT count(*), sum(a.k) FROM t a JOIN t b ON a.k = b.k + 1"
        assert connection.execute(query).fetchone() == (199_999, 19_999_900_000)
        assert budget.free == 0


def test_rows_to_be_written_that_find_no_room_are_refused_from_a_mebibyte_on() -> None:
    with pykudu_sql.connect(autocommit=True, memory_limit="320MB") as connection:
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, x STRING)")
        budget = connection._session.database.store.budget
        rest = set[int]()
        budget.hold(rest, budget.free)
        few = "INSERT INTO t SELECT range, ? || range FROM range(5) RETURNING k"
        assert len(connection.execute(few, ("a",)).fetchall()) == 5
        many = "INSERT INTO t SELECT range + 9, ? || range FROM range(90000) RETURNING k"
        with pytest.raises(pykudu_sql.OperationalError, match="rows that this statement holds"):
            connection.execute(many, ("a" * 200,))
        assert budget.free == 0


@pytest.mark.skipif(not has_generator(), reason="tpchgen-cli is not installed")
def test_loads_queries_changes_and_scripts_stay_within_half_a_gigabyte() -> None:
    # What a program's Parquet reader frees, Arrow's own allocator keeps for its threads.
    done = subprocess.run(
        [sys.executable, "-m", "tests.pykudu_sql.limits.within_limit", "0.1", "512", "12"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )
    assert not done.returncode, done.stderr
    peaks = json.loads(done.stdout)
    assert peaks["all"] < 512, peaks
    assert peaks["holders"]["block_cache"] <= 44
