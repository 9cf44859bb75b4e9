"""Equalities pass the conditions on one column on to the other."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.explain.predicate_text import predicate_text
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.pushdown import push_down
from pykudu_sql.planner.pushdown.runtime_filters import join_equalities
from pykudu_sql.planner.pushdown.transitive import with_equalities


def inferred(source: str, context: PlanContext) -> dict[str, str]:
    """The predicates of mentions, by their names."""
    bound = bind(parse(f"select 1 from {source}"), context)
    predicates = with_equalities(push_down(bound, context).predicates, join_equalities(bound))
    return {
        reference.alias: predicate_text(predicate, reference.table.schema)
        for reference, predicate in predicates.items()
    }


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("t.id between 5 and 9", "t_id >= 5 AND t_id <= 9"),
        ("t.id in (1, 2, ?)", "t_id IN (1, 2, ?1)"),
        ("t.id = ?", "t_id = ?1"),
        ("(t.id = 1 or t.id > 7)", "t_id >= 8 OR t_id = 1"),
    ],
)
def test_a_condition_on_a_column_holds_for_the_column_that_it_equals(
    context: PlanContext, condition: str, other: str
) -> None:
    assert inferred(f"t, u where u.t_id = t.id and {condition}", context)["u"] == other


def test_a_prefix_is_passed_on_among_texts(context: PlanContext) -> None:
    found = inferred("t, u where t.s = u.name and t.s like 'ab%'", context)
    assert found == {"t": "s STARTS WITH 'ab'", "u": "name STARTS WITH 'ab'"}


def test_conditions_travel_along_a_chain_of_equalities(context: PlanContext) -> None:
    found = inferred("t x, t y, u where x.id = y.id and y.id = u.t_id and x.id = 5", context)
    assert found == {"x": "id = 5", "y": "id = 5", "u": "t_id = 5"}


def test_a_value_that_the_other_column_cannot_have_matches_nothing(context: PlanContext) -> None:
    found = inferred("kinds k, t where k.small = t.a and t.a = 1000", context)
    assert found == {"t": "a = 1000", "k": "false"}


@pytest.mark.parametrize(
    "source",
    [
        "t, u where t.id = u.t_id and t.a = 4",
        "t, u where t.id = u.t_id and (t.id = 1 or t.a = 4)",
        "t full join u on t.id = u.t_id where t.id = 5",
        "t, u where t.d = u.t_id and t.d = 4",
    ],
)
def test_conditions_on_other_columns_stay_where_they_are(context: PlanContext, source: str) -> None:
    assert inferred(source, context).keys() == {"t"}


def test_a_preserved_side_gets_nothing_from_the_other(context: PlanContext) -> None:
    assert inferred("t left join u on u.t_id = t.id and u.t_id = 5", context) == {"u": "t_id = 5"}
