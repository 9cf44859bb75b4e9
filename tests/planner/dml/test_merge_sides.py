"""Which side of a MERGE its clauses may name."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.dml.merge_sides import (
    check_side,
    expressions_of,
    is_by_source,
    is_by_target,
    outermost_columns,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import UndefinedTableError

CLAUSES = (
    "WHEN MATCHED AND t.a > 1 THEN UPDATE SET a = u.id, s = DEFAULT",
    "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (u.id, DEFAULT)",
    "WHEN NOT MATCHED BY SOURCE THEN DELETE",
)


def whens(*clauses: str) -> list[exp.When]:
    tree = parse(f"MERGE INTO t USING u ON t.id = u.id {' '.join(clauses)}")
    clauses_read: list[exp.When] = tree.args["whens"].expressions
    return clauses_read


def test_a_clause_is_about_both_sides_or_one() -> None:
    read = whens(*CLAUSES)
    assert [is_by_target(when) for when in read] == [False, True, False]
    assert [is_by_source(when) for when in read] == [False, False, True]


def test_the_expressions_of_a_clause_are_its_condition_and_values_without_default() -> None:
    read = [[node.sql() for node in expressions_of(when)] for when in whens(*CLAUSES)]
    assert read == [["t.a > 1", "u.id"], ["u.id"], []]


def test_columns_in_subqueries_are_not_of_the_clause_itself() -> None:
    node = parse("SELECT a + (SELECT b FROM v) + t.c").expressions[0]
    assert sorted(column.sql() for column in outermost_columns(node)) == ["a", "t.c"]


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
    clauses = whens(f"WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.id, {value})")
    tables = exp.select().from_("t").join("u", join_type="cross")
    if not refused:
        check_side(clauses, tables, 0, context)
        return
    with pytest.raises(UndefinedTableError, match="has no value where no row matched") as caught:
        check_side(clauses, tables, 0, context)
    assert caught.value.hint == "WHEN NOT MATCHED can use columns of u"
