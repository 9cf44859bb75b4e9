"""Sizes of arguments: the most and the least by the text, and as the engine computes them."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from sqlglot import exp

import pykudu_sql
from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.value_bounds.value_growth import CONSTANT_ELEMENT_BYTES, ELEMENT_BYTES
from pykudu_sql.planner.value_bounds.value_measures import (
    ComputedMeasures,
    least_measures,
    static_measures,
    value_bytes,
)


def arguments(*texts: str) -> list[exp.Expr]:
    return list(parse(f"select {', '.join(texts)} from t").expressions)


@pytest.fixture
def computed(evaluate: Callable[[str], Any]) -> Callable[[exp.Expr], Any]:
    """The engine's value of a measure."""
    return lambda node: evaluate(f"SELECT {printed(node)}")


@pytest.mark.parametrize("text", ["'abc'", "'ä'", "'ab' || 'c'", "repeat('ab', 3)", "upper('ab')"])
def test_the_size_of_a_constant_lies_between_the_least_and_the_most(
    computed: Callable[[exp.Expr], Any], text: str
) -> None:
    given = arguments(text)
    least = least_measures(given, is_constant=True).size(1)
    assert 0 <= least <= computed(ComputedMeasures(given).size(1))
    assert computed(ComputedMeasures(given).size(1)) <= static_measures(given).size(1)


def test_what_the_text_does_not_show_is_nothing_at_least_and_without_bound_at_most() -> None:
    given = arguments("x", "l")
    most, least = static_measures(given), least_measures(given, is_constant=False)
    assert (most.size(1), least.size(1)) == (inf, 0.0)
    assert (most.items(2), least.items(2)) == (inf, 0.0)
    assert (most.value(1), least.value(1)) == (inf, 0.0)
    assert (most.span(), least.span()) == (inf, 0.0)
    assert (most.texts(2), least.fields()) == (inf, 0.0)


def test_an_argument_that_a_call_lacks_has_no_bytes(
    computed: Callable[[exp.Expr], Any],
) -> None:
    given = arguments("'abc'")
    assert static_measures(given).size(2) == 0
    assert computed(ComputedMeasures(given).size(2)) == 0


@pytest.mark.parametrize(
    ("text", "items"),
    [("[1, 2, 3]", 3), ("([1])", 1), ("[]", 0), ("range(2, 10)", 8), ("range(0, 10, 5)", 2)],
)
def test_the_elements_of_a_list_are_counted(
    computed: Callable[[exp.Expr], Any], text: str, items: int
) -> None:
    given = arguments(text)
    assert static_measures(given).items(1) == items
    assert computed(ComputedMeasures(given).items(1)) == items


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("replace('abab', 'b', 'xy')", 12), ("(lpad('a', 4))", 17), ("upper('ab')", 4),
        ("levenshtein('a', 'b')", inf), ("repeat(x, 2)", inf),
    ],
)  # fmt: skip
def test_a_value_has_as_many_bytes_as_the_rule_of_its_call_allows(text: str, size: float) -> None:
    assert value_bytes(arguments(text)[0]) == size


def test_null_is_a_list_without_elements() -> None:
    assert static_measures(arguments("null")).items(1) == 0


@pytest.mark.parametrize(
    ("texts", "span"),
    [(("5",), 5), (("2", "9"), 7), (("9", "1", "-2"), 4), (("1", "9", "4"), 2)],
)
def test_a_range_has_as_many_values_as_steps(
    computed: Callable[[exp.Expr], Any], texts: tuple[str, ...], span: float
) -> None:
    given = arguments(*texts)
    assert static_measures(given).span() == span
    assert computed(ComputedMeasures(given).span()) == span


def test_a_range_of_times_is_measured_by_the_engine(
    computed: Callable[[exp.Expr], Any],
) -> None:
    given = arguments("timestamp '2026-01-01'", "timestamp '2026-01-03'", "interval 6 hours")
    assert computed(ComputedMeasures(given).span()) == 8
    stopped = arguments("timestamp '2026-01-01'", "timestamp '2026-01-03'", "interval 0 hours")
    assert computed(ComputedMeasures(stopped).span()) == 0


def test_the_texts_of_a_list_are_added_up(computed: Callable[[exp.Expr], Any]) -> None:
    given = arguments("['a', 'bc']")
    assert static_measures(given).texts(1) == 3
    assert computed(ComputedMeasures(given).texts(1)) == 3


def test_a_part_of_a_value_takes_no_less_than_an_element_if_it_is_a_number(
    computed: Callable[[exp.Expr], Any],
) -> None:
    given = arguments("5", "'abc'")
    measures = ComputedMeasures(given)
    assert (computed(measures.component(1)), computed(measures.component(2))) == (ELEMENT_BYTES, 3)
    assert (computed(measures.written(1)), computed(measures.written(2))) == (0, 3)


