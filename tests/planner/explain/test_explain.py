# ruff: noqa: E501  (tables of statements read best one a line)
"""EXPLAIN says what is read, what is left out, and why."""

import textwrap

import pytest

from pykudu_sql.planner.explain.explain import ExplainFacts, ScanFacts, explain
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan

GOLDENS = [
    (
        "explain select value from events where host = 'a' and at >= 100 and at < 300",
        """
        ENGINE
          sql: SELECT "value" FROM "__scan_0" AS "events" WHERE "host" = 'a' AND "at" >= 100 AND "at" < 300
          not used if few rows are read or selected
          SCAN events (__scan_0)
            tablets: 2 of 48
            pushed: host = 'a' AND at >= 100 AND at <= 299
            columns: host, at, value
        """,
    ),
    (
        "explain select s from t where id = ?",
        """
        KEY LOOKUP t
          key: id = ?1
          columns: s
        """,
    ),
    (
        "explain update t set a = 5, s = :s where id = :id",
        """
        KEY UPDATE t
          key: id = :id
          set: a = 5, s = :s
        """,
    ),
    (
        "explain delete from events where at = 5",
        """
        DELETE FROM events
          ENGINE
            sql: SELECT "events"."__row_address" FROM "__scan_0" AS "events" WHERE "at" = 5
            SCAN events (__scan_0)
              tablets: 4 of 48
              pushed: at = 5
              columns: at, row addresses
        """,
    ),
    (
        "explain select count(*) from events where at in (5, 105, 205, 305) and host = ?",
        """
        ENGINE
          sql: SELECT COUNT(*) FROM "__scan_0" AS "events" WHERE "at" IN (5, 105, 205, 305) AND "host" = $1
          not used: the scan counts the rows if it compares the parameters exactly
          SCAN events (__scan_0)
            tablets: up to 48 of 48, known when the parameters are
            pushed: at IN (5, 105, 205, 305) AND host = ?1
            columns: host, at
        """,
    ),
    ("explain create table x (a int primary key) partition by hash partitions 3", "CREATE TABLE x: 3 tablets"),
    ("explain insert into t (id, a) values (1, 2), (3, 4)", "INSERT INTO t\n  columns: id, a\n  VALUES: 2 rows"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), GOLDENS)
def test_a_plan_prints_as_a_tree(context: PlanContext, sql: str, expected: str) -> None:
    assert "\n".join(explain(plan(sql, context))) == textwrap.dedent(expected).strip()


def test_facts_of_the_caller_are_told(context: PlanContext) -> None:
    planned = plan("explain analyze select at from events where host = ? and at < 100", context)
    facts = ExplainFacts(
        parameters=("a",),
        scans={"__scan_0": ScanFacts(rowsets=7, rowsets_read=2, rows=5, seconds=0.0015)},
        rows=5,
        seconds=0.002,
    )
    lines = "\n".join(explain(planned, facts))
    assert "tablets: 1 of 48" in lines
    assert "rowsets: 2 of 7" in lines
    assert "returned: 5 rows in 1.5 ms" in lines
    assert lines.endswith("total: 5 rows in 2.0 ms")
    assert explain(planned, ExplainFacts(rows=1, seconds=0.002))[-1] == "total: 1 row in 2.0 ms"
