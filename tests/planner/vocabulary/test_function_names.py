"""A call is known by its SQL names, whatever class of node the parser made of it."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.vocabulary.function_names import function_names, is_volatile


@pytest.mark.parametrize(
    ("call", "name", "volatile"),
    [
        ("lower(x)", "lower", False),
        ("json_structure(x)", "json_structure", False),
        ("approx_top_k(x, 3)", "approx_top_k", False),
        ("random()", "random", True),
        ("gen_random_uuid()", "gen_random_uuid", True),
    ],
)
def test_names_are_lower_case_and_say_what_is_volatile(
    call: str, name: str, volatile: bool
) -> None:
    node = parse(f"SELECT {call}").selects[0]
    assert isinstance(node, exp.Func)
    assert name in function_names(node)
    assert is_volatile(node) is volatile
