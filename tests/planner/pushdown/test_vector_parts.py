"""Queries whose calls get few rows at once answer as they are written."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql.executor.reading import engine_runs
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.pushdown.vector_parts import in_parts

PARTS = 16
CUT = '"__part"'


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    opened = pykudu_sql.connect(":memory:", autocommit=True)
    for name, column, rows in (("w", "x", 50), ("v", "y", 30)):
        opened.execute(f"CREATE TABLE {name} (k INT PRIMARY KEY, {column} STRING)")
        opened.execute(f"INSERT INTO {name} SELECT range, 'b' || (range % 7) FROM range({rows})")
    yield opened
    opened.close()


# Each with a subquery of which the engine makes a join, as it names rows around it.
OF_ROWS_AROUND = [
    "SELECT w.k, l.z FROM w, LATERAL (SELECT upper(w.x || b.y) AS z FROM v b) l",
    "SELECT w.k, l.z FROM w, LATERAL (SELECT upper(w.x || b.y) AS z FROM v b WHERE b.k < w.k "
    "ORDER BY b.k DESC LIMIT 1) l",
    "SELECT w.k, l.z FROM w LEFT JOIN LATERAL (SELECT upper(w.x || b.y) AS z FROM v b "
    "WHERE b.k = w.k) l ON true",
    "SELECT w.k, l.z, m.z FROM w, LATERAL (SELECT upper(w.x || b.y) AS z FROM v b WHERE b.k < 3) "
    "l, LATERAL (SELECT upper(l.z || c.y) AS z FROM v c WHERE c.k = w.k) m",
    "SELECT w.k, l.z FROM w, LATERAL (SELECT upper(w.x || q.y) AS z FROM (SELECT y, k FROM v "
    "WHERE v.k < w.k) q) l",
    "SELECT w.k, l.z FROM w, LATERAL (SELECT upper(w.x || u.item) AS z FROM "
    "unnest([w.x, 'b']) WITH ORDINALITY AS u(item, place) WHERE u.place > 1) l",
    "SELECT w.k, l.z FROM w, LATERAL (SELECT upper(w.x || y) AS z FROM v UNION ALL "
    "SELECT lower(w.x || y) FROM v) l",
    "SELECT k, (SELECT max(upper(b.y || w.x)) FROM v b WHERE b.k % 9 = w.k % 9) FROM w",
    "SELECT k, (SELECT max(upper(b.y || w.x)) || w.x FROM v b WHERE b.k % 9 = w.k % 9) FROM w",
    "SELECT k, (SELECT upper(w.x) || b.y FROM v b WHERE b.k = w.k GROUP BY b.y) FROM w",
    "SELECT k, (SELECT max(upper(w.x || b.y)) FROM v b GROUP BY b.k % 2 "
    "HAVING max(b.y || w.x) > 'b6b6' ORDER BY 1 LIMIT 1) FROM w",
    "SELECT k, (SELECT upper(b.y || w.x) FROM v b WHERE b.k = w.k) FROM w",
    "SELECT k, (SELECT string_agg(upper(b.y || w.x), ',' ORDER BY b.k) FROM v b "
    "WHERE b.k < w.k) FROM w",
    "SELECT k, (SELECT histogram(upper(w.x || b.y)) FROM v b WHERE b.k < w.k) FROM w",
    "SELECT k, (SELECT sum(length(upper(w.x || b.y))) OVER () FROM v b WHERE b.k = w.k) FROM w",
    "SELECT k, (SELECT max((SELECT max(upper(c.y || b.y || w.x)) FROM v c WHERE c.k < b.k)) "
    "FROM v b WHERE b.k < w.k) FROM w",
    "SELECT k, (SELECT max(upper(a.x || w.x)) FROM w a, v b WHERE b.k = w.k) FROM w",
    "SELECT k, (SELECT max(upper(c.y || d.y || w.x)) FROM v c JOIN v d ON c.k = d.k "
    "AND c.k < w.k) FROM w",
    "SELECT k, upper(x || (SELECT max(b.y) FROM v b WHERE b.k < w.k)) FROM w",
    "SELECT k FROM w WHERE EXISTS (SELECT 1 FROM v b WHERE upper(b.y || w.x) = 'B4B4')",
    "SELECT k FROM w WHERE upper(x) NOT IN (SELECT upper(substr(b.y || w.x, 1, 2)) FROM v b "
    "WHERE b.k < w.k)",
]
# Each with wide columns that rows of a join share.
OF_SHARED_VALUES = [
    "SELECT a.x, b.y FROM w a JOIN v b ON a.k = b.k",
    "SELECT * FROM w a JOIN v b ON a.k % 3 = b.k % 4",
    "SELECT * FROM w a NATURAL JOIN v b",
    "SELECT w.*, v.* FROM w JOIN v USING (k)",
    "SELECT a.*, a.* FROM w a, v b",
    "SELECT x, y, k FROM w FULL JOIN v USING (k)",
    "SELECT x AS a, x AS b, y FROM w, v WHERE v.k < 4",
    "SELECT x FROM w UNION ALL SELECT y FROM v, range(3)",
    "WITH c AS (SELECT x, y FROM w, v) SELECT * FROM c",
    "SELECT x, unnest([1, 2]) FROM w, v",
    "SELECT x, r FROM w, range(3) t(r)",
    "SELECT a.x, EXISTS (SELECT 1 FROM v b WHERE b.k = a.k AND b.y = a.x) FROM w a",
]


def rows_of(connection: pykudu_sql.Connection, query: str) -> list[str]:
    return sorted(map(repr, connection.execute(query).fetchall()))


@pytest.fixture
def engine_sql(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What engines get from here on, of rows that all count as wide."""
    given: list[str] = []
    printed = engine_runs.to_sql
    monkeypatch.setattr(engine_runs, "pieces", lambda width, size: PARTS)

    def note(tree: object) -> str:
        given.append(printed(tree))  # type: ignore[arg-type]
        return given[-1]

    monkeypatch.setattr(engine_runs, "to_sql", note)
    return given


