"""Words of the parser's tree become words of closed lists, or the statement is refused."""

import pytest
import sqlglot

from pykudu_sql.planner.parse.dialect import Kudu, parse, printed
from pykudu_sql.planner.parse.normalizers import NORMALIZERS
from pykudu_sql.storage.errors import Error, NotSupportedError, SourceSpan


def normalized(sql: str) -> str:
    """A query as it is printed when each of its nodes was normalized."""

    def place(word: str) -> SourceSpan | None:
        start = sql.lower().find(word.lower())
        return SourceSpan(start, len(word)) if start >= 0 else None

    tree = sqlglot.parse_one(sql, dialect=Kudu())
    for node in list(tree.walk()):
        if type(node) in NORMALIZERS:
            NORMALIZERS[type(node)](node, place)
    return tree.sql(dialect=Kudu()).removeprefix("SELECT ")


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("interval 5 mins", "INTERVAL '5' MINUTE"),
        ("interval '1.5' hours", "INTERVAL '1.5 hours'"),
        ("interval '3 days 2 hours'", "INTERVAL '3 days 2 hours'"),
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
        ("~ ~ - 1", "~(~(-1))"),
        ("- ~ 1", "-(~1)"),
        ("- - 1", "- -1"),
        ("n'a'", "'a'"),
        ("\"upper\"('a')", "UPPER('a')"),
        ("round(x => 1)", 'ROUND("x" => 1)'),
        ("time_bucket(d, x, '2020-01-01')", "TIME_BUCKET(d, x, CAST('2020-01-01' AS TIMESTAMP))"),
        ("x like 'a' escape ''", "x LIKE 'a' ESCAPE ''"),
        ("map {'a': 1}['a']", "MAP {'a': 1}['a']"),
        ("[x for x in y]", "[x FOR x IN y]"),
    ],
)
def test_a_word_is_spelt_as_its_list_has_it(written: str, normal: str) -> None:
    assert normalized(f"select {written}") == normal


@pytest.mark.parametrize(
    ("written", "sqlstate", "message", "under"),
    [
        ("interval 5 bananas", "22023", "'BANANAS' is no unit of time", "bananas"),
        ("cast('1 fortnight' as interval)", "22023", "'fortnight' is no unit", "1 fortnight"),
        ("interval '1' year to month", "0A000", "from one unit to another", "to month"),
        ("extract(bananas from x)", "22023", "'BANANAS' is no unit of time", "bananas"),
        ("date_part('bananas', x)", "22023", "'bananas' is no unit of time", "bananas"),
        ("1 limit -3", "2201W", "LIMIT -3 is negative", "3"),
        ("1 offset -3", "2201X", "OFFSET -3 is negative", "3"),
        ("a from t limit a + 1", "42P10", "LIMIT takes a number and no column", "a + 1"),
        ("a from t offset 1 + t.b", "42P10", "OFFSET takes a number and no column", "b"),
        ("* from (values (1, 2), (3))", "42601", "VALUES has 1 value where the first has 2", "3"),
        ("* from (values ('a'), (3, x))", "42601", "2 values where the first has 1", "3, x"),
        ("* from (with w as (select 1), W as (table t) table w)", "42712", "WITH .* 'W'", "W as"),
        ("x like 'a' escape '!?'", "22019", "'!?' cannot escape", "!?"),
        ("x operator(s.+) y", "0A000", r"OPERATOR\(...\) is not supported", "operator"),
        ("map {'k', 1}", "42601", "a key, a colon and a value", "'k'"),
        ("map {'k': 1, 2}['k']", "42601", "a key, a colon and a value", "2"),
        ("[1, x for x in range(3)]", "42601", "no other elements beside it", "1, x"),
        ("[x for x in range(3), 1]", "42601", "no other elements beside it", "x for"),
        ("* from ?", "42601", "a parameter cannot be a table", "?"),
    ],
)
def test_a_word_of_no_list_is_refused_with_its_place(
    written: str, sqlstate: str, message: str, under: str
) -> None:
    sql = f"select {written}"
    with pytest.raises(Error, match=message.replace("?'", "\\?'")) as caught:
        normalized(sql)
    assert caught.value.sqlstate == sqlstate
    assert caught.value.span is not None
    assert sql[caught.value.span.start :].startswith(under)


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
