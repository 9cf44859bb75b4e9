"""ANY and ALL of lists that are written out become IN; what is computed stays."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.listed_values import write_as_listed
from pykudu_sql.planner.operands.bound_parameters import BoundParameters
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.storage.errors import NotSupportedError


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
        ("a LIKE ANY (ARRAY['x', b])", "(a LIKE 'x' OR a LIKE b)"),
        ("a ILIKE SOME ('x', 'y')", "(a ILIKE 'x' OR a ILIKE 'y')"),
        ("a NOT LIKE ALL ('x', 'y')", "(NOT a LIKE 'x' AND NOT a LIKE 'y')"),
        ("NOT a LIKE ALL (['x'])", "NOT (a LIKE 'x')"),
        ("a LIKE ANY ('x', 'y') ESCAPE '!'", "(a LIKE 'x' ESCAPE '!' OR a LIKE 'y' ESCAPE '!')"),
        ("a LIKE ANY ([])", "FALSE"),
        ("a NOT LIKE ALL ([])", "TRUE"),
        ("a LIKE ANY (b)", "a LIKE b"),
        ("a = ANY([[1]])", "a = ANY([[1]])"),
        ("a = ANY([(SELECT 1)])", "a = ANY([(SELECT 1)])"),
    ],
)
def test_values_are_listed(condition: str, written: str) -> None:
    tree = write_as_listed(parse(f"SELECT {condition}"), None)
    assert isinstance(tree, exp.Select)
    assert display(tree.expressions[0]) == written


def test_patterns_of_a_parameter_are_those_of_its_list() -> None:
    bound = BoundParameters("", (["x", "y"],))
    tree = write_as_listed(parse("SELECT a ILIKE ANY (?)"), bound)
    assert display(tree.expressions[0]) == "(a ILIKE 'x' OR a ILIKE 'y')"
    assert bound.used == {0}


def test_patterns_of_a_query_are_refused_at_its_place() -> None:
    statement = "SELECT a LIKE ANY (SELECT b FROM t)"
    with pytest.raises(NotSupportedError, match="LIKE of what a query returns") as refused:
        write_as_listed(parse(statement), None)
    assert refused.value.span is not None
