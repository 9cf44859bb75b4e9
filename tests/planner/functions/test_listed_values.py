"""ANY and ALL of lists that are written out become IN; what is computed stays."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.listed_values import write_as_listed
from pykudu_sql.planner.parse.dialect import display, parse


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("a = ANY([1, 2])", "a IN (1, 2)"),
        ("a = some(ARRAY[1, b])", "a IN (1, b)"),
        ("a <> ALL([1])", "(NOT a IN (1))"),
        ("a <> ALL([])", "(NOT a IN ())"),
        ("a = ALL([1])", "a = ALL ([1])"),
        ("a > ANY([1])", "a > ANY([1])"),
        ("a = ANY(b)", "a = ANY(b)"),
        ("a = ANY([[1]])", "a = ANY([[1]])"),
        ("a = ANY([(SELECT 1)])", "a = ANY([(SELECT 1)])"),
    ],
)
def test_values_are_listed(condition: str, written: str) -> None:
    tree = write_as_listed(parse(f"SELECT {condition}"), None)
    assert isinstance(tree, exp.Select)
    assert display(tree.expressions[0]) == written
