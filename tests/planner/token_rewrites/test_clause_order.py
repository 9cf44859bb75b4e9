"""Clauses stand in the order of SQL; words that are names of columns are no clauses."""

import pytest

from pykudu_sql.planner.parse.dialect import Kudu, parse
from pykudu_sql.planner.token_rewrites.clause_order import check_clause_order
from pykudu_sql.storage.errors import SyntaxError

_CLAUSES = (
    "WHERE a > 1",
    "GROUP BY a",
    "HAVING count(*) > 1",
    "WINDOW w AS (ORDER BY a)",
    "ORDER BY a",
    "LIMIT 1",
)


@pytest.mark.parametrize("later", range(1, len(_CLAUSES)))
@pytest.mark.parametrize("earlier", range(len(_CLAUSES) - 1))
def test_two_clauses_stand_in_one_order_only(earlier: int, later: int) -> None:
    if earlier >= later:
        return
    first, second = _CLAUSES[earlier], _CLAUSES[later]
    parse(f"SELECT a FROM t {first} {second}")
    swapped = f"SELECT a FROM (SELECT a FROM t {second} {first}) s WHERE a = 1"
    with pytest.raises(SyntaxError, match="syntax error at or near") as caught:
        parse(swapped)
    assert caught.value.span is not None
    assert caught.value.span.start == swapped.index(first)
    assert f"{first.split()[0]}" in (caught.value.hint or "")
    assert "stands before" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT * FROM t WHERE a = 1 JOIN u USING (a)", "JOIN"),
        ("SELECT * FROM t WHERE a = 1, u", ","),
        ("SELECT * FROM t OFFSET 1 WHERE a = 1", "WHERE"),
        ("SELECT * FROM t FETCH FIRST 1 ROW ONLY WHERE a = 1", "WHERE"),
        ("SELECT * FROM t QUALIFY row_number() OVER (ORDER BY a) = 1 GROUP BY a", "GROUP BY"),
        ("SELECT a FROM t UNION SELECT a FROM t ORDER BY a WHERE a = 1", "WHERE"),
        ("UPDATE t SET a = 1 RETURNING a WHERE a = 1", "WHERE"),
        ("UPDATE t SET a = 1 WHERE a = 1 FROM u", "FROM u"),
        ("SELECT * FROM t LIMIT :n WHERE a = 1", "WHERE"),
        ("SELECT * FROM t LIMIT ? WHERE a = 1", "WHERE"),
    ],
)
def test_what_stands_too_late_is_refused_at_its_place(sql: str, word: str) -> None:
    with pytest.raises(SyntaxError, match="syntax error") as caught:
        parse(sql)
    assert caught.value.span is not None
    assert caught.value.span.start == sql.rindex(word)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT limit, t.offset FROM t WHERE offset > 1 AND limit IN (1) ORDER BY limit LIMIT 2",
        "SELECT a AS having, window FROM t WHERE a IS DISTINCT FROM b GROUP BY ALL",
        "SELECT a IS NOT DISTINCT FROM b FROM t JOIN u USING (a) WHERE a = 1",
        "SELECT * EXCEPT (a) FROM t WHERE extract(year FROM d) > 2000 OFFSET 1 LIMIT 2",
        "SELECT sum(a) FILTER (WHERE a > 1) OVER (ORDER BY a) FROM t WHERE a > 1",
        "SELECT (SELECT a FROM t ORDER BY a LIMIT 1) FROM t, u WHERE a = (SELECT 1 LIMIT 1)",
        "SELECT CASE WHEN a THEN 1 END FROM t WHERE a = 1 UNION SELECT b FROM t WHERE b = 1",
        "FROM t SELECT a WHERE a = 1",
        "WITH x AS (SELECT a FROM t LIMIT 1), y AS (SELECT 1) SELECT a FROM x WHERE a = 1",
        "UPDATE t SET a = 1 FROM u JOIN v USING (a) WHERE t.a = u.a RETURNING a",
        "SELECT list(a ORDER BY a LIMIT 2) FROM t WHERE a = 1",
        "SELECT [x FOR x IN a IF x > 1] FROM t WHERE a = 1",
    ],
)
def test_clauses_in_order_and_names_pass(sql: str) -> None:
    check_clause_order(Kudu().tokenize(sql))