@pytest.mark.parametrize(
    "query",
    [
        "SELECT upper(a.x), k FROM w a JOIN v b USING (k) WHERE length(a.x || y) > 0 "
        "ORDER BY a.x, k LIMIT 3",
        "SELECT upper(a.x) AS u, max(b.y) FROM w a NATURAL JOIN v b GROUP BY u HAVING max(y) > 'a'",
        "SELECT upper(q.x) FROM (SELECT x, k FROM w ORDER BY k LIMIT 3) q, v WHERE q.k = v.k",
        "WITH RECURSIVE r(k, x) AS (SELECT k, x FROM w WHERE k = 0 UNION ALL "
        "SELECT w.k, substr(r.x || w.x, 1, 10) FROM r JOIN w ON w.k = r.k + 1) SELECT * FROM r",
        "SELECT a.k, row_number() OVER (PARTITION BY upper(a.x) ORDER BY b.k, a.k) FROM w a, v b",
        "SELECT string_agg(a.x || b.y, ',' ORDER BY a.k, b.k) FROM w a, v b",
        "SELECT DISTINCT a.x || b.y FROM w a, v b",
        "SELECT DISTINCT ON (upper(a.x)) a.x, b.y FROM w a, v b ORDER BY upper(a.x), b.k",
        "SELECT upper(a.x), (SELECT max(c.y) FROM v c WHERE c.k = a.k) FROM w a, v b "
        "WHERE a.k = b.k",
        "SELECT upper(a.x) FROM w a, v b WHERE a.k = b.k AND EXISTS "
        "(SELECT 1 FROM v c WHERE c.k = a.k AND lower(c.y) <= a.x)",
        "SELECT *, upper(a.x) AS k FROM w a, v b WHERE a.k = b.k",
        "SELECT * EXCLUDE (k), upper(x) FROM w JOIN v USING (k)",
        "SELECT *, *, upper(a.x || b.y) FROM w a, v b",
        "SELECT upper(a.x), a.* FROM w a, v b",
        "SELECT 1, b.*, A.*, upper(a.x), b.k FROM w a, v b ORDER BY lower(b.y), a.k, b.k",
        "SELECT b.* EXCLUDE (k), a.k, b.y, upper(x) FROM w a, v b",
        "SELECT DISTINCT a.*, b.* REPLACE (upper(y) AS y) FROM w a, v b WHERE a.x || b.y > 'b1'",
        "SELECT l.*, upper(w.x) FROM w, LATERAL (SELECT upper(w.x || b.y) AS z FROM v b) l",
        "SELECT a.x, lower(a.x || r) FROM w a, range(4) t(r)",
        "SELECT x || range FROM w, range(4)",
        "SELECT upper(a.x || coalesce(b.y, '')) FROM w a LEFT JOIN v b ON a.k = b.k AND a.x < b.y",
        "SELECT upper(a.x) AS s, count(*) FROM w a FULL JOIN v b USING (k) GROUP BY ALL",
        "SELECT list(a.x || b.y ORDER BY a.k, b.k) FROM w a, v b GROUP BY a.k % 3",
        "SELECT upper(x) FROM (SELECT max(x) AS x FROM w GROUP BY k % 5)",
        "SELECT k, upper(x) FROM w UNION ALL SELECT a.k, upper(a.x || b.y) FROM w a, v b",
        "SELECT upper(a.x), unnest([1, 2]) FROM w a, v b WHERE a.k = b.k",
        "SELECT upper(a.x), l.z FROM w a, LATERAL (SELECT a.x || '!' AS z) l",
        "SELECT a.k, list_transform([a.x, b.y], e -> upper(e)) FROM w a, v b",
        "SELECT a.k, max(upper(a.x)) FILTER (WHERE b.y || a.x > 'b1') FROM w a, v b GROUP BY a.k",
        "SELECT upper(a.x) FROM w a SEMI JOIN v b ON a.k = b.k",
        "SELECT upper(a.x) FROM w a, v b WHERE a.k = b.k "
        "QUALIFY row_number() OVER (PARTITION BY lower(b.y) ORDER BY a.k) = 1",
        "SELECT k FROM w WHERE x IN (SELECT lower(a.x || '') FROM w a, v b WHERE a.k = b.k)",
        "WITH c AS (SELECT a.x || b.y AS z, a.k FROM w a, v b) "
        "SELECT upper(c1.z) FROM c c1 JOIN c c2 ON c1.z = c2.z AND c1.k = c2.k",
        "SELECT CASE WHEN upper(a.x) > b.y THEN 1 END AS n, count(*) FROM w a, v b GROUP BY 1",
        "SELECT grouping(a.k % 2), max(lower(a.x || b.y)) FROM w a, v b GROUP BY ROLLUP (a.k % 2)",
        "SELECT upper(x), item FROM w, unnest(['a', 'b']) WITH ORDINALITY AS u(item, place) "
        "WHERE place > 1",
        *OF_ROWS_AROUND,
        *OF_SHARED_VALUES,
    ],
)
def test_a_query_in_parts_answers_as_it_is_written(
    connection: pykudu_sql.Connection, query: str, request: pytest.FixtureRequest
) -> None:
    expected = rows_of(connection, query)
    engine_sql = request.getfixturevalue("engine_sql")
    assert rows_of(connection, query) == expected
    assert any(CUT in sql for sql in engine_sql)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.k, b.k FROM w a LEFT JOIN v b ON a.k < b.k AND upper(a.x || b.y) > 'B4'",
        "SELECT count(*) FROM w a LEFT JOIN v b ON a.k % 5 = b.k % 5 AND md5(a.x || b.y) > '8'",
        "SELECT * FROM w a LEFT JOIN v b ON a.k % 5 = b.k % 5 AND upper(a.x || b.y) > 'B4' "
        "AND upper(b.y) > 'B3' AND a.k < 9",
        "SELECT b.*, upper(a.x) FROM w a LEFT JOIN v b "
        "ON upper(a.x) = upper(b.y) AND upper(a.x || b.y) > 'B4'",
        "SELECT a.k, b.* FROM w a RIGHT JOIN v b ON upper(a.x || b.y) > 'B4B6'",
        "SELECT a.k FROM w a SEMI JOIN v b ON upper(a.x || b.y) = 'B4B6'",
        "SELECT a.k FROM w a ANTI JOIN v b ON upper(a.x || b.y) = 'B4B6'",
        "SELECT a.k, b.k, d.k FROM w a LEFT JOIN v b ON upper(a.x || b.y) = 'B4B6' "
        "LEFT JOIN v d ON upper(b.y || d.y) = 'B6B1'",
        "SELECT a.k, q.k FROM w a LEFT JOIN (SELECT * FROM v WHERE k < 9) q "
        "ON upper(a.x || q.y) = 'B4B6'",
        "SELECT w.k, v.k FROM w LEFT JOIN v ON upper(x || y) = 'B4B6'",
        "SELECT a.k FROM w a LEFT JOIN v b ON a.x || b.y > 'b4' OR a.k = b.k ORDER BY a.x || b.y",
        "WITH c AS (SELECT * FROM v) SELECT a.*, c.y FROM w a LEFT JOIN c ON a.x || c.y > 'b4'",
        "SELECT k FROM w WHERE EXISTS (SELECT 1 FROM v a LEFT JOIN v b ON a.y || b.y > w.x)",
    ],
)
def test_a_condition_of_an_outer_join_in_parts_answers_as_it_is_written(
    connection: pykudu_sql.Connection, query: str, request: pytest.FixtureRequest
) -> None:
    expected = rows_of(connection, query)
    engine_sql = request.getfixturevalue("engine_sql")
    assert rows_of(connection, query) == expected
    assert any('"__part_' in sql for sql in engine_sql)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT upper(x) FROM w",
        "SELECT a.k FROM w a LEFT JOIN v b ON upper(a.x) = upper(b.y)",
        "SELECT a.k FROM w a LEFT JOIN v b ON a.k = b.k AND a.x > b.y",
        "SELECT a.k, b.k FROM w a FULL JOIN v b ON upper(a.x || b.y) = 'B4B6'",
        "SELECT a.k FROM w a LEFT JOIN v u(g, h) ON upper(a.x || u.h) = 'B4B6'",
        "SELECT a.k, b.k, length(a.x) FROM w a JOIN v b ON a.k = b.k",
        "SELECT max(a.x), min(b.y) FROM w a JOIN v b ON a.k = b.k GROUP BY a.k",
        "SELECT a.x, b.y FROM w a JOIN v b ON a.k = b.k ORDER BY b.k",
        "SELECT sum(length(a.x)), max(b.y), count(*) FROM w a, v b WHERE a.k = b.k",
        "SELECT a.*, upper(a.x), b.* FROM w a, v b",
        "SELECT *, upper(x), * FROM w JOIN v USING (k)",
        "SELECT k, (SELECT max(upper(w.x || range)) FROM range(3)) FROM w",
    ],
)
def test_a_query_without_wide_calls_or_whose_columns_have_no_other_names_stays(
    connection: pykudu_sql.Connection, query: str, engine_sql: list[str]
) -> None:
    rows_of(connection, query)
    assert engine_sql == []


