"""An error shows the piece of the statement that causes it, whoever finds the error."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql import Connection, Error

_STATEMENTS = [
    ("SELECT 1 + 'a'", "42804", "1 + 'a'"),
    ("SELECT a + 1, a + 'x' FROM t", "42804", "a + 'x'"),
    ("SELECT -'a'", "42804", "-'a'"),
    ("SELECT a FROM t WHERE ts > 5", "42804", "ts > 5"),
    ("SELECT abs(s) FROM t", "42804", "abs"),
    ("SELECT unnest(a) FROM t", "42804", "a"),
    ("SELECT {'a': 1}.b", "42804", "b"),
    ("SELECT 1 UNION SELECT 1, 2", "42601", "1, 2"),
    ("SELECT 1, 2 INTERSECT SELECT 1 + 5", "42601", "1 + 5"),
    (
        "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 3, 4 FROM r) TABLE r",
        "42601",
        "3, 4 FROM r",
    ),
    ("SELECT (SELECT 1, 2)", "42601", "1, 2"),
    ("SELECT a FROM t WHERE a IN (SELECT a, b FROM t)", "42601", "a, b FROM t"),
    ("SELECT a FROM t WHERE a = (SELECT * FROM t)", "42601", "* FROM t"),
    ("UPDATE t SET b = (SELECT 1, 2)", "42601", "1, 2"),
    ("SELECT a FROM t WHERE (a, b) IN (SELECT 1)", "42601", "1"),
    ("SELECT (SELECT a FROM t UNION SELECT 7)", "21000", "a FROM t UNION SELECT 7"),
    ("SELECT * FROM (SELECT 1) q(x, y)", "42P10", "y"),
    ("WITH q(x, y) AS (SELECT 1) SELECT x FROM q", "42P10", "y"),
    ("SELECT a FROM t LIMIT 1-2", "2201W", "1-2"),
    ("SELECT a FROM t LIMIT 1 OFFSET 1-2", "2201W", "1-2"),
    ("SELECT a FROM t LIMIT -1", "2201W", "-1"),
    ("SELECT a FROM t OFFSET - 1", "2201X", "- 1"),
    ("SELECT a FROM t LIMIT 200 PERCENT", "22003", "200"),
    ("SELECT a FROM t ORDER BY -1", "42P10", "-1"),
    ("SELECT a, count(*) FROM t GROUP BY 7 WITH ROLLUP", "42P10", "7"),
    ("SELECT * FROM t GROUP BY a", "42803", "*"),
    ("SELECT a FROM t HAVING b > 1", "42803", "b"),
    ("SELECT row_number() FROM t", "42P20", "row_number"),
    ("SELECT sum(a) OVER w FROM t", "42704", "w"),
    ("SELECT CAST(1000 AS TINYINT)", "22003", "1000"),
    ("SELECT 9223372036854775807 + 1", "22003", "9223372036854775807 + 1"),
    ("SELECT a FROM t WHERE s", "22018", "s"),
    ("SELECT regexp_matches('a', '(')", "2201B", "'('"),
    ("SELECT s COLLATE nope FROM t", "0A000", "s"),
    ("SELECT x + 1, x FROM v WHERE x + 'a' = 1", "42804", None),
    ("INSERT INTO t (s, a) VALUES ('a', 1), ('x, (', 99999999999)", "22003", "99999999999"),
    ("UPSERT INTO t (a, ts) VALUES (1 + 1, 'soon')", "22018", "'soon'"),
    (
        "INSERT INTO t (a, b) VALUES (5, 1 + 9223372036854775807)",
        "22003",
        "1 + 9223372036854775807",
    ),
    ("INSERT INTO t (a, b) VALUES (5, 2 * 999), (99999999999, 7)", "22003", "99999999999"),
]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with pykudu_sql.connect(tmp_path_factory.mktemp("places") / "db") as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY, s TEXT, b BIGINT, ts TIMESTAMP)")
        connection.execute("CREATE VIEW v AS SELECT a AS x FROM t")
        connection.execute("INSERT INTO t VALUES (1, 'x', 2, TIMESTAMP '2020-01-01 00:00:00')")
        connection.commit()
        yield connection


@pytest.mark.parametrize(("statement", "sqlstate", "place"), _STATEMENTS)
def test_an_error_shows_what_causes_it(
    connection: Connection, statement: str, sqlstate: str, place: str | None
) -> None:
    with pytest.raises(Error) as caught:
        connection.execute(statement).fetchall()
    connection.rollback()
    position = caught.value.position
    shown = position and position.text[position.column - 1 :][: position.length]
    assert (caught.value.sqlstate, shown) == (sqlstate, place)
