"""Long lists become relations where their values mean the same there, else literals again."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.list_relations import (
    MOST_LITERALS,
    name_long_lists,
    write_long_lists,
)
from pykudu_sql.storage.errors import StatementTooComplexError

NUMBERS = ", ".join(map(str, range(1200)))
TEXTS = ", ".join(f"'{i}'" for i in range(1200))


def bound(sql: str, context: PlanContext) -> exp.Expr:
    return bind(parse(sql), context).tree


def named(tree: exp.Expr) -> list[tuple[str, int]]:
    relations = name_long_lists(list(tree.find_all(exp.In)), "list_")
    return [(name, values.num_rows) for name, values in relations]


@pytest.mark.parametrize(
    ("condition", "query"),
    [
        (f"a in ({NUMBERS})", "a IN (SELECT value FROM list_0)"),
        (f"a in ({TEXTS})", "a IN (SELECT CAST(value AS INT) FROM list_0)"),
        (f"s in ({TEXTS})", "s IN (SELECT value FROM list_0)"),
        (f"a + 1 in ({NUMBERS})", "a + 1 IN (SELECT value FROM list_0)"),
    ],
)
def test_a_list_is_read_from_a_relation_in_the_type_of_the_column(
    context: PlanContext, condition: str, query: str
) -> None:
    tree = bound(f"select id from t where {condition}", context)
    assert named(tree) == [("list_0", 1200)]
    assert display(tree) == f"SELECT id FROM t WHERE {query}"


@pytest.mark.parametrize(
    "sql",
    [
        f"select id from t where flag in ({TEXTS})",
        f"select id from t where upper(s) in ({TEXTS})",
        f"select list_transform([1], x -> x in ({NUMBERS})) from t",
        f"select a in ({NUMBERS}) from t group by a",
    ],
)
def test_a_list_is_written_out_where_a_relation_means_something_else(
    context: PlanContext, sql: str
) -> None:
    tree = bound(sql, context)
    assert named(tree) == []
    (node,) = tree.find_all(exp.In)
    assert len(node.expressions) == 1200 and node.args.get("query") is None


def test_a_list_is_written_out_for_an_engine_without_relations(context: PlanContext) -> None:
    tree = bound(f"select id from t where a in ({NUMBERS}) or a in (1, 2)", context)
    write_long_lists(tree)
    assert sorted(len(node.expressions) for node in tree.find_all(exp.In)) == [2, 1200]


def test_too_many_literals_are_refused(context: PlanContext) -> None:
    texts = ", ".join(f"'{i}'" for i in range(MOST_LITERALS + 1))
    tree = bound(f"select id from t where upper(s) in ({texts})", context)
    with pytest.raises(StatementTooComplexError, match="20001 values is too long"):
        named(tree)
