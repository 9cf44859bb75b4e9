"""Patterns of LIKE hold for the texts that the engine says they hold for."""

import random
import time

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.predicate.column_predicate import Like
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate, is_true
from pykudu_sql.storage.common.predicate.text_pattern import is_for_engine, matching, prefix_of
from pykudu_sql.storage.common.types.type_names import parse_type

CHARACTERS = "ab%_.*+?()[]{}|^$\n\r\t\0é😀AB "
COLUMN = 3
STRING = parse_type("STRING")


def some_texts(seed: int, count: int, most: int) -> list[str | None]:
    source = random.Random(seed)
    return [
        None
        if source.random() < 0.05
        else "".join(source.choice(CHARACTERS) for _ in range(source.randrange(most)))
        for _ in range(count)
    ]


def some_patterns(seed: int, count: int) -> list[str]:
    source = random.Random(seed)
    pieces = [*CHARACTERS, *("%" * 12), *("_" * 4), "ab", "aé", "😀b", "b.a"]
    return [
        "".join(source.choice(pieces) for _ in range(source.randrange(1, 6))) for _ in range(count)
    ]


@pytest.mark.parametrize(("rows", "most"), [(40, 6), (4000, 12)])
def test_the_engine_agrees(rows: int, most: int) -> None:
    texts = some_texts(rows, rows, most)
    array = pa.array(texts, pa.string())
    table = pa.table({"s": array})
    with duckdb.connect() as engine:
        engine.register("t", table)
        for pattern in some_patterns(rows, 150):
            said = engine.execute("SELECT coalesce(s LIKE ?, false) FROM t", [pattern]).fetchall()
            expected = [answer for (answer,) in said]
            assert matching(array, pattern).tolist() == expected, pattern
            cut = matching(array.slice(7, 20), pattern)
            assert cut.tolist() == expected[7:27], pattern
            one = [is_true(Like(COLUMN, pattern), {COLUMN: text}) for text in texts[:40]]
            assert one == expected[:40], pattern


def test_a_word_is_not_seen_across_the_end_of_a_text() -> None:
    texts = ["ends with gre", "en begins", "evergreen trees", "gren", "green"] * 1000
    mask = matching(pa.array(texts), "%green%")
    assert mask.tolist() == [False, False, True, False, True] * 1000


def test_words_of_a_dictionary_are_asked_once() -> None:
    column = pa.array(["small brass", "large tin", None, "small brass"]).dictionary_encode()
    mask = evaluate(Like(COLUMN, "%brass"), {COLUMN: column}, {COLUMN: STRING})
    assert mask.tolist() == [True, False, False, True]


def test_large_offsets_are_left_to_arrow() -> None:
    texts = pa.array(["evergreen", "blue", None] * 2000, pa.large_string())
    assert np.count_nonzero(matching(texts, "%green%")) == 2000


def test_a_pattern_says_how_its_texts_begin_and_whether_it_escapes() -> None:
    assert [prefix_of(p) for p in ("ab%c", "a_", "%", "", "ab")] == ["ab", "a", "", "", "ab"]
    assert is_for_engine("a\\%") and not is_for_engine("a%_")


@pytest.mark.parametrize("pattern", ["%a%a%a%a%b", "%a_%a%c", "%" * 30 + "c", "a%a%_%a%d"])
def test_many_wildcards_take_no_longer_than_few(pattern: str) -> None:
    text = "a" * 60_000
    started = time.perf_counter()
    assert not is_true(Like(COLUMN, pattern), {COLUMN: text})
    assert is_true(Like(COLUMN, pattern), {COLUMN: text + pattern[-1]})
    assert time.perf_counter() - started < 5


def test_a_pattern_of_thousands_of_wildcards_is_left_to_the_engine() -> None:
    assert is_for_engine("a%" * 20_000) and not is_for_engine("a%" * 100)
