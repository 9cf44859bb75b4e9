"""A traced query reports what each pass has changed."""

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.pass_trace import query_lines, run_traced
from pykudu_sql.planner.query.passes import PASSES


def traced(sql: str, context: PlanContext) -> dict[str, list[str]]:
    steps: dict[str, list[str]] = {}
    query = LogicalQuery.of(bind(parse(sql), context), 0)
    run_traced(query, PASSES, context, lambda name, lines: steps.update({name: list(lines)}))
    return steps


def test_the_trace_begins_with_the_bound_query_and_names_all_passes(context: PlanContext) -> None:
    steps = traced("select a from t where a = 1", context)
    assert list(steps) == ["bind", *(each.name for each in PASSES)]
    assert steps["bind"][0] == "sql: SELECT a FROM t WHERE a = 1"
    assert steps["push_down_predicates"] == ["pushed to t: a = 1"]
    assert "scan __scan_0: t (a) pushed a = 1" in steps["plan_scans"]


def test_a_pass_that_changes_nothing_reports_nothing(context: PlanContext) -> None:
    steps = traced("select 1", context)
    assert steps["push_down_predicates"] == steps["plan_scans"] == []


def test_a_query_is_shown_with_its_equalities_limit_and_parameters(context: PlanContext) -> None:
    joined = traced("select t.a from t join u on t.id = u.t_id where t.a = :n", context)
    assert "equality: values of u.t_id narrow t.id" in joined["infer_predicates"]
    assert "$1: :n as INT" in joined["number_parameters"]
    limited = traced("select a from t order by id limit 3", context)
    assert limited["push_down_limit"] == ["limit: 3 rows in key order"]


def test_a_bound_query_is_its_statement(context: PlanContext) -> None:
    query = LogicalQuery.of(bind(parse("select a from t"), context), 0)
    assert next(iter(query_lines(query))) == "sql: SELECT a FROM t"
