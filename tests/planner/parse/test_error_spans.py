"""Errors of planning leave with their place in the statement, whoever raised them."""

from pathlib import Path

import pytest

import pykudu_sql.planner
from pykudu_sql.planner.parse.error_spans import errors_at, errors_located, spans_dropped
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.query.row_condition import plan_condition
from pykudu_sql.storage.errors import Error, SourcePosition, SourceSpan


def test_an_error_with_a_span_leaves_with_its_place() -> None:
    with pytest.raises(Error) as caught, errors_located("SELECT\n  abc"):
        raise Error("no", span=SourceSpan(9, 3))
    assert caught.value.position == SourcePosition(2, 3, "  abc", 3)
    assert caught.value.span is None


def test_an_error_behind_the_text_shows_its_end() -> None:
    with pytest.raises(Error) as caught, errors_located("SELECT 1"):
        raise Error("no", span=SourceSpan(90))
    assert caught.value.position == SourcePosition(1, 9, "SELECT 1", 1)


def test_an_error_of_a_text_that_nobody_wrote_has_no_place() -> None:
    with pytest.raises(Error) as caught, errors_located("SUMMARIZE t"), spans_dropped():
        raise Error("no", span=SourceSpan(9, 3))
    assert caught.value.position is None


def test_an_error_without_a_place_gets_that_of_what_it_is_about() -> None:
    for span, expected in ((None, SourceSpan(7)), (SourceSpan(3), SourceSpan(3))):
        with pytest.raises(Error) as caught, errors_at(SourceSpan(7)):
            raise Error("no", span=span)
        assert caught.value.span == expected


def test_one_module_makes_places_of_spans() -> None:
    root = Path(pykudu_sql.planner.__path__[0])
    makers = [path.name for path in root.rglob("*.py") if "SourcePosition(" in path.read_text()]
    assert makers == ["error_spans.py"]


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
        ("SELECT nosuch(1)", 8),
        ("SELECT CAST(1 AS nosuch)", 18),
        ("SELECT INTERVAL 1 fortnight", 19),
        ("SELECT 1 FROM t AS OF SNAPSHOT nosuch", 32),
        ("EXPLAIN SELECT nosuch FROM t", 16),
        ("SUMMARIZE nosuch", 11),
        ("INSERT INTO t (id, nosuch) VALUES (1, 2)", 20),
        ("INSERT INTO t (id) VALUES (1, 2)", 27),
        ("INSERT INTO t VALUES (1 + nosuch)", 27),
        ("INSERT INTO t (id) VALUES (1) ON CONFLICT DO UPDATE SET nosuch = 1", 57),
        ("DELETE FROM t WHERE id = 1 RETURNING nosuch", 38),
        ("UPDATE t SET a = 1 RETURNING x.a", 30),
        ("UPDATE t SET nosuch = 1", 14),
        ("MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET nosuch = 1", 66),
        ("CREATE TABLE n (id BIGINT PRIMARY KEY, x nosuch)", 42),
        ("CREATE TABLE n (id BIGINT PRIMARY KEY DEFAULT nosuch(1))", 47),
        ("CREATE TABLE n (id BIGINT PRIMARY KEY DEFAULT 1 +)", 49),
        ("ALTER TABLE t DROP COLUMN nosuch", 15),
        ("DROP TABLE nosuch", 12),
        ("CREATE INDEX i ON nosuch (a)", 19),
        ("SHOW COLUMNS FROM nosuch", 19),
        ("SELECT 'abc", 8),
        ("FLUSH t; SELECT 1", 10),
    ],
)
def test_errors_show_their_places(sql: str, column: int, context: PlanContext) -> None:
    with pytest.raises(Error) as caught:
        plan(sql, context)
    position = caught.value.position
    assert position is not None and (position.column, position.text) == (column, sql)
    assert caught.value.span is None


def test_an_error_of_a_statement_whose_words_were_blanked_shows_it_as_written(
    context: PlanContext,
) -> None:
    sql = "UPDATE IGNORE t SET nosuch = 1"
    with pytest.raises(Error) as caught:
        plan(sql, context)
    assert caught.value.position == SourcePosition(1, 21, sql, 6)


def test_an_error_of_a_condition_shows_its_place_in_the_condition(context: PlanContext) -> None:
    with pytest.raises(Error) as caught:
        plan_condition("a > 1\n AND nosuch > 2", "t", ["id"], context)
    assert caught.value.position == SourcePosition(2, 6, " AND nosuch > 2", 6)
