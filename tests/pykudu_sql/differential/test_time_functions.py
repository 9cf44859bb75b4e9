"""Conditions on functions of times keep the rows that DuckDB keeps, which evaluates them on each.

The first query is answered by the scan where that decides the condition, the second by the engine
over the rows of the scan.
"""

from typing import Any

import duckdb
import pytest

import pykudu_sql
from tests.pykudu_sql.differential.time_functions import COLUMNS, TimeConditions

QUERIES = ("SELECT count(*) FROM t WHERE {}", "SELECT count(*), sum(id) FROM t WHERE {}")


def answer(connection: Any, query: str, values: list[Any]) -> Any:
    """The rows, or that an error is raised."""
    try:
        return connection.execute(query, values).fetchall()
    except (duckdb.Error, pykudu_sql.Error):
        return "error"


@pytest.mark.parametrize("seed", range(3))
def test_conditions_on_functions_of_times_are_those_of_duckdb(seed: int) -> None:
    draw = TimeConditions(seed)
    rows = f"INSERT INTO t SELECT * FROM (VALUES {draw.rows(300)}) AS v (a, b, c, d)"
    differences, decided = [], 0
    with pykudu_sql.connect(":memory:") as ours, duckdb.connect() as theirs:
        theirs.execute("SET TimeZone = 'UTC'")
        theirs.execute("PRAGMA disable_optimizer")
        for connection in (ours, theirs):
            connection.execute(f"CREATE TABLE t ({COLUMNS})")
            connection.execute(rows)
        for _ in range(60):
            condition, values = draw.condition()
            plan = str(ours.execute(f"EXPLAIN {QUERIES[0].format(condition)}", values).fetchall())
            decided += "the scan counts" in plan
            for query in (each.format(condition) for each in QUERIES):
                pair = answer(ours, query, values), answer(theirs, query, values)
                if pair[0] != pair[1]:
                    differences.append((query, values, *pair))
    assert differences == []
    assert decided > 30
