"""Checks of what is in memory together are told their number, and no copies of constants count."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.checks_together import COUNTED
from pykudu_sql.planner.value_bounds.value_bounds import bound_values

LARGE = "repeat('a', 1000000)"


@pytest.mark.parametrize(
    ("query", "count"),
    [
        (f"SELECT {LARGE}", 1),
        (f"SELECT {LARGE}, {LARGE}", 2),
        (f"SELECT upper({LARGE})", 2),
        (f"SELECT {LARGE} || (i % 7) FROM t", 2),
        (f"SELECT concat({LARGE}, i, {LARGE}) FROM t", 3),
        ("SELECT repeat(repeat(x, i), i) FROM t", 2),
    ],
)
def test_checks_are_told_how_many_there_are(query: str, count: int) -> None:
    tree = bound_values(parse(query))
    checks = [call for call in nodes_of(tree, exp.Anonymous) if call.name in COUNTED]
    assert {call.expressions[-1].name for call in checks} == {str(count)}
