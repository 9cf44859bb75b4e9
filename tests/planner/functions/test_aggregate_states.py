"""Selects with aggregates of uncounted states get checks, unless their rows are too few."""

from math import inf

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.aggregate_states import (
    CALLS,
    RelationSize,
    has_states,
    with_checked_states,
)
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.gathered_values import STATES

SIZES = {"t": RelationSize(1000, 100), "u": RelationSize(10, 8)}
MOST = 2 << 20


def checked(query: str, most: float = -1) -> list[str]:
    """The names of the aggregates that are checked."""
    form = with_checked_states(apply_rules(parse(query)), SIZES, most)
    if form is None:
        return []
    calls = nodes_of(form, exp.Anonymous)
    return [call.expressions[-1].name for call in calls if call.name == STATES]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("select histogram(x), max(x) from t", ["histogram"]),
        ("select histogram(x), histogram(x) from t", ["histogram"]),
        ("select histogram(x), histogram(x) filter (where y) from t", ["histogram"] * 2),
        ("select g from t group by g having cardinality(histogram(x)) > 1", ["histogram"]),
        ("select approx_top_k(x, 5) from t group by g", ["approx_top_k"]),
        ("select mode(x), entropy(x), median(x), list(x) from t group by g", []),
        ("select histogram(x) over (), entropy(x) over () from t", []),
        ("select histogram(1)", []),
    ],
)
def test_each_aggregate_that_the_engine_does_not_count_is_checked(
    query: str, names: list[str]
) -> None:
    assert checked(query) == names


@pytest.mark.parametrize(
    ("query", "is_free"),
    [
        ("select histogram(x is null) from t", True),
        ("select histogram(1) from t, t as b", False),
        ("select histogram(1) from t join u on true", True),
        ("select histogram(1) from (select * from t limit 9) as q", True),
        ("select histogram(1) from (select unnest(l) from t) as q", False),
        ("select histogram(1) from range(9) as r(i)", False),
        ("select histogram(1) from t, lateral (select 1) as l", False),
        ("select (select histogram(1) from t where t.k = a.k) from u as a", False),
        ("with q as (select 1 from t) select histogram(1) from q", False),
        ("select approx_top_k(1, 5) from t", True),
        ("select approx_top_k(1, 5000) from t", False),
        ("select approx_top_k(1, ?) from t", False),
        ("select reservoir_quantile(1, 0.5) from t", True),
        ("select reservoir_quantile(1, 0.5) from t group by g", False),
        ("select histogram(1, [1, 2]) from t group by g", True),
        ("select histogram(1, l) from t group by g", False),
    ],
)
def test_few_rows_of_relations_need_no_check(query: str, is_free: bool) -> None:
    assert checked(query, MOST) == [] if is_free else checked(query, MOST)
    assert checked(query, inf) == []


def test_a_check_stands_beside_the_condition_and_groups_alike() -> None:
    query = "select g as y, histogram(x) from t where a or b group by y having max(x) > 1 limit 1"
    form = with_checked_states(parse(query), SIZES, -1)
    assert form is not None and isinstance(form.args["where"].this, exp.And)
    (check,) = nodes_of(form.args["where"], exp.Group)
    assert "HAVING" not in display(check.parent) and "LIMIT" not in display(check.parent)


@pytest.mark.parametrize(
    ("query", "has"),
    [
        ("select histogram(x) over w from t", False),
        ("select histogram(x) filter (where y) over w from t", False),
        ("select histogram(x) filter (where y) from t", True),
        ("select reservoir_quantile(x, 1) from t", True),
        ("select mode(x), md5(x) from t", False),
    ],
)
def test_windows_and_other_aggregates_have_no_states_here(query: str, has: bool) -> None:
    assert has_states(nodes_of(apply_rules(parse(query)), *CALLS)) == has
