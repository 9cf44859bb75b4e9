"""EXPLAIN (FORMAT JSON): which facts it has, and that what is not known is left out."""

import json
from typing import Any

from pykudu_sql.planner.explain.explain import (
    NO_FACTS,
    EngineFacts,
    ExplainFacts,
    ScanFacts,
)
from pykudu_sql.planner.explain.explain_json import explain_json
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan


def document(sql: str, context: PlanContext, facts: ExplainFacts = NO_FACTS) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(explain_json(plan(sql, context), facts))
    return described


def test_a_scan_says_what_is_read_and_leaves_out_what_is_not_known(context: PlanContext) -> None:
    described = document("explain select value from events where host = ?", context)
    assert described["operator"] == "ENGINE"
    assert described["sql"].startswith('SELECT "value"')
    assert described["scans"] == [
        {
            "table": "events",
            "name": "__scan_0",
            "columns": ["host", "value"],
            "tablets": 48,
            "pushed": "host = ?1",
        }
    ]
    assert "rows" not in described and "milliseconds" not in described


def test_parameters_tell_how_many_tablets_are_read(context: PlanContext) -> None:
    facts = ExplainFacts(parameters=("a",))
    (scan,) = document("select value from events where host = ?", context, facts)["scans"]
    assert (scan["tablets"], scan["tablets_read"]) == (48, 12)


def test_what_was_measured_stands_beside_the_scan_and_the_whole(context: PlanContext) -> None:
    facts = ExplainFacts(
        scans={"__scan_0": ScanFacts(rowsets=7, rowsets_read=2, rows=5, seconds=0.0015)},
        rows=3,
        seconds=0.0000004,
    )
    described = document("select a from t where b > 1", context, facts)
    (scan,) = described["scans"]
    assert (scan["rowsets"], scan["rowsets_in_key_range"]) == (7, 2)
    assert (scan["rows"], scan["milliseconds"]) == (5, 1.5)
    assert (described["rows"], described["milliseconds"]) == (3, 0.0)


def test_limit_order_and_moment_of_a_scan_are_shown(context: PlanContext) -> None:
    (limited,) = document("select id from t order by id limit 3", context)["scans"]
    assert (limited["limit"], limited["order"]) == (3, "key")
    (past,) = document("select id from t as of '2023-01-01'", context)["scans"]
    assert past["as_of"] == (1_672_531_200_000_000 + 1 << 12) - 1


def test_a_session_with_spark_tells_the_engine_and_why_it_is_not_spark(
    context: PlanContext,
) -> None:
    facts = ExplainFacts(engine=EngineFacts("duckdb", "SELECT 1", "too small"))
    described = document("select a from t", context, facts)
    assert (described["engine"], described["engine_sql"]) == ("duckdb", "SELECT 1")
    assert described["not_on_spark"] == "too small"
    on_spark = ExplainFacts(engine=EngineFacts("spark", "SELECT 1", None))
    assert "not_on_spark" not in document("select a from t", context, on_spark)


def test_a_statement_without_rows_is_its_head_and_no_scans(context: PlanContext) -> None:
    described = document("explain drop table if exists `größe`", context)
    assert described == {"operator": "DROP TABLE größe", "scans": []}


def test_passes_come_with_their_names_if_they_are_requested(context: PlanContext) -> None:
    passes = document("explain (passes) select a from t where a > 1", context)["passes"]
    assert "push_down_predicates" in [each["name"] for each in passes]
    assert "passes" not in document("explain select a from t where a > 1", context)
