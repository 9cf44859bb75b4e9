"""Nodes have the span of the statement that they were parsed from."""

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import SourceSpan


def test_a_node_has_the_span_of_its_name_and_a_made_one_has_none() -> None:
    tree = parse("SELECT abc FROM t")
    (column,) = tree.expressions
    assert node_span(column) == SourceSpan(7, 3)
    assert node_span(tree) is None
