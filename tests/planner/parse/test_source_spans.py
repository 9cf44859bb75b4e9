"""Nodes have the span of the statement that they were parsed from."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import SourceSpan


def entry_span(sql: str) -> str:
    """What of a statement the one entry of its SELECT list spans."""
    (entry,) = parse(sql).expressions
    span = node_span(entry)
    assert span is not None
    return sql[span.start : span.start + span.length]


def test_a_node_has_the_span_of_its_name_and_a_made_one_has_none() -> None:
    tree = parse("SELECT abc FROM t")
    (column,) = tree.expressions
    assert node_span(column) == SourceSpan(7, 3)
    assert node_span(exp.column("abc")) is None


@pytest.mark.parametrize("entry", ["1 + 'a'", "a * b - c", "a LIKE 'x'", "t.a = u.b"])
def test_what_is_made_of_others_spans_from_the_first_to_the_last(entry: str) -> None:
    assert entry_span(f"SELECT {entry} FROM t") == entry


@pytest.mark.parametrize("entry", ["-1", "- 1", "-a", "- -a", "~a", "NOT a", "-  -1"])
def test_a_sign_belongs_to_the_span_of_what_it_stands_before(entry: str) -> None:
    assert entry_span(f"SELECT {entry} FROM t") == entry


@pytest.mark.parametrize(
    ("entry", "span"), [("5 - 6", "5 - 6"), ("-(5)", "-(5"), ("5-(-a)", "5-(-a")]
)
def test_an_operator_between_operands_is_no_sign(entry: str, span: str) -> None:
    assert entry_span(f"SELECT {entry} FROM t") == span
