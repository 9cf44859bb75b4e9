"""Which side of a MERGE its clauses may name."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.dml.merge_sides import (
    expressions_of,
    is_by_source,
    is_by_target,
    settle_names,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import UndefinedTableError

CLAUSES = (
    "WHEN MATCHED AND t.a > 1 THEN UPDATE SET a = u.id, s = DEFAULT",
    "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (u.id, DEFAULT)",
    "WHEN NOT MATCHED BY SOURCE THEN DELETE",
)


def merge(*clauses: str) -> exp.Merge:
    tree = parse(f"MERGE INTO t USING u ON t.id = u.id {' '.join(clauses)}")
    assert isinstance(tree, exp.Merge)
    return tree


def whens(tree: exp.Merge) -> list[exp.When]:
    clauses: list[exp.When] = tree.args["whens"].expressions
    return clauses


def test_a_clause_is_about_both_sides_or_one() -> None:
    read = whens(merge(*CLAUSES))
    assert [is_by_target(when) for when in read] == [False, True, False]
    assert [is_by_source(when) for when in read] == [False, False, True]


def test_the_expressions_of_a_clause_are_its_condition_and_values_without_default() -> None:
    read = [[node.sql() for node in expressions_of(when)] for when in whens(merge(*CLAUSES))]
    assert read == [["t.a > 1", "u.id"], ["u.id"], []]


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ("u.name", False),
        ("t.s", True),
        ("(SELECT max(v.name) FROM u AS v WHERE v.id = t.id)", True),
    ],
)
def test_a_row_without_a_match_has_no_columns_of_the_table_also_in_subqueries(
    context: PlanContext, value: str, refused: bool
) -> None:
    tree = merge(f"WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.id, {value})")
    source = CorrelationName("u", "default")
    if not refused:
        settle_names(whens(tree), tree, 0, source, context)
        return
    with pytest.raises(UndefinedTableError, match="has no value where no row matched") as caught:
        settle_names(whens(tree), tree, 0, source, context)
    assert caught.value.hint == "WHEN NOT MATCHED can use columns of u"
