"""Behind USING of a join or MERGE stand names alone."""

import pytest
from sqlglot import exp, tokenize

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.using_lists import check_using_lists
from pykudu_sql.storage.errors import SyntaxError

JOINED = "select 1 from a join b using {} where a.i = 1"
MERGED = "merge into a using b using {} when matched then delete"


@pytest.mark.parametrize("statement", [JOINED, MERGED])
@pytest.mark.parametrize("listed", ["(i)", '("i", j)'])
def test_names_are_columns_to_join_by(statement: str, listed: str) -> None:
    assert isinstance(parse(statement.format(listed)), exp.Select | exp.Merge)


@pytest.mark.parametrize("statement", [JOINED, MERGED])
@pytest.mark.parametrize(
    "listed",
    ["(a.i)", "(s.a.i)", '(j, a."i")', "('i')", "(1)", "(?)", "(upper(i))", "(i[1])", "(*)"],
)
def test_what_is_no_name_or_has_a_qualifier_is_refused(statement: str, listed: str) -> None:
    with pytest.raises(SyntaxError, match="behind USING stand names of columns"):
        parse(statement.format(listed))


def test_a_join_by_no_columns_is_refused() -> None:
    with pytest.raises(SyntaxError, match="behind USING stand names of columns") as refused:
        parse(JOINED.format("()"))
    assert refused.value.span is not None


def test_tables_behind_using_of_a_delete_may_have_a_database() -> None:
    assert isinstance(parse("delete from a using s.b where a.i = s.b.i"), exp.Delete)


def test_points_elsewhere_do_not_matter() -> None:
    text = "select a.i, b.k from a join b using (i, j) where b.i = 1"
    check_using_lists(parse(text), tokenize(text))
