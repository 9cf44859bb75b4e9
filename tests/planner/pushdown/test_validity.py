"""Which columns scans are asked only where they are NULL of."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.pushdown.validity import with_validity


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("select count(s) from t where b is null", {"s", "b"}),
        ("select count(s), max(s) from t", set()),
        ("select count(s) from t where s > 'a'", set()),
        ("select count(s), count(*) from t group by a", {"s"}),
        ("select count(s) from t group by s", set()),
        ("select count(x.s) from t x join t y using (s)", set()),
        ("select count(s) from (select * from t) z", set()),
        ("select *, s is null from t", set()),
        ("select (select count(u.name) from u where u.t_id = t.id) from t where s is null",
         {"s", "name"}),
    ],
)  # fmt: skip
def test_only_columns_of_which_nothing_else_is_asked(
    sql: str, columns: set[str], context: PlanContext
) -> None:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    asked = {s.table.schema.by_id[i].name for s in planned.scans for i in s.validity_ids}
    assert asked == columns


def test_a_query_without_scans_stays_as_it_is() -> None:
    assert with_validity((), {}, BoundQuery(exp.Select()), ()) == ()
