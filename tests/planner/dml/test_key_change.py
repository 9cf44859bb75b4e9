"""What of a statement tells that it is about one row by its key, and what RETURNING shows of it."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.dml.key_change import may_name_key, returned_columns
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext


def clauses(sql: str) -> exp.Expr:
    return parse(f"delete from events {sql}")


@pytest.mark.parametrize(
    ("where", "is_named"),
    [
        ("where host = 'a' and at = 5", True),
        ("where 5 = AT and (events.host = ? and value > 1)", True),
        ("where host = 'a'", False),
        ("where host = 'a' or at = 5", False),
        ("where host = 'a' and at > 5", False),
        ("", False),
    ],
)
def test_a_where_may_name_the_key(context: PlanContext, where: str, is_named: bool) -> None:
    table = context.catalog.tables["events"]
    assert may_name_key(clauses(where).args.get("where"), table) is is_named


@pytest.mark.parametrize(
    ("items", "names"),
    [
        ("at, at", ["at", "at"]),
        ("value as V, events.Host", ["v", "host"]),
        ("value + 1", None),
        ("events.*", None),
        ("other.value", None),
        ("nope", None),
        ("* exclude (at)", None),
    ],
)
def test_returning_of_plain_columns_needs_no_engine(
    context: PlanContext, items: str, names: list[str] | None
) -> None:
    table = context.catalog.tables["events"]
    listed = clauses(f"returning {items}").args["returning"].expressions
    shown = returned_columns(listed, table, CorrelationName("events", "default"))
    assert (None if shown is None else [name for name, _ in shown]) == names
