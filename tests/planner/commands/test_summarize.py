"""SUMMARIZE as a query over a table, a view or a query."""

import pytest

from pykudu_sql.planner.commands.summarize import plan_summary
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import Error


@pytest.mark.parametrize(
    ("text", "scans"),
    [
        ("summarize t", 1),
        ("summarize t as of '2020-01-01'", 1),
        ("summarize select a, s from t -- a comment", 1),
        ("summarize (select 1)", 0),
    ],
)
def test_a_summary_reads_its_source_once(context: PlanContext, text: str, scans: int) -> None:
    query = plan_summary(TokenStream(text), context)
    assert len(query.scans) == scans
    assert query.names[:3] == ("column_name", "column_type", "min")


def test_texts_have_no_mean(context: PlanContext) -> None:
    query = plan_summary(TokenStream("summarize select s from t"), context)
    assert "AVG" not in query.sql and "APPROX_QUANTILE" not in query.sql
    assert "AVG" in plan_summary(TokenStream("summarize select a from t"), context).sql


@pytest.mark.parametrize(
    ("text", "sqlstate", "place"),
    [
        ("summarize nope", "42P01", 10),
        ("summarize select nope from t", "42703", 17),
        ("summarize 5", "42601", 10),
        ("summarize t where", "42601", 12),
        ("summarize select ?", "0A000", None),
    ],
)
def test_an_error_stands_in_the_statement(
    context: PlanContext, text: str, sqlstate: str, place: int | None
) -> None:
    with pytest.raises(Error) as caught:
        plan_summary(TokenStream(text), context)
    assert caught.value.sqlstate == sqlstate
    span = caught.value.span
    assert (None if span is None else span.start) == place
