"""What a statement holds until it is written is counted against memory_limit."""

import resource
import subprocess
import sys
import textwrap

import pytest

import pykudu_sql

WRITES = [
    "UPDATE s SET a = repeat('x', 100000) || k",
    "UPSERT INTO t SELECT k, repeat('x', 60000) || k FROM s",
    "INSERT INTO t SELECT i, repeat('a', 12000000 + i % 2) FROM range(2000) AS r(i)",
    "DELETE FROM s WHERE k IN (SELECT len(repeat('a', 12000) || i) FROM range(20000) r(i)) "
    "AND length(repeat('x', 12000) || a) > 0 AND a = 'nothing'",
]  # fmt: skip
PEAK = textwrap.dedent(
    """
    import resource, sys
    import pykudu_sql
    connection = pykudu_sql.connect(":memory:", memory_limit="200MB", threads=2, autocommit=True)
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a STRING)")
    connection.execute("CREATE TABLE s (k BIGINT PRIMARY KEY, a STRING)")
    connection.execute("INSERT INTO s SELECT i, 'a' FROM range(20000) r(i)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    state = None
    try:
        connection.execute(sys.argv[1])
    except pykudu_sql.Error as error:
        state = error.sqlstate
    rows = connection.execute("SELECT count(*) FROM t").fetchone()[0]
    kept = connection.execute("SELECT count(*) FROM s WHERE a = 'a'").fetchone()[0]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(state, rows, kept, grown // 1024)
    """
)


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


def told(statement: str) -> list[str]:
    """What is told of a statement that ran in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, statement],
        capture_output=True,
        text=True,
        preexec_fn=_bounded,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize("statement", WRITES)
def test_a_write_of_more_than_fits_ends_near_the_limit_and_changes_nothing(statement: str) -> None:
    state, rows, kept, grown = told(statement)
    assert (rows, kept) == ("0", "20000")
    assert state == ("None" if statement.startswith("DELETE") else "53200")
    assert int(grown) < 450


@pytest.mark.parametrize("verb", ["INSERT", "UPSERT"])
def test_rows_of_more_than_fits_take_no_more_than_that(verb: str) -> None:
    state, rows, kept, grown = told(
        f"{verb} INTO t SELECT i, repeat('a', 1000) FROM range(600000) AS r(i)"
    )
    assert (state, rows, kept) == ("None", "600000", "20000")
    assert int(grown) < 450


def test_writes_within_the_limit_are_as_before() -> None:
    with pykudu_sql.connect(":memory:", memory_limit="64MB", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a STRING)")
        connection.execute("INSERT INTO t SELECT i, 'a' || i FROM range(100000) r(i)")
        connection.execute("UPDATE t SET a = upper(a) WHERE k % 2 = 0")
        found = connection.execute("SELECT count(*), min(a), max(a) FROM t").fetchall()
        assert found == [(100_000, "A0", "a99999")]
        assert connection.execute("SELECT a FROM t WHERE k = 5").fetchone() == ("a5",)
