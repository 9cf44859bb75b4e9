"""Names without a qualifier that mean a column of the nearer of two relations."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.dml.nearer_names import (
    bind_nearer,
    qualify_nearer,
    row_values,
    set_values,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import UndefinedColumnError


def qualified(text: str, context: PlanContext) -> str:
    node = parse(f"SELECT {text}").expressions[0]
    nearer, other = (exp.Table(this=exp.to_identifier(name)) for name in "ut")
    bound = bind_nearer([node], nearer, other, None, context)
    qualify_nearer([node], bound, CorrelationName("u", "default"))
    return node.sql()


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("id + t.id", "default.u.id + t.id"),
        ("a", "a"),
        ("(SELECT max(v.id) FROM t AS v WHERE v.a > id)",
         "(SELECT MAX(v.id) FROM t AS v WHERE v.a > id)"),
        ("(SELECT max(v.n) FROM (SELECT 1 AS n) AS v WHERE n > id)",
         "(SELECT MAX(v.n) FROM (SELECT 1 AS n) AS v WHERE n > default.u.id)"),
        ("EXISTS(SELECT 1 FROM (SELECT 1 AS n) AS u WHERE u.n = id)",
         "EXISTS(SELECT 1 FROM (SELECT 1 AS n) AS u WHERE u.n = id)"),
    ],
)  # fmt: skip
def test_a_name_means_the_nearer_relation_also_in_a_subquery_that_has_none_of_it(
    context: PlanContext, text: str, meaning: str
) -> None:
    assert qualified(text, context) == meaning


def test_a_name_that_neither_has_is_refused(context: PlanContext) -> None:
    with pytest.raises(UndefinedColumnError):
        qualified("nosuch", context)


def test_values_of_a_clause_are_those_without_default() -> None:
    update = parse("UPDATE t SET a = 1, b = DEFAULT, (c, d) = (2, DEFAULT)")
    assert [node.sql() for node in set_values(update.expressions)] == ["1", "2"]
    assert [node.sql() for node in row_values(exp.column("default"))] == []
