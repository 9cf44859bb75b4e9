"""A column without an alias is headed by what the user wrote, wherever its query stands."""

from collections.abc import Iterator, Sequence

import pytest

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (k INT PRIMARY KEY, a INT, s STRING, ts TIMESTAMP)")
        opened.execute("INSERT INTO t VALUES (1, 2, 'x', '2026-01-31')")
        yield opened


def headings(connection: Connection, sql: str, parameters: Sequence[object] = ()) -> list[str]:
    description = connection.execute(sql, parameters).description
    assert description is not None
    return [name for name, *_ in description]


ENTRIES = [
    # Calls of compatibility functions, and those that the parser spells otherwise.
    *(
        "nvl(a, 1)",
        "NVL(a,1)",
        "ceiling(a)",
        "lpad(s, 3)",
        "instr(s, 'x', 1)",
        "date_part('y', ts)",
    ),
    *("mode() WITHIN GROUP (ORDER BY k)", "position('x' IN s)", "extract( year FROM ts )"),
    *("initcap(s)", "current_timestamp(3)", "unix_timestamp()", "now()", "CURRENT_DATE"),
    # Operators, literals and casts.
    *("a+1", "a  +  1", "(a + 1)", "-  a", "NOT (a IS NULL)", "a IS NOT NULL", "a <> 1", "a != 1"),
    *("count( * )", "CAST(a AS varchar)", "a::STRING", "x'41'", "0x1F", "1.e1", "1.50", "'it''s'"),
    *("true", "False", "null", "'x'\n'y'", "a IS DISTINCT FROM 1", "[ a, 1 ]", "{'p': a}"),
    *("CASE WHEN a = 1 THEN 2ELSE 3 END", "a IN (1,2)", "s||'FROM, here'", "date '2026-01-31'"),
    *("(SELECT max(a), FROM t)", "EXISTS(SELECT 1, 2 FROM t)", "`a`+1", "(SELECT (1, 2)[1])"),
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_of_a_select_list_is_headed_by_its_text(
    connection: Connection, entry: str
) -> None:
    written = " ".join(entry.split())
    assert headings(connection, f"SELECT {entry}, {entry} AS n FROM t GROUP BY ALL") == [
        written,
        "n",
    ]
    quoted = written.replace('"', '""')
    for query in (
        f"SELECT * FROM (SELECT {entry}, 1 AS one FROM t GROUP BY ALL)",
        f'WITH q AS (SELECT {entry}, 1 AS one FROM t GROUP BY ALL) SELECT "{quoted}", one FROM q',
        f"SELECT q.* EXCLUDE (one), one FROM (SELECT {entry}, 1 AS one FROM t GROUP BY ALL) q",
    ):
        assert headings(connection, query) == [written.lower(), "one"]


@pytest.mark.parametrize(
    ("list_of_entries", "expected"),
    [
        ("a, t.a, (a), A", ["a", "a", "a", "a"]),
        ('a AS b, a c, a AS "D e"', ["b", "c", "D e"]),
        ("DISTINCT nvl(a, 1)", ["nvl(a, 1)"]),
        ("DISTINCT ON (nvl(a, 2), k) nvl(a, 1), a+k", ["nvl(a, 1)", "a+k"]),
        ("ALL nvl(a, 1)", ["nvl(a, 1)"]),
        ("nvl(a, 1),", ["nvl(a, 1)"]),
        ("a /* one, FROM */ + -- two\n 1", ["a + 1"]),
        ("'/* kept */', nvl(a /**/, 1)", ["'/* kept */'", "nvl(a , 1)"]),
        ("* EXCLUDE (a, ts), nvl(a, 1)", ["k", "s", "nvl(a, 1)"]),
        ("* EXCEPT (a, ts), nvl(a, 1)", ["k", "s", "nvl(a, 1)"]),
        ("nvl(COLUMNS('[ka]'), 1)", ["nvl(k, 1)", "nvl(a, 1)"]),
        ("nvl(COLUMNS(* EXCLUDE (s, ts)), (1))", ["nvl(k, (1))", "nvl(a, (1))"]),
    ],
)
def test_columns_aliases_and_stars_keep_their_names(
    connection: Connection, list_of_entries: str, expected: list[str]
) -> None:
    assert headings(connection, f"SELECT {list_of_entries} FROM t") == expected


@pytest.mark.parametrize(
    "sql",
    [
        "FROM t SELECT nvl(a, 1)",
        "SELECT nvl(a, 1) FROM t WHERE k = 1",
        'SELECT nvl(a, 1) FROM t UNION ALL SELECT 3 ORDER BY "nvl(a, 1)"',
        "(SELECT nvl(a, 1) FROM t) UNION SELECT ceiling(a) FROM t",
        "SELECT nvl(a, 1) FROM t UNION ALL BY NAME SELECT nvl(a, 1) FROM t",
        "SELECT nvl(a, 1) FROM t MINUS SELECT 7",
        'SELECT nvl(a, 1) FROM t ORDER BY "nvl(a, 1)", 1 LIMIT 1',
        "WITH q AS (SELECT 1 AS one) SELECT nvl(a, 1) FROM t, q",
        "UPDATE t SET a = 3 RETURNING nvl(a, 1)",
        "DELETE FROM t WHERE a = 2 RETURNING nvl(a, 1)",
        "INSERT INTO t (k) VALUES (2), (3) RETURNING nvl(a, 1)",
        "INSERT INTO t (k) SELECT 2 RETURNING nvl(a, 1)",
        "INSERT INTO t (k) VALUES (1) ON CONFLICT DO UPDATE SET a = 1 RETURNING nvl(a, 1)",
        "MERGE INTO t USING (SELECT 1 AS k) s ON t.k = s.k WHEN MATCHED THEN DELETE "
        "RETURNING nvl(a, 1)",
    ],
)
def test_every_statement_that_gives_rows_heads_them_alike(connection: Connection, sql: str) -> None:
    assert headings(connection, sql) == ["nvl(a, 1)"]


def test_parameters_are_headed_as_they_are_written(connection: Connection) -> None:
    assert headings(connection, "SELECT ?, nvl(a, ?) FROM t", (1, 2)) == ["?", "nvl(a, ?)"]


def test_a_long_list_is_headed_whole(connection: Connection) -> None:
    listed = ",".join(map(str, range(2000)))
    assert headings(connection, f"SELECT a IN ({listed}), 1 FROM t") == [f"a IN ({listed})", "1"]


def test_tables_and_views_made_of_a_query_have_its_headings(connection: Connection) -> None:
    connection.execute("CREATE VIEW v AS SELECT k, NVL(a, 1), count( * ) FROM t GROUP BY ALL")
    connection.execute("CREATE TABLE c PRIMARY KEY (k) AS SELECT k, NVL(a, 1) FROM t")
    assert headings(connection, "SELECT * FROM v") == ["k", "nvl(a, 1)", "count( * )"]
    assert headings(connection, "SELECT * FROM c") == ["k", "nvl(a, 1)"]
    assert connection.execute('SELECT "NVL(a, 1)" + 1 FROM v').fetchall() == [(3,)]


def test_columns_of_derived_tables_are_reached_by_their_headings(connection: Connection) -> None:
    for query, expected in (
        ('SELECT "a+1" FROM (SELECT a+1 FROM t)', [(3,)]),
        ('SELECT * REPLACE (7 AS "count(*)") FROM (SELECT count(*) FROM t)', [(7,)]),
        ('SELECT * FROM (SELECT a+1 FROM t) x JOIN (SELECT a+1 FROM t) y USING ("a+1")', [(3,)]),
        ('SELECT "a+1" FROM (SELECT a+1 FROM t UNION SELECT 5) ORDER BY 1', [(3,), (5,)]),
        ('SELECT (SELECT x."a+1") FROM (SELECT a+1 FROM t) x WHERE "a+1" > 2', [(3,)]),
        ('SELECT "a+1" FROM ((SELECT a+1 FROM t))', [(3,)]),
    ):
        assert connection.execute(query).fetchall() == expected


UNLIKE = "SELECT k, 'a', 'A', 'a' FROM t"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM ({UNLIKE})",
        f"WITH q AS ({UNLIKE}) SELECT * FROM q",
        f"SELECT * FROM ({UNLIKE} UNION ALL SELECT 9, 2, 3, 4) ORDER BY k LIMIT 1",
        f"SELECT k, \"'a'\", \"'A'_1\", \"'a'_2\" FROM ({UNLIKE})",
        "SELECT * FROM v",
        "SELECT * FROM c",
    ],
)
def test_headings_that_are_alike_are_columns_of_their_own(
    connection: Connection, query: str
) -> None:
    connection.execute(f"CREATE VIEW v AS {UNLIKE}")
    connection.execute(f"CREATE TABLE c PRIMARY KEY (k) AS {UNLIKE}")
    assert headings(connection, query) == ["k", "'a'", "'a'_1", "'a'_2"]
    row = connection.execute(query).fetchone()
    assert row is not None and [str(value) for value in row] == ["1", "a", "A", "a"]


def test_a_result_is_headed_as_written_though_entries_are_alike(connection: Connection) -> None:
    assert headings(connection, UNLIKE) == ["k", "'a'", "'A'", "'a'"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (SELECT a AS x, k AS x FROM t)",
        "SELECT a AS x, k AS x FROM t ORDER BY 1",
        "SELECT q.* FROM (SELECT a, k FROM t) q(x, x)",
    ],
)
def test_names_that_are_given_twice_stay_where_nobody_says_them(
    connection: Connection, query: str
) -> None:
    assert headings(connection, query) == ["x", "x"]
    assert connection.execute(query).fetchall() == [(2, 1)]


def test_a_name_of_entries_that_show_the_same_is_not_ambiguous(connection: Connection) -> None:
    query = "SELECT *, a, a + 1 AS n, a + 1 AS n FROM t GROUP BY ALL ORDER BY a, n"
    assert len(connection.execute(query).fetchall()) == 1
