"""A `*` means columns or rows where that has a meaning, and is refused elsewhere."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.star_syntax import check_inner_star, check_undressed, check_unmatched
from pykudu_sql.storage.errors import SyntaxError


def entry(written: str) -> exp.Expr:
    item: exp.Expr = parse(f"select {written} from t").expressions[0]
    return item


@pytest.mark.parametrize("written", ["*", "t.*", "* exclude (a)", "(a)", "a + 1 as b", "count(*)"])
def test_an_entry_may_be_a_bare_star(written: str) -> None:
    check_undressed(entry(written))


@pytest.mark.parametrize("written", ["(*)", "((t.*))", "t.* as x"])
def test_an_entry_is_no_star_with_an_alias_or_parentheses(written: str) -> None:
    with pytest.raises(SyntaxError, match="neither an alias nor parentheses"):
        check_undressed(entry(written))


def test_a_star_inside_of_count_means_rows() -> None:
    star = entry("1 + count(*)").find(exp.Star)
    assert star is not None
    check_inner_star(star)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("sum(*)", "is no value"),
        ("* + 1", "is no value"),
        ("count(*, a)", r"count\(\) takes \* alone"),
        ("count(distinct *)", r"count\(\) takes \* alone"),
    ],
)
def test_a_star_is_no_operand_and_no_argument(written: str, message: str) -> None:
    star = entry(written).find(exp.Star)
    assert star is not None
    with pytest.raises(SyntaxError, match=message):
        check_inner_star(star)


def test_a_star_is_not_compared() -> None:
    plain = entry("* exclude (a)")
    assert isinstance(plain, exp.Star)
    check_unmatched(plain)
    compared = entry("* ilike 'a%'").find(exp.Star)
    assert compared is not None
    with pytest.raises(SyntaxError, match="is no value") as caught:
        check_unmatched(compared)
    assert "COLUMNS('a.*')" in (caught.value.hint or "")