@pytest.mark.parametrize(
    "change",
    [
        "MERGE INTO {} t USING v ON t.k = v.k WHEN MATCHED THEN UPDATE SET x = upper(t.x || v.y)",
        "UPDATE {} t SET x = upper(t.x || v.y) FROM v WHERE t.k = v.k",
        "INSERT INTO {} SELECT k, y FROM v ON CONFLICT (k) DO UPDATE SET x = {}.x || excluded.x",
        "INSERT INTO {} SELECT a.k + 100, upper(a.x || b.y) FROM w a, v b WHERE a.k = b.k "
        "RETURNING lower(x)",
        "INSERT INTO {} SELECT a.k + 100, upper(a.x || b.y) FROM w a, v b WHERE a.k = b.k "
        "RETURNING x, upper(x)",
    ],
)
def test_a_change_in_parts_writes_what_it_says(
    connection: pykudu_sql.Connection, change: str, request: pytest.FixtureRequest
) -> None:
    for name in ("plain", "parted"):
        connection.execute(f"CREATE TABLE {name} (PRIMARY KEY (k)) AS SELECT k, x FROM w")
    connection.execute(change.format("plain", "plain"))
    engine_sql = request.getfixturevalue("engine_sql")
    connection.execute(change.format("parted", "parted"))
    assert any(CUT in sql for sql in engine_sql)
    assert rows_of(connection, "SELECT * FROM parted") == rows_of(connection, "SELECT * FROM plain")
    for name in ("plain", "parted"):
        connection.execute(f"DROP TABLE {name}")


@pytest.mark.parametrize(("parts", "is_cut"), [(1, False), (PARTS, True)])
def test_a_query_is_cut_by_the_width_of_what_it_reads(parts: int, is_cut: bool) -> None:
    tree = parse("SELECT upper(q.x) FROM (SELECT s.x FROM s, t) AS q, u")
    before, widths = tree.sql(), []

    def parts_of(width: float) -> int:
        widths.append(width)
        return parts

    form = in_parts(tree, {"s": 1.0, "t": 2.0, "u": 4.0}, parts_of)
    assert (form is not None, tree.sql(), max(widths)) == (is_cut, before, 7.0)
