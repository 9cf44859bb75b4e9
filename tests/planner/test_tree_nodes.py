"""The nodes of a tree in one list."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of, walk_once, with_node

TREES = [
    "select 1",
    "select a, count(*) from t where a in (1, 2) and b between 3 and 4 group by a order by 1",
    "with q as (select 1 as x union all select 2) select case when x > 1 then 'a' end from q",
]


@pytest.mark.parametrize("sql", TREES)
def test_they_stand_in_the_order_of_a_walk(sql: str) -> None:
    tree = parse(sql)
    assert list(map(id, all_nodes(tree))) == list(map(id, tree.walk()))


@pytest.mark.parametrize("sql", TREES)
def test_nodes_of_classes_are_those_and_what_is_derived_from_them(sql: str) -> None:
    tree = parse(sql)
    assert nodes_of(tree, exp.Query) == list(tree.find_all(exp.Query))
    assert nodes_of(tree, exp.Literal, exp.Binary) == list(tree.find_all(exp.Literal, exp.Binary))


def test_the_list_stays_as_it_is_where_the_tree_is_changed() -> None:
    tree = parse("select a + 1")
    nodes = all_nodes(tree)
    tree.expressions[0].replace(exp.null())
    assert any(isinstance(node, exp.Add) for node in nodes)


def test_a_node_is_replaced_in_place_and_the_tree_itself_by_the_other() -> None:
    tree = parse("select a + 1")
    addition, other = tree.expressions[0], exp.null()
    assert with_node(tree, addition, addition) is tree
    assert with_node(tree, addition, other) is tree
    assert tree.expressions == [other]
    assert with_node(tree, tree, other) is other


def test_what_a_node_comes_from_is_walked_once_however_it_is_reached() -> None:
    whole = parse("select a + b").expressions[0]
    sources = {whole: [whole.this, whole.expression], whole.this: [whole.expression, whole]}
    walked = list(walk_once(whole, lambda node: sources.get(node, [])))
    assert walked == [whole, whole.expression, whole.this]
