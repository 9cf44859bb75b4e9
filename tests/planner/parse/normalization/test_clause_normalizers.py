"""Clauses of a query mean to the engine what they mean as written, or are refused."""

import pytest

from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.parse.normalization.clause_normalizers import CLAUSE_NORMALIZERS
from pykudu_sql.storage.errors import NotSupportedError
from tests.planner.parse.normalization.statements import assert_refused, normalized


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("1 limit all", "1"),
        ("1 limit 2", "1 LIMIT 2"),
        ("1 limit 2 rows", "1 LIMIT 2"),
        ("1 limit (select a from t)", "1 LIMIT (SELECT a FROM t)"),
        ("* from (values (1, 2), (3, 4))", "* FROM (VALUES (1, 2), (3, 4))"),
        (
            "1 window w as (partition by a) order by sum(b) over w, sum(b) over (w order by c)",
            "1 WINDOW w AS (PARTITION BY a) ORDER BY SUM(b) OVER (PARTITION BY a), "
            "SUM(b) OVER (PARTITION BY a ORDER BY c)",
        ),
    ],
)
def test_a_clause_is_written_so_that_the_engine_reads_it_alike(written: str, normal: str) -> None:
    assert normalized(written, CLAUSE_NORMALIZERS) == normal


@pytest.mark.parametrize(
    ("written", "sqlstate", "message", "under"),
    [
        ("1 limit -3", "2201W", "LIMIT -3 is negative", "3"),
        ("1 offset -3", "2201X", "OFFSET -3 is negative", "3"),
        ("a from t limit a + 1", "42P10", "LIMIT takes a number and no column", "a + 1"),
        ("a from t offset 1 + t.b", "42P10", "OFFSET takes a number and no column", "b"),
        ("* from (values (1, 2), (3))", "42601", "VALUES has 1 value where the first has 2", "3"),
        ("* from (values ('a'), (3, x))", "42601", "2 values where the first has 1", "3, x"),
        (
            "* from (with w as (select 1), W as (table t) table w)",
            "42712",
            "two queries of WITH have the name 'W'",
            "W as",
        ),
        ("* from ?", "42601", "a parameter cannot be a table", "?"),
    ],
)
def test_a_clause_that_is_not_offered_is_refused_with_its_place(
    written: str, sqlstate: str, message: str, under: str
) -> None:
    assert_refused(written, CLAUSE_NORMALIZERS, sqlstate, message, under)


@pytest.mark.parametrize("clause", ["ORDER BY", "LIMIT", "OFFSET"])
def test_modifiers_of_a_query_that_reads_itself_are_refused(clause: str) -> None:
    sql = f"WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r {clause} 1) SELECT 1"
    with pytest.raises(NotSupportedError, match=f"{clause} of recursive query 'r'") as caught:
        parse(sql)
    assert caught.value.span is not None
    assert caught.value.span.start == sql.index("r AS")


def test_another_query_with_modifiers_becomes_a_subquery() -> None:
    union = "SELECT 1 AS x UNION SELECT 2 ORDER BY x LIMIT 1"
    tree = parse(f"WITH RECURSIVE q(y) AS ({union}) SELECT y FROM q")
    assert "FROM (SELECT 1 AS" in printed(tree)


def test_a_recursive_query_without_modifiers_stays_as_it_is() -> None:
    sql = "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 3) TABLE r"
    assert "FROM (" not in printed(parse(sql))
