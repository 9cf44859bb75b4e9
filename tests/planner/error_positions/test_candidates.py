"""An error stands at the one node that its message can be about."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.error_positions.candidates import (
    candidate_table,
    only_span,
    span_of_candidate,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import nodes_of

TABLE = candidate_table(
    ("no column", lambda _match, tree: nodes_of(tree, exp.Column)),
    (
        "no (?P<name>.+)",
        lambda match, tree: [n for n in nodes_of(tree, exp.Literal) if n.name == match["name"]],
    ),
)


@pytest.mark.parametrize(
    ("message", "start"),
    [("no column fits", 7), ("no 1", 11), ("no 2", None), ("nothing", None)],
)
def test_the_first_pattern_that_begins_the_message_counts(message: str, start: int | None) -> None:
    span = span_of_candidate(TABLE, message, parse("SELECT a + 1"))
    assert (None if span is None else span.start) == start


def test_of_several_nodes_none_is_meant() -> None:
    assert only_span(nodes_of(parse("SELECT a, b"), exp.Column)) is None
