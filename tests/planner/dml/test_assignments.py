"""`column = value`: which columns may be set, and to what."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.correlation_name import name_of_table
from pykudu_sql.planner.dml.assignments import Assignment, is_default, read_assignments
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import (
    DataError,
    Error,
    NotNullError,
    SyntaxError,
)


def read(clause: str, context: PlanContext, table: str = "t") -> list[Assignment]:
    tree = parse(f"UPDATE {table} SET {clause}")
    info = context.catalog.table(table)
    return read_assignments(tree.expressions, info, name_of_table(info), RowOpKind.UPDATE, context)


def test_constants_become_cells_and_expressions_stay_nodes(context: PlanContext) -> None:
    number, text, computed = read("a = 1 + 1, s = upper('x'), b = a", context)
    assert (number.column.name, number.is_constant, number.value) == ("a", True, 2)
    assert text.value == "X"
    assert (computed.is_constant, computed.as_node().sql()) == (False, "a")


def test_a_parameter_and_default_are_constants_too(context: PlanContext) -> None:
    hole, default = read("a = :x, s = DEFAULT", context)
    assert isinstance(hole.value, Parameter)
    assert (hole.value.key, hole.value.column) == ("x", "a")
    assert (default.is_constant, default.value) == (True, None)


def test_several_columns_take_a_row_or_a_query_of_as_many(context: PlanContext) -> None:
    assert [each.value for each in read("(a, b) = (1, 2)", context)] == [1, 2]
    pair = read("(a, b) = (SELECT id, t_id FROM u)", context)
    assert [each.node.sql() for each in pair] == [
        "(SELECT __set0 FROM (SELECT id, t_id FROM u) AS __row(__set0, __set1))",
        "(SELECT __set1 FROM (SELECT id, t_id FROM u) AS __row(__set0, __set1))",
    ]
    assert [each.value for each in read("(a, b) = ROW(1, 2)", context)] == [1, 2]


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("(a, b) = (1, 2, 3)", "SET assigns 2 columns and gives them 3 values"),
        ("(a, b) = (1)", "SET assigns 2 columns and gives them 1 value"),
        ("(a, b) = (SELECT id FROM u)", "SET assigns 2 columns and gives them 1 value"),
        ("(a, b) = (SELECT * FROM u)", "by a query that does not name its columns"),
    ],
)
def test_a_row_of_another_length_is_told_by_the_numbers(
    clause: str, message: str, context: PlanContext
) -> None:
    with pytest.raises(SyntaxError, match=message):
        read(clause, context)


@pytest.mark.parametrize(
    ("clause", "sqlstate", "message"),
    [
        ("nope = 1", "42703", "'nope'"),
        ("u.a = 1", "42703", "'u' is another table"),
        ("id = 1", "42P16", "key column 'id'"),
        ("a = 1, A = 2", "42701", "'a' is assigned twice"),
        ("a = sum(b)", "42803", "cannot be set to an aggregate"),
    ],
)
def test_a_wrong_assignment_names_the_column(
    context: PlanContext, clause: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(Error, match=message) as caught:
        read(clause, context)
    assert caught.value.sqlstate == sqlstate
    assert caught.value.span is not None


def test_a_value_that_does_not_fit_its_column_is_an_error_at_once(context: PlanContext) -> None:
    with pytest.raises(DataError, match=r"^column 'a': "):
        read("a = 'x'", context)
    with pytest.raises(NotNullError, match="'note'"):
        read("note = NULL", context, "u")


def test_default_is_the_word_and_no_quoted_name() -> None:
    word, quoted, of_table = parse('SELECT default, "default", t.default').expressions
    assert is_default(word)
    assert is_default(exp.var("Default"))
    assert not is_default(quoted)
    assert not is_default(of_table)
