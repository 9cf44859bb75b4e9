"""Rules of functions whose values outgrow their arguments, held against what the engine makes."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse, printed
from pykudu_sql.planner.value_bounds.excess import Bounded
from pykudu_sql.planner.value_bounds.value_calls import Call, call_of
from pykudu_sql.planner.value_bounds.value_growth import GROWING, times
from pykudu_sql.planner.value_bounds.value_measures import ComputedMeasures, static_measures


def call(text: str) -> Call:
    called = call_of(parse(f"select {text}").expressions[0])
    assert called is not None
    return called


def most(text: str) -> float:
    """What the rule of a call allows for."""
    called = call(text)
    return float(GROWING[called.name].rule(static_measures(called.arguments)))


@pytest.mark.parametrize(
    "text",
    [
        "repeat('äb', 100)", "space(50)", "lpad('a', 40, 'ä')", "replace('abc', '', 'xyz')",
        "replace('aaa', 'a', 'xyz')", "regexp_replace('aaa', 'a', '<\\0\\0>', 'g')",
        "hex('abc')", "base64('abcd'::blob)", "url_encode('ä b')", "translate('abc', 'a', 'ä')",
        "concat('ab', 'c')", "concat_ws(', ', 'a', 'b')", "concat_ws('a', '', '', '', '')",
        "bin(1023)", "initcap('ab cd')",
        "array_to_string(['a', 'bc'], ', ')", "bar(5, 0, 10, 40)", "to_base(255, 2, 64)",
        "to_json('\"\t')",
    ],
)  # fmt: skip
def test_no_text_has_more_bytes_than_its_rule_says(
    evaluate: Callable[[str], Any], text: str
) -> None:
    sql = printed(parse(f"select {text} as x"))
    made = evaluate(f"SELECT strlen(CAST(x AS VARCHAR)) FROM ({sql}) AS q(x)")
    assert 0 < made <= most(text)


@pytest.mark.parametrize(
    "text",
    [
        "range(1, 100)", "range(20)", "range(100, 1, -3)",
        "list_resize([1], 40)", "list_concat([1], [2, 3])", "split('a,b,c', ',')",
        "list_distinct([1, 2])", "[1, 2, 3]",
    ],
)  # fmt: skip
def test_no_list_has_more_elements_than_its_rule_says(
    evaluate: Callable[[str], Any], text: str
) -> None:
    sql = printed(parse(f"select {text} as x"))
    assert 0 < evaluate(f"SELECT len(x) FROM ({sql}) AS q(x)") * 16 <= most(text)


@pytest.mark.parametrize("text", ["repeat('ab', -5)", "range(5, 1)", "repeat('', 9)"])
def test_what_makes_nothing_is_allowed_nothing(text: str) -> None:
    assert most(text) == 0


def test_a_count_that_is_not_written_has_no_bound() -> None:
    assert [most(f"repeat('ab', {n})") for n in ("3", "?", "3 + 3")] == [6, inf, inf]


def test_distances_are_bounded_by_steps_and_patterns_by_their_own_length() -> None:
    distance = GROWING["levenshtein"]
    assert distance.bounded is Bounded.STEPS
    assert most(f"levenshtein('{'a' * 100}', '{'b' * 100}')") >= 100 * 100
    matches = GROWING["regexp_matches"]
    assert (matches.carrier, matches.wants_constant) == (2, True)


def test_a_multiple_counts_all_arguments() -> None:
    measures = static_measures(call("concat('ab', 'cde')").arguments)
    assert [times(factor).rule(measures) for factor in (1, 6)] == [5, 30]


def test_no_rule_wants_an_argument_that_calls_of_it_lack() -> None:
    assert {name for name, growth in GROWING.items() if growth.carrier not in (1, 2)} == set()


# A call of each rule, whose texts, lists and counts are more than nothing.
CALLS = {
    "repeat": "'ab', 3", "space": "3", "pad": "'a', 4, 'b'", "lpad": "'a', 4, 'b'",
    "rpad": "'a', 4, 'b'", "replace": "'ab', 'a', 'c'", "regexp_replace": "'ab', 'a', 'c', 'g'",
    "to_base": "255, 2, 64", "bar": "5, 0, 10, 40", "range": "1, 9, 2",
    "generate_series": "1, 9, 2", "list_resize": "[1], 4, 0", "array_resize": "[1], 4, 0",
    "array_to_string": "['a'], ','", "list_string_agg": "['a'], ','", "json_object": "'a', 'b'",
    "list_aggregate": "['a'], 'string_agg', ','", "list_aggr": "['a'], 'string_agg', ','",
    "aggregate": "['a'], 'string_agg', ','", "list_histogram": "[1]", "list_distinct": "[1]",
    "list_entropy": "[1]", "list_mode": "[1]", "list_unique": "[1]", "array_distinct": "[1]",
    "array_unique": "[1]", "map_from_entries": "[(1, 2)]", "j_s_o_n_object": "'a', 'b'",
    "cast_nested": "'[1]'", "initcap": "'ab'", "hex": "'ab'", "to_hex": "'ab'",
    "base64": "'ab'::blob", "to_base64": "'ab'::blob", "regexp_escape": "'ab'",
    "nfc_normalize": "'ab'", "url_encode": "'ab'", "json_quote": "'ab'", "bin": "'ab'",
    "to_binary": "'ab'", "to_json": "'ab'", "concat_ws": "'-', 'a', ['b'], 'c'",
    "array": "'a', 'b'", "list_pack": "'a', 'b'", "struct": "'a', 'b'", "row": "'a', 'b'",
    "list_select": "['a'], [1]", "array_select": "['a'], [1]",
}  # fmt: skip
_LISTS = "array_c array_h array_i array_o arrays list_c list_h list_i list_z array_z map"


@pytest.mark.parametrize("name", sorted(GROWING))
def test_a_null_argument_leaves_a_bound_of_what_the_others_make(
    evaluate: Callable[[str], Any], name: str
) -> None:
    are_lists = name.startswith(tuple(_LISTS.split()))
    written = CALLS.get(name, "['a'], ['b', 'c']" if are_lists else "'ab', 'cd'")
    arguments = parse(f"select f({written})").expressions[0].expressions
    for null in range(len(arguments)):
        given = [*arguments[:null], exp.null(), *arguments[null + 1 :]]
        amount = evaluate(f"SELECT {printed(GROWING[name].rule(ComputedMeasures(given)))}")
        assert amount is not None and amount >= 0, (name, null)
