"""Calls as rules see them: one name and the arguments as they are written."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.value_bounds.computed_once import name_arguments, with_parts
from pykudu_sql.planner.value_bounds.value_calls import call_of, list_map_of, part_group_keys


def expression(text: str) -> exp.Expr:
    tree: exp.Expr = parse(f"select {text} from t").expressions[0]
    return tree


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("a || b || c", "concat", ["a", "b", "c"]),
        ("lpad(a, 2, 'x')", "pad", ["a", "2", "'x'"]),
        ("cast(a as int[])", "cast_nested", ["a"]),
        ("cast(a as int)", "cast", ["a"]),
        ("struct_pack(x := a)", "struct", ["a"]),
        ("json_object('k', a)", "j_s_o_n_object", ["'k'", "a"]),
        ("list_aggregate(l, 'histogram')", "list_histogram", ["l", "'histogram'"]),
        ("list_aggregate(l, 'sum')", "list_aggregate", ["l", "'sum'"]),
        ("Weekday(a)", "weekday", ["a"]),
    ],
)
def test_a_call_has_a_name_and_its_arguments(text: str, name: str, arguments: list[str]) -> None:
    call = call_of(expression(text))
    assert call is not None
    assert (call.name, [display(each) for each in call.arguments]) == (name, arguments)


@pytest.mark.parametrize("text", ["a", "a + 1", "array(select 1)", "(a || b)"])
def test_what_is_no_call_has_none(text: str) -> None:
    assert call_of(expression(text)) is None


def test_a_chain_is_one_call() -> None:
    chain = expression("a || b || c")
    assert call_of(chain) is not None
    assert call_of(chain.this) is None


def test_the_calls_around_named_arguments_are_none_of_the_statement() -> None:
    node = expression("upper(lower(s))")
    whole = with_parts(node, name_arguments([node.this]))
    names = [call.name for each in whole.walk() if (call := call_of(each)) is not None]
    assert sorted(names) == ["list_extract", "lower", "struct_extract", "upper"]
    assert [each for each in whole.walk() if list_map_of(each) is not None] == []


@pytest.mark.parametrize(
    ("text", "body", "parameters"),
    [
        ("list_transform(l, (i, n) -> i + n)", "i + n", ["i", "n"]),
        ("array_transform(l, lambda i: i)", "i", ["i"]),
        ("[i + 1 for i in l]", "i + 1", ["i"]),
        ("list_filter(l, i -> i > 1)", "i", ["i"]),
    ],
)
def test_a_map_has_a_list_and_a_body(text: str, body: str, parameters: list[str]) -> None:
    mapped = list_map_of(expression(text))
    assert mapped is not None
    assert (display(mapped.source), display(mapped.body)) == ("l", body)
    assert [each.name for each in mapped.parameters] == parameters


@pytest.mark.parametrize("text", ["list_sort(l)", "[1, 2]", "upper(s)"])
def test_what_makes_no_list_element_by_element_is_no_map(text: str) -> None:
    assert list_map_of(expression(text)) is None


@pytest.mark.parametrize(
    ("sql", "parted"),
    [
        ("SELECT a || b || 'c' FROM t GROUP BY a || b", "(a || b) || 'c'"),
        ("SELECT a || b AS k, a || b || 'c' FROM t GROUP BY 1", "(a || b) || 'c'"),
        ("SELECT a || b || c FROM t GROUP BY a || b || c", None),
        ("SELECT a || b || c FROM t", None),
    ],
)
def test_a_group_key_that_begins_a_longer_chain_gets_parentheses(
    sql: str, parted: str | None
) -> None:
    tree = parse(sql)
    assert part_group_keys(tree) is (parted is not None)
    assert display(tree) == (sql if parted is None else sql.replace("a || b || 'c'", parted))
