"""The runner against sqlite3: what is right passes, and every planted failure is caught."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pykudu_sql.shell.slt.database import Driver, ScriptDatabase
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.runner import ScriptResult, ScriptRunner
from pykudu_sql.shell.slt.states import STATES, State

Run = Callable[..., ScriptResult]

GOOD = """\
hash-threshold 4

statement ok
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL)

statement count 3
INSERT INTO t VALUES (1, 'x', 0.5), (2, '', NULL), (10, NULL, 1e3)

query ITR
SELECT a, b, c FROM t ORDER BY a
----
1 | x | 0.500
2 | (empty) | NULL
10 | NULL | 1000.000

query IT
SELECT a, b FROM t WHERE a < 10 ORDER BY a
----
1
x
2
(empty)

query IT rowsort
SELECT a, b FROM t
----
1 | x
10 | NULL
2 | (empty)

query I valuesort same
SELECT a FROM t
----
1
10
2

query I valuesort same
SELECT a FROM t ORDER BY a DESC
----
3 values hashing to 91ff90854a35e9226df03b9b06c2f9c8

statement error no such table
SELECT * FROM nope

statement error
INSERT INTO t VALUES (1, 'again', 0)
----
UNIQUE constraint failed: t.a

onlyif mysql
statement ok
THIS IS NO SQL

skipif sqlite
statement ok
THIS IS NO SQL

onlyif extra
statement ok
SELECT 1

connection other
query I
SELECT count(*) FROM t
----
3

snapshot now

query I
SELECT ${now}
----
42

explain OpenRead
SELECT * FROM t

restart

flush

query I
SELECT count(*) FROM t
----
3

halt

statement ok
THIS IS NO SQL
"""


@pytest.mark.parametrize("state", sorted(STATES))
def test_a_right_script_passes_in_every_state(run_script: Run, state: str) -> None:
    result = run_script(GOOD, state)
    assert [problem.reason for problem in result.problems] == []
    assert (len(result.executed), result.skipped) == (14, 2)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("statement ok\nSELECT * FROM nope", "failed: no such table: nope"),
        ("statement ok\nSELEC", 'failed: near "SELEC": syntax error'),
        ("statement error\nSELECT 1", "an error was expected, and it succeeded"),
        ("statement error (42P01)\nSELECT * FROM nope", "expected SQLSTATE 42P01, got : no"),
        ("statement error wrong\nSELECT * FROM nope", "no match for /wrong/ in: no such table"),
        ("statement error\nSELECT * FROM nope\n----\nanother text", "the error differs"),
        ("statement count 2\nDELETE FROM t WHERE a = 1", "expected 2 rows to change, got 1"),
        ("query I\nSELECT a FROM t\n----\n2", "the result differs"),
        ("query I\nSELECT a FROM t\n----\n1\n1", "the result differs"),
        ("query I\nSELECT a FROM t\n----\n", "the result differs"),
        ("query I\nSELECT a FROM t WHERE a = 9\n----\n1", "the result differs"),
        ("query T\nSELECT NULL\n----\n(empty)", "the result differs"),
        ("query T\nSELECT ''\n----\nNULL", "the result differs"),
        ("query IT\nSELECT a, b FROM t\n----\n1 | y", "the result differs"),
        ("query I\nSELECT a, b FROM t\n----\n1", "expected 1 columns, got 2"),
        ("query I\nDELETE FROM t\n----\n1", "expected 1 columns, got 0"),
        ("query I\nSELECT nope FROM t\n----\n1", "failed: no such column: nope"),
        ("query I\nSELECT a FROM t", "no result is written down"),
        (f"query I\nSELECT a FROM t\n----\n1 values hashing to {'0' * 32}", "the digest differs"),
        ("query I\nSELECT ${never}\n----\n1", "no snapshot 'never' was taken"),
        ("explain INDEX\nSELECT * FROM t", "the plan does not say 'INDEX'"),
    ],
)
def test_a_planted_failure_is_caught_at_its_line(run_script: Run, record: str, reason: str) -> None:
    head = "statement ok\nCREATE TABLE t (a, b)\n\nstatement ok\nINSERT INTO t VALUES (1, 'x')\n\n"
    result = run_script(head + record + "\n\nstatement ok\nSELECT 1\n")
    (problem,) = result.problems
    assert problem.reason.startswith(reason)
    assert problem.record.source.line == 7


def test_queries_of_one_label_must_agree(run_script: Run) -> None:
    result = run_script(
        "query I nosort same\nSELECT 1\n----\n1\n\nquery I nosort same\nSELECT 2\n----\n2\n"
    )
    (problem,) = result.problems
    assert problem.reason == "differs from other queries labelled 'same'"


def test_a_difference_is_shown_as_a_diff(run_script: Run) -> None:
    result = run_script("query IT\nSELECT 1, 'b'\n----\n1 | a\n")
    (problem,) = result.problems
    assert problem.diff[-2:] == ("-1 | a", "+1 | b")


def test_an_expected_result_of_sorted_rows_may_stand_in_any_order(run_script: Run) -> None:
    result = run_script("query I rowsort\nSELECT 2 UNION SELECT 10\n----\n2\n10\n")
    assert result.problems == ()


def test_the_run_may_stop_at_the_first_failure(run_script: Run) -> None:
    text = "statement ok\nNO\n\nstatement ok\nNO\n\nstatement ok\nSELECT 1\n"
    assert len(run_script(text).problems) == 2
    stopped = run_script(text, stop_at_problem=True)
    assert (len(stopped.problems), len(stopped.executed)) == (1, 1)


@pytest.mark.parametrize("state", sorted(STATES))
def test_an_open_transaction_survives_every_state(run_script: Run, state: str) -> None:
    text = (
        "statement ok\nCREATE TABLE t (a)\n\nstatement ok\nBEGIN\n\n"
        "statement ok\nINSERT INTO t VALUES (1)\n\nstatement ok\nROLLBACK\n\n"
        "query I\nSELECT count(*) FROM t\n----\n0\n"
    )
    assert run_script(text, state).problems == ()


ACTED_TWICE = """\
statement ok
CREATE TABLE t (a)

statement error
NO

statement error
NO

query I
SELECT count(*) FROM t
----
0
"""


def test_a_state_acts_once_behind_statements_that_fail_in_a_row(
    sqlite_driver: Driver, tmp_path: Path
) -> None:
    acts: list[bool] = []
    state = State("counted", lambda database: acts.append(database.in_transaction))
    runner = ScriptRunner(ScriptDatabase(sqlite_driver, tmp_path), state, frozenset())
    assert runner.run(parse(ACTED_TWICE)).problems == ()
    assert acts == [False, False]


@pytest.mark.parametrize("behind", ["", "query I\nSELECT 1\n----\n1\n"], ids=["the end", "a query"])
def test_what_goes_wrong_behind_failing_statements_stands_at_the_last(
    sqlite_driver: Driver, tmp_path: Path, behind: str
) -> None:
    def act(database: ScriptDatabase) -> None:
        raise OSError("broken")

    runner = ScriptRunner(
        ScriptDatabase(sqlite_driver, tmp_path), State("broken", act), frozenset()
    )
    result = runner.run(parse(f"statement error\nNO\n\nstatement error\nNO\n\n{behind}"))
    (problem,) = result.problems
    assert (problem.record.source.line, problem.reason) == (4, "unexpected error: OSError: broken")
