"""A dictionary is asked a predicate once, and gives the answer again."""

from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.decoded import word_test
from pykudu_sql.storage.cfile.decoded.word_test import WordTest
from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    InList,
    IsNull,
    Op,
    Or,
    Predicate,
)
from pykudu_sql.storage.common.types.type_names import parse_type

COLUMN, STRING = 3, parse_type("STRING")
WORDS = pa.array(["ape", "bee", "cat"])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Predicate]:
    """The predicates that were evaluated."""
    calls: list[Predicate] = []
    evaluate = word_test.evaluate

    def noting(predicate: Predicate, *arguments: Any) -> Any:
        calls.append(predicate)
        return evaluate(predicate, *arguments)

    monkeypatch.setattr(word_test, "evaluate", noting)
    return calls


def _of(*words: str) -> InList:
    return InList(COLUMN, words)


def test_only_a_predicate_unlike_the_last_is_evaluated(asked: list[Predicate]) -> None:
    test = WordTest()
    bee = Comparison(COLUMN, Op.EQ, "bee")
    answers = [
        (bee, [False, True, False]),
        (Comparison(COLUMN, Op.EQ, "bee"), [False, True, False]),
        (Comparison(COLUMN, Op.GE, "bee"), [False, True, True]),
        (_of("cat", "ape"), [True, False, True]),
        (_of("cat", "ape"), [True, False, True]),
        (And((_of("cat", "ape"), Comparison(COLUMN, Op.LT, "b"))), [True, False, False]),
        (Or((bee, IsNull(COLUMN))), [False, True, False]),
        (bee, [False, True, False]),
    ]
    for predicate, expected in answers:
        assert test.matches(predicate, COLUMN, WORDS, STRING).tolist() == expected
    assert asked == [answers[place][0] for place in (0, 2, 3, 5, 6, 7)]


def test_an_answer_cannot_be_changed() -> None:
    mask = WordTest().matches(_of("cat"), COLUMN, WORDS, STRING)
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = True


def test_long_lists_are_not_kept(asked: list[Predicate]) -> None:
    test, many = WordTest(), _of("bee", *map(str, range(256)))
    for _ in range(2):
        assert test.matches(many, COLUMN, WORDS, STRING).tolist() == [False, True, False]
    assert asked == [many, many]
