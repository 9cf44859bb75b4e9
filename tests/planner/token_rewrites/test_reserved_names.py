"""Reserved words are names behind a dot and behind AS."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import Kudu, parse
from pykudu_sql.planner.token_rewrites.reserved_names import with_reserved_names

_WORDS = [word for word in sorted(Kudu.Tokenizer.KEYWORDS) if word.isidentifier()]


@pytest.mark.parametrize("word", _WORDS)
def test_every_word_names_a_column_and_an_entry(word: str) -> None:
    tree = parse(f"SELECT e.{word}, 1 AS {word} FROM t e WHERE e.{word} = 1 GROUP BY e.{word}")
    assert [column.name for column in tree.find_all(exp.Column)] == [word] * 3
    tree = parse(f"SELECT * FROM (SELECT 1 AS {word}), (SELECT 1 AS {word}, 2 AS b)")
    assert [alias.alias for alias in tree.find_all(exp.Alias)] == [word, word, "b"]


@pytest.mark.parametrize(
    "statement",
    [
        "WITH w AS NOT MATERIALIZED (SELECT 1) SELECT DISTINCT * FROM w WHERE NOT a",
        "SELECT count(DISTINCT a) FROM (VALUES (1)) AS t(a) UNION ALL SELECT 1",
        "SELECT t.* FROM t WHERE a IS DISTINCT FROM b",
        'SELECT t."from" AS "select" FROM t',
    ],
)
def test_words_of_clauses_stay(statement: str) -> None:
    tokens = Kudu().tokenize(statement)
    assert with_reserved_names(tokens) is tokens
