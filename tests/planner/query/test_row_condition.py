"""Conditions given as text are planned as queries, and their errors stand in that text."""

import pytest

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.row_condition import plan_condition
from pykudu_sql.storage.errors import Error, NotSupportedError, SyntaxError


def test_a_condition_is_a_query_of_one_scan(context: PlanContext) -> None:
    query = plan_condition("a = 1 -- or so", "t", ["id"], context)
    assert [scan.table.name for scan in query.scans] == ["t"]
    with pytest.raises(NotSupportedError, match="one row of 't' alone"):
        plan_condition("a = (SELECT max(a) FROM t)", "t", ["id"], context)


@pytest.mark.parametrize("qualifier", ["", "t.", "default.t.", "DEFAULT.T."])
def test_a_qualifier_names_the_table(context: PlanContext, qualifier: str) -> None:
    query = plan_condition(f"{qualifier}id = 1", "t", ["id"], context)
    assert query.sql == plan_condition("id = 1", "t", ["id"], context).sql.replace(
        '"id" = 1', '"t"."id" = 1' if qualifier else '"id" = 1'
    )


@pytest.mark.parametrize("qualifier", ["u.", "s1.t.", "x.default.t."])
def test_a_qualifier_of_another_table_is_refused(context: PlanContext, qualifier: str) -> None:
    with pytest.raises(Error, match="is no table of this query"):
        plan_condition(f"{qualifier}id = 1", "t", ["id"], context)


@pytest.mark.parametrize(
    ("condition", "message", "caret"),
    [
        ("foo = 1", "'foo' does not exist", "LINE 1: foo = 1\n        ^^^"),
        ("a = 1\nAND foo = 1", "'foo' does not", "LINE 2: AND foo = 1\n            ^^^"),
        ("a ==", "at the end of the condition", "LINE 1: a ==\n            ^"),
        ("a = 1\nAND (b = 2", "at the end of the", "LINE 2: AND (b = 2\n                  ^"),
        ("a = 'x", "no end", "LINE 1: a = 'x\n            ^"),
        ("a IN (", "at the end of the condition", "LINE 1: a IN (\n              ^"),
        ("a = 1)", r'near "\)"', "LINE 1: a = 1)\n             ^"),
        ("a = 1) OR (id = 2", r'near "\)"', "LINE 1: a = 1) OR (id = 2\n             ^"),
    ],
)
def test_an_error_stands_where_the_condition_has_it(
    context: PlanContext, condition: str, message: str, caret: str
) -> None:
    with pytest.raises(Error, match=message) as caught:
        plan_condition(condition, "t", ["id"], context)
    assert caught.value.position is not None
    assert caught.value.position.caret() == caret


@pytest.mark.parametrize("condition", ["", " \n", "-- nothing", "/* nothing */"])
def test_an_empty_condition_is_said_to_be_empty(context: PlanContext, condition: str) -> None:
    with pytest.raises(SyntaxError, match="the condition is empty"):
        plan_condition(condition, "t", ["id"], context)


@pytest.mark.parametrize(
    "condition",
    [
        """a = EXTRACT("year FROM now()) OR (getenv('HOME')) = extract(year" FROM now())""",
        """a = CAST('x' AS "int) OR (getenv('HOME')) = CAST('x' AS int")""",
        "a > date_add(now(), 1, 'day OR (getenv(''HOME'')) = interval 1 day')",
        "a = 1 /* x */) OR (getenv('HOME') = 'x'",
    ],
)
def test_no_text_of_a_condition_becomes_sql(context: PlanContext, condition: str) -> None:
    with pytest.raises(Error) as caught:
        plan_condition(condition, "t", ["id"], context)
    assert caught.value.sqlstate in ("22023", "42601", "42883")
