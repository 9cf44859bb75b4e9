"""Errors of nodes get their places in the statement once its text is at hand."""

import pytest

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_spans import errors_located, node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import Error, SourcePosition, SourceSpan


def test_a_node_has_the_span_of_its_name_and_a_made_one_has_none() -> None:
    tree = parse("SELECT abc FROM t")
    (column,) = tree.expressions
    assert node_span(column) == SourceSpan(7, 3)
    assert node_span(tree) is None


def test_an_error_with_a_span_leaves_with_its_place() -> None:
    with pytest.raises(Error) as caught, errors_located("SELECT\n  abc"):
        raise Error("no", position=SourceSpan(9, 3))
    assert caught.value.position == SourcePosition(2, 3, "  abc", 3)
    assert caught.value.span is None


def test_an_error_with_a_place_keeps_it() -> None:
    place = SourcePosition(1, 1, "x")
    with pytest.raises(Error) as caught, errors_located("SELECT 1"):
        raise Error("no", position=place)
    assert caught.value.position is place


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SELECT nosuch FROM t", 8),
        ("SELECT x.a FROM t", 8),
        ("SELECT id FROM t JOIN u ON true", 8),
        ("SELECT * EXCLUDE (nosuch) FROM t", 19),
        ("SELECT (SELECT 1 ORDER BY 1 UNION SELECT 2)", 27),
        ("SELECT 1 FROM t, t", 18),
        ("SELECT (1, 2) = (1, 2, 3)", 9),
        ("DELETE FROM t WHERE id = 1 RETURNING nosuch", 38),
        ("UPDATE t SET a = 1 RETURNING x.a", 30),
    ],
)
def test_errors_of_binding_show_their_places(sql: str, column: int, context: PlanContext) -> None:
    with pytest.raises(Error) as caught:
        plan(sql, context)
    position = caught.value.position
    assert position is not None and position.column == column
    assert caught.value.span is None
