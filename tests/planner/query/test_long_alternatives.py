"""Long ORs in groups: the same values, and no OR of many ANDs left."""

import pytest
from sqlglot import exp

import pykudu_sql
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.query.long_alternatives import group_alternatives
from pykudu_sql.planner.tree_nodes import all_nodes, children_of, nodes_of


def _most_ands(tree: exp.Expr) -> int:
    """The most ANDs that one OR joins, through the parentheses around ORs in it."""
    return max(
        sum(isinstance(part, exp.And) for part in each.flatten()) for each in nodes_of(tree, exp.Or)
    )


def _alternatives(count: int) -> list[str]:
    return [f"(a = {i} AND b = {i + 1})" for i in range(count)]


@pytest.mark.parametrize(
    "condition",
    [
        " OR ".join(_alternatives(1500)),
        " OR ".join(f"({x} OR a = 7)" for x in _alternatives(200)),
        "a = 1 AND (" + " OR ".join(_alternatives(100)) + ")",
        f"CASE WHEN {' OR '.join(_alternatives(100))} THEN 1 END = 1",
    ],
)
def test_no_or_of_many_ands_is_left(condition: str) -> None:
    tree = parse(f"SELECT 1 FROM t WHERE {condition}")

    assert group_alternatives(nodes_of(tree, exp.Or))
    assert _most_ands(tree) <= 32
    assert not group_alternatives(nodes_of(tree, exp.Or))


@pytest.mark.parametrize(
    "condition",
    [" OR ".join(_alternatives(64)), " OR ".join(f"a = {i}" for i in range(500))],
)
def test_ors_that_the_engine_takes_quickly_stay_as_they_are(condition: str) -> None:
    tree = parse(f"SELECT 1 FROM t WHERE {condition}")

    assert not group_alternatives(nodes_of(tree, exp.Or))


@pytest.mark.parametrize("shared", ["", "x.a = y.a AND "])
def test_each_node_knows_the_one_above_it(shared: str) -> None:
    alternatives = [f"({shared}a = {i} AND (b = {i} OR c))" for i in range(99)]
    tree = parse(f"SELECT 1 FROM t WHERE {' OR '.join(alternatives)}")

    assert group_alternatives(nodes_of(tree, exp.Or))
    assert all(each.parent is node for node in all_nodes(tree) for each in children_of(node))


def _grouped_text(alternatives: list[str]) -> str:
    tree = parse(f"SELECT 1 FROM t WHERE {' OR '.join(alternatives)}")
    assert group_alternatives(nodes_of(tree, exp.Or))
    return str(tree.find(exp.Where).this.sql())


def test_what_all_alternatives_share_stands_in_front_of_them() -> None:
    text = _grouped_text(
        [f"(x.a = y.a AND (b = 1 OR c) AND d = {i} AND e < {i})" for i in range(99)]
    )
    assert text.startswith("(x.a = y.a AND (b = 1 OR c) AND (((")
    assert text.count("x.a") == text.count("b = 1") == 1
    assert "d = 98 AND e < 98" in text
    text = _grouped_text([f"(d = {i} AND x.a = y.a)" for i in range(99)])
    assert text.startswith("(x.a = y.a AND ((d = 0) OR (d = 1)")
    alternatives = [f"(d = {i} AND x.a = y.a)" for i in range(99)]
    assert _grouped_text([*alternatives, "x.a = y.a"]) == "(x.a = y.a)"


@pytest.mark.parametrize("shared", ["random() < 0.5", "EXISTS (SELECT 0.5 FROM u WHERE u.a = t.a)"])
def test_what_is_computed_for_each_alternative_anew_stays_there(shared: str) -> None:
    text = _grouped_text([f"({shared} AND d = {i})" for i in range(99)])
    assert text.count("0.5") == 99


def test_a_join_keeps_the_equality_that_its_alternatives_share() -> None:
    condition = " OR ".join(f"(t.a = u.a AND t.b = {i} AND u.b < {i + 7})" for i in range(99))
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        for name in "tu":
            connection.execute(f"CREATE TABLE {name} (k INT PRIMARY KEY, a INT, b INT)")
            connection.execute(
                f"INSERT INTO {name} SELECT range, range // 3, range % 99 FROM range(999)"
            )
        for source in ("t JOIN u ON", "t LEFT JOIN u ON", "t, u WHERE"):
            query = f"SELECT count(*), sum(t.b), sum(u.b) FROM {source} {condition}"
            plan = connection.execute(f"EXPLAIN {query}").fetchall()
            assert str(plan).count('"t"."a" = "u"."a"') == 1
            ungrouped = query.replace(") OR (", ") OR NOT NOT (")
            rows = connection.execute(query).fetchall()
            assert rows == connection.execute(ungrouped).fetchall()


def test_a_long_or_has_the_value_that_it_has_in_short_ones() -> None:
    alternatives = _alternatives(100)
    short = " OR ".join(f"coalesce({x}, NULL)" for x in alternatives)
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE t (k INT PRIMARY KEY, a INT, b INT)")
        cursor.execute("INSERT INTO t VALUES (1, 5, 6), (2, 5, 7), (3, NULL, 6), (4, NULL, NULL)")
        values = cursor.execute(
            f"SELECT {' OR '.join(alternatives)}, {short} FROM t ORDER BY k"
        ).fetchall()

    assert values == [(True, True), (False, False), (None, None), (None, None)]
