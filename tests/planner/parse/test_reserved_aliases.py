"""A clause without its BY is no alias."""

import pytest
from sqlglot import exp, parse_one, tokenize

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.reserved_aliases import check_aliases
from pykudu_sql.storage.errors import SyntaxError


@pytest.mark.parametrize("word", ["group", "ORDER", "Offset"])
@pytest.mark.parametrize(
    "statement",
    [
        "select a from t {}",
        "select a from (select 1 as a) {}",
        "select 1 from a, b {}",
        "select 1 from a x join b {}",
        "with w as (select 1 as a) select * from w {}",
        "select a {} from t",
        "delete from t {}",
        "update t {} set a = 1",
    ],
)
def test_a_word_that_begins_a_clause_is_no_alias(statement: str, word: str) -> None:
    with pytest.raises(SyntaxError, match=f'at or near "{word}"') as refused:
        parse(statement.format(word))
    span = refused.value.span
    assert span is not None
    assert (span.start, span.length) == (statement.index("{"), len(word))
    if word == "group" and statement.startswith("select"):
        assert refused.value.hint == 'write GROUP BY a, or AS "group" for a name'


@pytest.mark.parametrize(
    "statement",
    [
        "select a as group from t as x",
        'select a "order" from t "group"',
        "select a from t group by a order by a limit 1 offset 1",
        "select string_agg(a, ',' order by a) from t offset 1",
        "select sum(a) over (partition by b order by a) from t",
        "with offset as (select 1 as a) select a from offset",
    ],
)
def test_names_behind_as_or_in_quotes_and_whole_clauses_stay_what_they_are(statement: str) -> None:
    assert isinstance(parse(statement), exp.Select)


def test_the_same_name_stands_twice_and_only_the_one_without_as_is_refused() -> None:
    text = "select a as group from t group"
    with pytest.raises(SyntaxError) as refused:
        check_aliases(parse_one(text), tokenize(text))
    assert refused.value.span is not None
    assert refused.value.span.start == text.rindex("group")
