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
    "query",
    [
        "SELECT * FROM t ORDER BY a + f(b, c), t.all DESC LIMIT 1",
        'SELECT * FROM t ORDER BY "all"',
        "SELECT rank() OVER (PARTITION BY a ORDER BY d.t.all) FROM d.t",
        "SELECT array_agg(a ORDER BY b, t.all) FROM t",
    ],
)
def test_a_column_named_all_is_no_order_by_all(query: str) -> None:
    tree = parse(query)
    assert not list(tree.find_all(exp.Var))
    assert [column.name for column in tree.find_all(exp.Column)].count("all") == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM t ORDER BY ALL",
        'SELECT "all" FROM t ORDER BY ALL DESC',
        'SELECT f("all", t.all) FROM "all", t GROUP BY t.all ORDER BY ALL',
    ],
)
def test_order_by_all_stays(query: str) -> None:
    assert [var.name for var in parse(query).find_all(exp.Var)] == ["ALL"]


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
