"""Printing leaves a tree as it was, so that each form of a query says the same."""

import pytest

import pykudu_sql
from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.parse.printable_calls import with_printable_clauses

QUERIES = (
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t",
    "SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY v DESC) FILTER (WHERE v > 1) FROM t",
    "SELECT array_agg(v) WITHIN GROUP (ORDER BY k) FROM t",
    "SELECT string_agg(g, ',') WITHIN GROUP (ORDER BY k) FROM t",
    "SELECT mode() WITHIN GROUP (ORDER BY v) FROM t",
    "SELECT item, place FROM UNNEST([1, 2]) WITH ORDINALITY AS u(item, place)",
)


@pytest.mark.parametrize("query", QUERIES)
def test_a_tree_is_printed_twice_as_once(query: str) -> None:
    tree = parse(query)
    before = tree.copy()
    assert printed(tree) == printed(tree)
    assert tree == before


def test_a_tree_without_such_clauses_is_not_copied() -> None:
    tree = parse("SELECT g, sum(v) FROM t, UNNEST([1, 2]) AS u(item) GROUP BY g")
    assert with_printable_clauses(tree) is tree


@pytest.mark.parametrize(
    ("fraction", "answer"),
    [("0.5", 2.5), ("(0.5)", 2.5), ("abs(0.5)", 2.5), ("0.2 + (0.3)", 2.5), ("[0, (1)]", [1.5, 4])],
)
def test_the_fraction_of_a_percentile_may_end_with_parentheses(
    fraction: str, answer: object
) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        query = f"SELECT percentile_cont({fraction}) WITHIN GROUP (ORDER BY (v)) FROM t"
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v DOUBLE)")
        connection.execute("INSERT INTO t VALUES (1, 1.5), (2, 2.5), (3, 4)")
        assert connection.execute(query).fetchall() == [(answer,)]


def test_percentiles_and_ordinals_are_the_same_in_groups_by_codes() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, g STRING, v INT)")
        words = "CASE range % 2 WHEN 0 THEN 'even' ELSE 'odd' END"
        connection.execute(f"INSERT INTO t SELECT range, {words}, range FROM range(80000)")
        connection.execute("FLUSH TABLE t")
        percentiles = connection.execute("""
            SELECT g, percentile_cont(0.25) WITHIN GROUP (ORDER BY v),
              percentile_disc(0.25) WITHIN GROUP (ORDER BY v DESC)
            FROM t GROUP BY g ORDER BY g""")
        assert percentiles.fetchall() == [("even", 19999.5, 60000), ("odd", 20000.5, 60001)]
        ordinals = connection.execute("""
            SELECT g, sum(place) FROM t, UNNEST(['a', 'b']) WITH ORDINALITY AS u(item, place)
            GROUP BY g ORDER BY g""")
        assert ordinals.fetchall() == [("even", 120000), ("odd", 120000)]


def test_a_comma_before_unnest_stays_one_where_a_join_stands_behind() -> None:
    tree = parse("SELECT 1 FROM t, UNNEST(x) AS u(k) JOIN y USING (k)")
    before = tree.copy()
    printed_twice = {printed(tree), printed(tree)}
    assert printed_twice == {'SELECT 1 FROM "t", UNNEST("x") AS "u"("k") JOIN "y" USING ("k")'}
    assert tree == before
