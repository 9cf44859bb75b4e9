"""EXPLAIN drawn as a tree: the statement that asks for it, and the picture."""

from typing import Any

import pytest

from pykudu_sql.shell.editing.explain_json import explain_as_json
from pykudu_sql.shell.output.display import width
from pykudu_sql.shell.output.drawings.plan_tree import draw_plan
from pykudu_sql.shell.output.spans import text_of
from tests.shell.terminal import Terminal, prompts

PLAN: dict[str, Any] = {
    "operators": {
        "name": "HASH_JOIN",
        "details": {"Join Type": "INNER", "Conditions": "customer_id = id"},
        "estimated_rows": 1000,
        "inputs": [
            {
                "name": "FILTER",
                "details": {"Expression": "(amount > 5)"},
                "estimated_rows": 200,
                "inputs": [{"name": "PYTHON_ARROW_SCAN", "scan": "s0", "estimated_rows": 5000}],
            },
            {"name": "PYTHON_ARROW_SCAN", "scan": "s1", "estimated_rows": 7},
        ],
    },
    "scans": [
        {
            "name": "s0", "table": "orders", "tablets": 4, "tablets_read": 2, "rowsets": 9,
            "rowsets_in_key_range": 3, "pushed": "amount > 5", "columns": ["customer_id", "amount"],
        },
        {"name": "s1", "table": "customers", "columns": ["id"]},
    ],
}  # fmt: skip


def drawn(plan: dict[str, Any], columns: int | None) -> list[str]:
    return [text_of(line).rstrip() for line in draw_plan(plan, columns)]


def test_a_tree_has_an_operator_a_line_and_what_it_takes_below() -> None:
    assert drawn(PLAN, 60) == [
        "                                         expected",
        "HASH JOIN INNER                             1,000",
        "│  customer_id = id",
        "├─ FILTER                                     200",
        "│  │  (amount > 5)",
        "│  └─ SCAN orders                           5,000",
        "│        where amount > 5",
        "│        tablets 2 of 4, rowsets 3 of 9",
        "│        columns customer_id, amount",
        "└─ SCAN customers                               7",
        "      columns id",
    ]


def test_what_was_measured_stands_beside_what_was_expected() -> None:
    root = {"name": "LIMIT", "estimated_rows": 5, "rows": 5, "milliseconds": 0.2}
    scan = {"name": "ARROW_SCAN", "scan": "s", "estimated_rows": 9, "milliseconds": 1.0}
    plan = {
        "operators": {**root, "inputs": [scan]},
        "scans": [{"name": "s", "table": "t", "rows": 9000, "milliseconds": 11.04}],
        "rows": 5,
        "milliseconds": 13.5,
    }
    lines = drawn(plan, 80)
    assert lines[0].split() == ["expected", "rows", "time"]
    assert lines[1].split() == ["LIMIT", "5", "5", "0.2", "ms"]
    assert lines[2].split() == ["└─", "SCAN", "t", "9", "9,000", "12.0", "ms"]
    assert lines[3] == "5 rows in 13.5 ms"


@pytest.mark.parametrize("columns", [50, 60, 80, 120])
def test_long_texts_are_folded_to_the_width(columns: int) -> None:
    scans = [{**PLAN["scans"][0], "pushed": " OR ".join(f"amount = {i}" for i in range(50))}]
    lines = drawn({**PLAN, "scans": [*scans, PLAN["scans"][1]]}, columns)
    assert max(map(width, lines)) < columns
    assert sum("amount = " in line for line in lines) == 3


def test_names_cannot_act_on_the_terminal() -> None:
    scans = [{**scan, "table": "a\x1b[31mb"} for scan in PLAN["scans"]]
    assert any("a\\x1b[31mb" in line for line in drawn({**PLAN, "scans": scans}, 80))


@pytest.mark.parametrize(
    ("sql", "asked"),
    [
        ("EXPLAIN SELECT 1", "EXPLAIN (FORMAT JSON) SELECT 1"),
        (" explain -- why\n select 1", "EXPLAIN (FORMAT JSON) select 1"),
        ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1"),
        (
            "EXPLAIN WITH q AS (SELECT 1) FROM q",
            "EXPLAIN (FORMAT JSON) WITH q AS (SELECT 1) FROM q",
        ),
        ("EXPLAIN (PASSES) SELECT 1", None),
        ("EXPLAIN INSERT INTO t SELECT 1", None),
        ("EXPLAIN ANALYZE WITH q AS (SELECT 1) DELETE FROM t", None),
        ("EXPLAIN", None),
        ("SELECT 'EXPLAIN'", None),
    ],
)
def test_only_plans_of_queries_are_asked_for_as_json(sql: str, asked: str | None) -> None:
    assert explain_as_json(sql) == asked


def test_a_terminal_shows_the_tree_and_the_error_of_the_statement_as_typed(
    terminal: Terminal,
) -> None:
    terminal.line("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING);")
    terminal.wait(prompts(2))
    terminal.line("EXPLAIN ANALYZE SELECT a.v FROM t a JOIN t b USING (id) WHERE a.id < 7;")
    shown = terminal.answer("Plan in ")
    assert "HASH JOIN INNER" in shown and "SCAN t" in shown and "where id <= 6" in shown
    terminal.line("EXPLAIN SELECT nope FROM t;")
    shown = terminal.answer("ERROR 42703")
    assert "LINE 1: EXPLAIN SELECT nope FROM t" in shown
