"""Errors of table functions that there are not: their names as they were written."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.missing_function import no_schema_function, no_table_function
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError


def test_a_function_that_is_not_offered_is_named() -> None:
    error = no_table_function("read_csv", exp.Anonymous(this="read_csv"))
    assert str(error).startswith("table function read_csv() is not offered")


def test_a_function_behind_a_schema_is_named_with_it() -> None:
    call = exp.Anonymous(this="read_csv")
    table = exp.Table(this=call, db=exp.to_identifier("d"))
    error = no_schema_function(table, call)
    assert str(error).startswith("schema 'd' has no function read_csv()")
    assert error.sqlstate == "42883"


def test_a_query_gets_these_errors(context: PlanContext) -> None:
    with pytest.raises(NotSupportedError, match=r"table function glob\(\) is not offered"):
        plan("SELECT * FROM glob('*')", context)
    with pytest.raises(ProgrammingError, match=r"schema 'd' has no function glob\(\)"):
        plan("SELECT * FROM d.glob('*')", context)
