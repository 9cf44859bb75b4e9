"""Arguments that a check and its call share get a name, and are computed once."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.value_bounds.computed_once import (
    name_arguments,
    varies,
    with_parts,
    without_parts,
)


def expression(text: str) -> exp.Expr:
    tree: exp.Expr = parse(f"select {text} from t").expressions[0]
    return tree


def named(text: str) -> exp.Expr:
    """A call with names for its arguments where they are more than columns and constants."""
    call = expression(text)
    return with_parts(call, name_arguments(list(call.iter_expressions())))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("greatest(length('abc') + random() * 0, 2)", 3),
        ("least((select 4), length('abc'), 9)", 3),
    ],
)
def test_a_call_with_named_arguments_has_the_same_value(
    evaluate: Callable[[str], Any], text: str, value: int
) -> None:
    whole = named(text)
    assert isinstance(whole, exp.Anonymous) and whole.name == "list_extract"
    assert evaluate(f"SELECT {printed(whole)}") == value


def test_the_names_of_arguments_are_taken_back() -> None:
    text = "greatest(upper(s), lower(s), a)"
    whole = named(text)
    assert isinstance(whole, exp.Anonymous)
    assert printed(without_parts(whole)) == printed(expression(text))


@pytest.mark.parametrize("text", ["greatest(a, 1)", "least(cast(a as int), -1, ?)"])
def test_columns_and_constants_need_no_name(text: str) -> None:
    call = expression(text)
    named_arguments = name_arguments(list(call.iter_expressions()))
    assert named_arguments.parts == {}
    assert with_parts(call, named_arguments) is call


def test_an_element_of_another_list_stays_as_it_is() -> None:
    call = expression("list_extract(list_transform([struct_pack(a := 1)], x -> x.a), 1)")
    calls = [call, expression("list_extract(l, 1)")]
    for each in calls:
        extract = exp.Anonymous(this="list_extract", expressions=list(each.iter_expressions()))
        assert without_parts(extract) is extract


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'x'", False),
        ("upper('x')", False),
        ("list_transform([1], i -> i + 1)", False),
        ("a", True),
        ("list_transform([1], i -> i + a)", True),
        ("(select 1)", True),
    ],
)
def test_what_holds_a_column_or_a_query_varies(text: str, expected: bool) -> None:
    assert varies(expression(text)) is expected


def test_what_gets_a_name_is_taken_out_of_its_call_as_it_is() -> None:
    call = expression("greatest(upper(s), 2)")
    argument = next(call.iter_expressions())
    parts = name_arguments([argument]).parts
    assert parts["a1"] is argument
    assert not list(call.find_all(exp.Upper))
