"""Selects with windows that gather get a check before them, which Spark's form has not."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.gathering_windows import bound_windows
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.value_bounds import without_bounds
from tests.planner.functions.gathered_checks import checked_names


def bounded(text: str) -> exp.Expr:
    tree = parse(text)
    bound_windows(nodes_of(tree, exp.Window))
    return tree


@pytest.mark.parametrize(
    ("query", "checked"),
    [
        ("select list(x) over () from t", ["list"]),
        ("select list(x) over w, list(x) over w from t window w as (order by k)", ["list"]),
        ("select list(x) over (order by k), string_agg(x) over () from t", ["list", "string_agg"]),
        ("select k from t qualify len(list(x) over (order by k)) > 1", ["list"]),
        ("select histogram(x) over () from t", ["histogram"]),
        ("select histogram(x, [1, 2]) over () from t", []),
        ("select len(list(x) over ()) from t", []),
        ("select (select len(list(u.x) over ()) from u where u.k = t.k) from t", ["list"]),
        ("select sum(x) over (), list(x) from t", []),
        ("select list(1) over ()", []),
        ("select (select list(u.x) over () from u where u.k = t.k) from t", ["list"]),
        ("select l from t, lateral (select list(u.x) over () as l from u) as q", ["list"]),
        ("with recursive r(x) as (select 1 union select max(x, 2) over () from r) from r", ["max"]),
        ("select arg_max(x, k, 3) over (), min(x) over () from t", ["arg_max"]),
        ("select list(v.x) over () from (values (1)) as v(x)", ["list"]),
    ],
)
def test_each_window_that_may_gather_much_is_checked(query: str, checked: list[str]) -> None:
    assert checked_names(bounded(query)) == checked


def test_a_check_stands_beside_the_condition() -> None:
    tree = bounded("select list(x) over (partition by g) from t where a = 1 or b = 2")
    assert isinstance(tree.args["where"].this, exp.And)


def test_inner_windows_are_checked_in_the_rows_of_outer_checks() -> None:
    tree = bounded("select list(l) over () from (select list(x) over () as l from t) as q")
    assert checked_names(tree) == ["list"] * 3


def test_without_bounds_no_check_is_left() -> None:
    tree = without_bounds(bounded("select list(x) over () from t where k = 1"))
    assert checked_names(tree) == [] and "gathered" not in display(tree)
