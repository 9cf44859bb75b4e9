"""ON CONFLICT and RETURNING behind the rows of an INSERT."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.dml.insert_tail import InsertTail, find_tail, read_tail
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.storage.errors import NotSupportedError, SyntaxError

HEAD = "insert into t values (1, ?)"


def tail(sql: str) -> InsertTail:
    text = f"{HEAD} {sql}"
    return read_tail(SourceText(text), len(HEAD) + 1)


@pytest.mark.parametrize(
    "rows",
    [
        "values ('on conflict', \"returning\") ",
        "select a from t where (select 1 returning) ",
        "select a -- returning\n from t ",
    ],
)
def test_the_tail_begins_at_its_words_outside_of_texts_and_parentheses(rows: str) -> None:
    assert find_tail(SourceText(rows)) is None
    for words in ("ON Conflict DO NOTHING", "returning id"):
        assert find_tail(SourceText(rows + words)) == len(rows)


def test_do_nothing_may_name_columns_and_show_rows() -> None:
    read = tail("on conflict (A, b) do nothing returning a, b + 1 as c")
    assert read.conflict is not None
    assert (read.conflict.columns, read.conflict.update) == (("a", "b"), None)
    assert [item.sql() for item in read.returning] == ["a", "b + 1 AS c"]


def test_parameters_are_counted_from_the_first_of_the_rows() -> None:
    read = tail("on conflict do update set a = ? where b > ? returning ?")
    assert read.conflict is not None
    assert read.conflict.update is not None
    holes = [*read.conflict.update.find_all(exp.Placeholder)]
    assert sorted(node.name for node in holes) == ["?1", "?2"]
    assert [node.name for node in read.returning] == ["?3"]


@pytest.mark.parametrize(
    "sql",
    [
        "on conflict",
        "on conflict do",
        "on conflict do update",
        "on conflict do nothing nothing",
        "returning a from t",
    ],
)
def test_a_tail_that_does_not_follow_the_grammar_is_refused(sql: str) -> None:
    with pytest.raises(SyntaxError):
        tail(sql)


def test_a_constraint_cannot_be_given_by_name() -> None:
    with pytest.raises(NotSupportedError, match="ON CONFLICT ON CONSTRAINT"):
        tail("on conflict on constraint c do nothing")
