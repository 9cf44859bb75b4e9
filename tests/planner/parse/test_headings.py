"""Headings of results: the text of an entry as it is written, whatever the tree made of it."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.headings import heading, name_expanded


def headings(sql: str) -> list[list[str | None]]:
    """Of each list of a statement, outermost first."""
    lists = parse(sql).find_all(exp.Select, exp.Returning)
    return [[heading(item) for item in each.expressions] for each in lists]


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("select A+1, Count( * ) from t", [["A+1", "Count( * )"]]),
        ("select a, t.b, *, a + 1 as c from t", [[None, None, None, None]]),
        ("select 'x' || /* note */ 'y' from t", [["'x' || 'y'"]]),
        ("select cast(a as double -- c\n precision) from t", [["cast(a as double precision)"]]),
        ("select a || '-- x' || \"/* y */\" from t", [["a || '-- x' || \"/* y */\""]]),
        ("select distinct on (a) lower(b), 1 from t", [["lower(b)", "1"]]),
        ("select * except (a), 1+ 2 from t", [[None, "1+ 2"]]),
        ("select max(a) except select 2+2", [["max(a)"], ["2+2"]]),
        ("select (select 1+1) from t", [["(select 1+1)"], ["1+1"]]),
        ("select a is distinct from b from t", [["a is distinct from b"]]),
        ("delete from t returning a+1, count(b)", [["a+1", "count(b)"]]),
    ],
)
def test_an_entry_has_the_heading_that_is_written(
    sql: str, written: list[list[str | None]]
) -> None:
    assert headings(sql) == written


@pytest.mark.parametrize(
    ("written", "expanded"),
    [
        ("min(COLUMNS(*))", "min(a)"),
        ("columns('x.*') + COLUMNS('x.*') + 1", "a + a + 1"),
        ("COLUMNS(* EXCLUDE (id)) * 2", "a * 2"),
    ],
)
def test_a_column_stands_in_the_heading_where_columns_stood(written: str, expanded: str) -> None:
    (whole,) = parse(f"select {written} from t").expressions
    entry = whole.copy()
    name_expanded(entry, "a", whole)
    assert heading(entry) == expanded


def test_an_entry_without_a_text_gets_no_heading() -> None:
    entry = exp.Max(this=exp.column("a"))
    name_expanded(entry, "a", exp.Max(this=exp.column("b")))
    assert heading(entry) is None
