"""SHOW, DESCRIBE and PRAGMA as EXPLAIN heads them: in the words of the statement."""

import pytest

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.listing_plans import Describe, Pragma, PragmaKind, Show
from pykudu_sql.planner.planner import plan


@pytest.mark.parametrize(
    ("sql", "headline"),
    [
        ("show tables", "SHOW TABLES"),
        ("show tables in default like 't%'", "SHOW TABLES IN default LIKE 't%'"),
        ("show tablets from t", "SHOW TABLETS t"),
        ("show create database default", "SHOW CREATE DATABASE default"),
        ("show databases like ''", "SHOW DATABASES LIKE ''"),
    ],
)
def test_show_says_what_it_lists(context: PlanContext, sql: str, headline: str) -> None:
    planned = plan(sql, context)
    assert isinstance(planned, Show)
    assert planned.headline == headline


def test_describe_and_pragma_name_the_table(context: PlanContext) -> None:
    t = context.catalog.table("t")
    assert Describe(t).headline == "DESCRIBE t"
    assert Pragma(PragmaKind.TABLE_INFO, t).headline == "PRAGMA table_info(t)"
    assert Pragma(PragmaKind.TABLE_LIST).headline == "PRAGMA table_list"
