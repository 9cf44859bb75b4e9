"""Selects whose sorts and windows copy large values get a check before them."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.copied_values import COPYING, bound_copies
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.value_bounds import bound_values, without_bounds
from pykudu_sql.planner.value_bounds.value_sizes import note_cell
from pykudu_sql.storage.common.types.types import DataType, Kind
from tests.planner.functions.gathered_checks import checked_names

LARGE = "repeat('a', 1000000)"
TYPES = {"i": DataType(Kind.INT64), "x": DataType(Kind.STRING)}


def bounded(text: str) -> exp.Expr:
    """A query over the columns of a table, `i` and `x`, and others of any size."""
    tree = parse(text)
    for column in nodes_of(tree, exp.Column):
        if column.name in TYPES:
            note_cell(column, TYPES[column.name])
    tree = bound_values(tree)
    bound_copies(nodes_of(tree, *COPYING), lambda node: None)
    return tree


@pytest.mark.parametrize(
    ("query", "checked"),
    [
        (f"select lag({LARGE}) over (order by i) from t", ["lag"]),
        (f"select lag(x, 1, {LARGE}) over (order by i) from t", ["lag"]),
        ("select nth_value(z, 2) over (order by i) from q", ["nth_value"]),
        ("select first_value(?) over (order by i) from t", ["first_value"]),
        (f"select count(distinct {LARGE}) over () from t", ["count"]),
        (f"select max({LARGE}) over (partition by i) from t", ["max"]),
        (f"select i from t qualify lag({LARGE}) over (order by i) is null", ["lag"]),
        (f"select row_number() over (order by {LARGE}, i) from t", ["ORDER BY"]),
        (f"select i from t order by {LARGE}", ["ORDER BY"]),
        (f"select i, {LARGE} as z from t order by z", ["ORDER BY"]),
        (f"select i, {LARGE} from t order by 2", ["ORDER BY"]),
        ("select i from q order by i % 7, z", ["ORDER BY"]),
        (f"select i from t order by [{LARGE}]", ["ORDER BY"]),
        (f"select 'a' from t union all select {LARGE} from t order by 1", ["ORDER BY"]),
        (f"select '{'a' * 70000}' as z from t order by z", ["ORDER BY"]),
        # What has the size of cells, or is counted by the engine, is not.
        ("select lag(x) over (order by x) from t order by x, upper(x)", []),
        ("select i, lag(x, 1, 'a') over (order by i) from t order by 1, 2", []),
        (f"select distinct {LARGE} as z from t order by z", []),
        (f"select i, {LARGE} from t order by i", []),
        (f"select row_number() over (order by i), {LARGE} from t", []),
        (f"select lag({LARGE}) over ()", []),
    ],
)
def test_what_may_be_large_is_checked_where_it_is_copied(query: str, checked: list[str]) -> None:
    assert checked_names(bounded(query)) == checked


def test_the_rows_of_a_check_are_those_before_windows_order_and_limit() -> None:
    tree = bounded(f"select i, {LARGE} as z from t where i > 5 order by z limit 3")
    condition = display(tree.args["where"])
    assert "i > 5" in condition
    assert "LIMIT" not in condition and "ORDER BY z" not in condition


def test_without_bounds_no_check_is_left() -> None:
    tree = without_bounds(bounded(f"select lag({LARGE}) over (order by i) from t where i = 1"))
    assert checked_names(tree) == [] and "gathered" not in display(tree)