def test_a_value_that_is_no_text_may_have_as_many_elements_as_bytes(
    computed: Callable[[exp.Expr], Any],
) -> None:
    given = arguments("['a', 'b']", "'abc'", "x")
    measures = ComputedMeasures(given)
    assert (computed(measures.listed(1)), computed(measures.listed(2))) == (6, 0)
    static = static_measures(given)
    assert [static.listed(place) for place in (1, 2, 3)] == [inf, 0, inf]


def test_only_a_list_has_elements_whose_number_is_not_fewer_than_counted(
    computed: Callable[[exp.Expr], Any],
) -> None:
    given = arguments("['a', 'b']", "'a,b'", "null::int[]", "'a,b'::blob", "[k, 1]", "x")
    measures = ComputedMeasures(given)
    assert [computed(measures.elements(place)) for place in (1, 2, 3, 4)] == [2, 0, 0, 0]
    static = static_measures(given)
    assert [static.elements(place) for place in (1, 2, 5, 6)] == [2, 0, 2, inf]
    least = least_measures(given, is_constant=False)
    assert [least.elements(place) for place in (1, 2, 5, 6)] == [2, 0, 2, 0]


def test_elements_of_constants_take_more() -> None:
    given = arguments("[1]")
    assert ComputedMeasures(given, is_constant=True).element == CONSTANT_ELEMENT_BYTES
    assert least_measures(given, is_constant=False).element == ELEMENT_BYTES


@pytest.mark.parametrize(
    ("pattern", "is_wide"),
    [("'{} {}'", False), ("'%5s'", False), ("'{:99999}'", True), ("'%*d'", True)],
)
def test_a_field_of_many_digits_or_of_a_width_that_is_given_is_beyond_any_bound(
    computed: Callable[[exp.Expr], Any], pattern: str, is_wide: bool
) -> None:
    amount = computed(ComputedMeasures(arguments(pattern, "'abc'")).fields())
    assert (float(amount) == 1e300) is is_wide


@pytest.mark.parametrize("count", [1, 2, 16, 17, 600])
def test_any_number_of_sizes_is_added_up_in_a_tree_that_is_not_deep(
    computed: Callable[[exp.Expr], Any], count: int
) -> None:
    measures = ComputedMeasures(arguments(*["'ab'"] * count))
    total = measures.total([measures.size(place) for place in range(1, count + 1)])
    assert computed(total) == 2 * count
    assert max(node.depth for node in total.walk()) < 64


def test_what_is_null_counts_as_nothing(computed: Callable[[exp.Expr], Any]) -> None:
    measures = ComputedMeasures(arguments("null::text", "null::int[]", "null::int"))
    assert [computed(measures.size(place)) for place in (1, 2, 3)] == [0, 0, 0]
    assert [computed(measures.listed(place)) for place in (1, 2, 3)] == [0, 0, 0]
    assert [computed(each) for each in (measures.items(2), measures.texts(2))] == [0, 0]
    assert computed(measures.value(3)) == 0
    assert computed(ComputedMeasures(arguments("null::int", "5")).span()) == 0


PATTERN = "^https?://(?:www[.])?([^/]+)/.*$"


@pytest.mark.parametrize(
    "call",
    ["regexp_replace(s, '{}', 'x')", "regexp_extract(s, '{}', 1)"],
)
def test_a_short_constant_pattern_is_compiled_once_and_needs_no_check(call: str) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, s STRING, p STRING)")
        assert "within" not in _plan(connection, call.format(PATTERN))
        assert "within" in _plan(connection, call.replace("'{}'", "p"))
        assert "within" in _plan(connection, call.format("a" * 2000))


def _plan(connection: pykudu_sql.Connection, expression: str) -> str:
    rows = connection.execute(f"EXPLAIN (PASSES) SELECT {expression} FROM t").fetchall()
    return "\n".join(line for (line,) in rows).lower()


@pytest.mark.parametrize(("pattern", "parameters"), [(f"'{PATTERN}'", ()), ("?", (PATTERN,))])
def test_many_rows_meet_a_constant_pattern_in_little_memory(
    pattern: str, parameters: tuple[str, ...]
) -> None:
    url = "concat('http://www.host.org/', range)"
    with pykudu_sql.connect(":memory:", memory_limit=256 << 20) as connection:
        query = f"SELECT DISTINCT regexp_replace({url}, {pattern}, '\\1') FROM range(20000)"
        assert connection.execute(query, parameters).fetchall() == [("host.org",)]
