"""What a template makes of its arguments: a large one that it mentions twice is computed once."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.compatibility_functions import (
    TEMPLATES,
    replace_compatibility_function,
)
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.value_bounds.value_bounds import bound_values, without_bounds

_PLAIN = [
    (name, count)
    for (name, count), template in TEMPLATES.items()
    if count
    and all(f"_{i + 1}" in template for i in range(count))
    and "_pattern_" not in template
    and "_letters_" not in template
    # The engine computes equal aggregates once.
    and parse(f"SELECT {template}").find(exp.AggFunc) is None
]


@pytest.mark.parametrize(("name", "count"), _PLAIN)
def test_an_argument_of_unknown_size_stands_once_in_what_a_call_means(
    name: str, count: int
) -> None:
    arguments = ", ".join(f"lower(x) || 'mark{i}'" for i in range(count))
    call = exp.Anonymous(this=name, expressions=parse(f"SELECT {arguments}").expressions)
    meaning = to_sql(exp.select(replace_compatibility_function(call)))
    assert max(meaning.count(f"'mark{i}'") for i in range(count)) <= 1, meaning


def test_an_argument_that_is_small_stands_wherever_the_template_says() -> None:
    for argument in ("x", "'2024-01-01'", "left('abc', 2)"):
        meaning = to_sql(apply_rules(parse(f"SELECT int_months_between({argument}, x)")))
        assert "LIST_TRANSFORM" not in meaning.upper()


def test_a_call_whose_arguments_are_computed_once_is_as_written_to_other_engines() -> None:
    for call in ("next_day({}, 'mon')", "months_between({}, {})", "soundex({})", "quote({})"):
        plain = to_sql(apply_rules(parse(f"SELECT {call.replace('{}', 'x')}")))
        tree = bound_values(apply_rules(parse(f"SELECT {call.replace('{}', 'lower(y)')}")))
        bare = to_sql(without_bounds(tree))
        expected = plain.replace('"x"', 'LOWER("y")')
        assert bare.lower() == expected.lower()
