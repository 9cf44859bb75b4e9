"""What expressions take their values from: operands, struct fields, lists of variables."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.types.origins import alternatives, field_name, listed_by


def entry(text: str) -> exp.Expr:
    """The one entry of a SELECT list."""
    return parse(f"SELECT {text}", 0).selects[0].unalias()


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("CASE WHEN a THEN b WHEN c THEN d ELSE e END", ["b", "d", "e"]),
        ("coalesce(a, b)", ["a", "b"]),
        ("greatest(a, b, c)", ["a", "b", "c"]),
        ("[a, b]", ["a", "b"]),
        ("a + b", []),
    ],
)
def test_an_expression_has_the_value_of_one_of_its_alternatives(
    text: str, operands: list[str]
) -> None:
    assert [each.sql() for each in alternatives(entry(text))] == operands


def test_a_field_is_named_by_a_text_or_behind_a_dot() -> None:
    assert field_name(entry("struct_extract(s, 'x')")) == "x"
    assert field_name(entry("s['x']")) == "x"
    assert field_name(entry("s[1]")) is None


def test_a_variable_stands_for_the_elements_of_the_list_that_its_function_takes() -> None:
    tree = entry("list_transform(a, lambda x: x + list_sum(list_filter(b, lambda y: y > x)))")
    variables = [node for node in tree.find_all(exp.Identifier) if node.name in ("x", "y")]
    lists = {(node.name, listed.sql()) for node in variables if (listed := listed_by(node))}
    assert lists == {("x", "a"), ("y", "b")}
    assert listed_by(exp.to_identifier("z")) is None
