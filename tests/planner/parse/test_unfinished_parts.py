"""A statement that lacks a part is refused where the part is missing, and not guessed at."""

import pytest

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.unfinished_parts import check_finished
from pykudu_sql.storage.errors import SyntaxError


@pytest.mark.parametrize(
    ("sql", "place", "hint"),
    [
        ("VALUES (1, 2) |3, 4)", "(", "VALUES (1, 2), (3, 4)"),
        ("VALUES (1, 2) |a, b)", "(", "AS v"),
        ("VALUES (1, 2) v (|3, 4)", "", "AS v"),
        ("VALUES (14, 'a' |b)", "", "a comma is missing"),
        ("SELECT * FROM s LEFT JOIN t |ON", "", "a condition is expected"),
        ("SELECT * FROM s JOIN t |ON WHERE s.a = 1", "", "a condition is expected"),
        ("SELECT * FROM (SELECT * FROM s JOIN t |ON) AS x", "", "a condition is expected"),
        ("SELECT * FROM s JOIN t |ON LEFT JOIN u ON true", "", "a condition is expected"),
        ("SELECT * FROM s |OUTER JOIN t", "", "LEFT, RIGHT or FULL"),
        ("SELECT * FROM s |OUTER JOIN t ON s.a = t.a", "", "LEFT, RIGHT or FULL"),
        ("SELECT * FROM s WHERE a IN ('x' |'y')", "", "a comma is missing"),
        ("SELECT 'x' |'y' FROM s", "", "||"),
        ("SELECT * FROM s |AS", "", "a name is expected"),
        ("SELECT a |AS, b FROM s", "", "a name is expected"),
        ("SELECT * FROM (SELECT a FROM s |AS) AS x", "", "a name is expected"),
        ("UPDATE s WHERE a = 1 |SET b = 2", "", "SET stands before WHERE"),
        ("SELECT sum(a) OVER (ORDER BY a |ROWS BETWEEN 1 PRECEDING) FROM s", "", "AND CURRENT ROW"),
        ("SELECT sum(a) OVER (|RANGE BETWEEN 1 PRECEDING AND) FROM s", "", "AND CURRENT ROW"),
    ],
)
def test_what_is_missing_is_an_error_with_its_place(sql: str, place: str, hint: str) -> None:
    with pytest.raises(SyntaxError) as refused:
        parse(sql.replace("|", place))
    error = refused.value
    assert error.hint is not None and hint in error.hint
    assert error.span is not None and error.span.start == sql.index("|") + len(place)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM (VALUES (1, 2), (3, 4)) AS v (a, b)",
        "SELECT * FROM (VALUES (1, 2)) v (a, b)",
        "SELECT a FROM (VALUES (1 AS a, 2 AS b), (3, 4)) t",
        "SELECT * FROM s FULL OUTER JOIN t ON s.a = t.a LEFT OUTER JOIN u USING (a)",
        "SELECT * FROM s CROSS JOIN t JOIN u",
        "SELECT DISTINCT ON (a) a FROM s",
        "SELECT a AS left, b AS right, c AS full, d AS limit, e AS where, 1 AS join FROM s",
        "SELECT * FROM s JOIN t ON left(s.a, 1) = t.a JOIN u ON right(s.a, 1) = u.a",
        "SELECT * FROM s JOIN t ON (s.a = t.a) LEFT JOIN u ON NOT true",
        "SELECT 'x'\n'y', 'x' -- c\n 'y', date '2020-01-01', INTERVAL '1' DAY",
        "SELECT a LIKE 'x' ESCAPE 'y', CASE 'x' WHEN 'y' THEN 'z' ELSE 'x' END FROM s",
        "SELECT a FROM s WHERE a BETWEEN 1 AND 2",
        "SELECT sum(a) OVER (ROWS BETWEEN 1 + (2) PRECEDING AND CURRENT ROW) FROM s",
        "SELECT rows BETWEEN 1 AND 2 FROM s",
        "UPDATE s SET a = (SELECT b FROM t WHERE c = 1) WHERE a = 1",
        "WITH x AS (SELECT 1) UPDATE s SET a = 1 WHERE a IN (SELECT * FROM x WHERE true)",
        'SELECT t."on", t."as" FROM t',
    ],
)
def test_whole_statements_pass(sql: str) -> None:
    assert parse(sql)


def test_nothing_is_looked_for_where_no_word_asks_for_it() -> None:
    check_finished(parse("SELECT a FROM s"), [], "SELECT a FROM s")
