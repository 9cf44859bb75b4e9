"""Passes that ask the index of a query's nodes are told what a walk of its tree would tell."""

from collections import Counter

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.node_index import NodeIndex
from pykudu_sql.planner.query.passes import PASSES
from pykudu_sql.planner.tree_nodes import derived_from
from tests.planner.query.test_passes import STATEMENTS

EVERY = sorted({sql for statements in STATEMENTS.values() for sql in statements})


def test_an_index_knows_classes_derived_from_the_one_that_is_asked_for() -> None:
    nodes = NodeIndex(parse("SELECT a + 1, b FROM t WHERE c"))
    assert nodes.has(exp.Binary) and nodes.has(exp.Join, exp.Literal)
    assert not nodes.has(exp.Join, exp.Placeholder)
    assert [column.name for column in nodes.all(exp.Column)] == ["b", "a", "c"]


def test_an_index_tests_each_class_that_a_tree_has() -> None:
    nodes = NodeIndex(parse("SELECT a + 1 FROM t"))
    assert nodes.has_any(derived_from(exp.Binary)) and not nodes.has_any(derived_from(exp.Func))


@pytest.mark.parametrize("sql", EVERY)
def test_the_index_is_that_of_the_tree_after_every_pass(sql: str, context: PlanContext) -> None:
    query = LogicalQuery.of(bind(parse(sql), context), 0)
    for step in PASSES:
        assert set(map(id, query.nodes.nodes)) == set(map(id, query.tree.walk())), step.name
        query = step.run(query, context)


@pytest.mark.parametrize("sql", EVERY)
def test_a_pass_that_is_skipped_would_have_changed_nothing(sql: str, context: PlanContext) -> None:
    query = LogicalQuery.of(bind(parse(sql), context), 0)
    for step in PASSES:
        skipped = bool(step.concerns) and not query.nodes.has(*step.concerns)
        before = (query.tree.sql(), query.group_keys, query.lists)
        query = step.apply(query, context)
        if skipped:
            assert (query.tree.sql(), query.group_keys, query.lists) == before, step.name


def test_passes_that_name_their_nodes_are_skipped_without_them(context: PlanContext) -> None:
    taken: Counter[str] = Counter()
    query = LogicalQuery.of(bind(parse("SELECT a FROM t"), context), 0)
    for step in PASSES:
        after = step.run(query, context)
        taken[step.name] += after is not query
        query = after
    assert not taken["fold_session_facts"] and not taken["choose_group_codes"]
    assert not taken["name_long_lists"] and taken["plan_scans"]
