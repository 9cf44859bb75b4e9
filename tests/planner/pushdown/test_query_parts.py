"""A part of a query has the scans and the parameters that it mentions, numbered anew."""

from sqlglot import exp

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.pushdown.query_parts import part_of
from pykudu_sql.planner.tree_nodes import nodes_of


def test_a_part_has_its_own_scans_and_parameters(context: PlanContext) -> None:
    query = plan("select a from t where a > ? and id in (select t_id from u where id < ?)", context)
    assert isinstance(query, Query)
    inner = list(nodes_of(query.residual, exp.Select))[-1].copy()
    part = part_of(query, inner)
    assert len(query.scans) == 2
    assert [scan.table.name for scan in part.scans] == ["u"]
    assert part.parameters == (1,)
    assert "$1" in part.sql and "$2" not in part.sql
    assert "$2" in query.sql
