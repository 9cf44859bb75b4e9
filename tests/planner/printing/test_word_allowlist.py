"""The words that reach an engine without quotes: queries are made of them, and nothing else."""

import duckdb
import pytest

from pykudu_sql.planner.functions.functions import ALLOWED
from pykudu_sql.planner.printing.word_allowlist import PRINTED_NAMES, SPARK_WORDS, WORDS


def test_words_are_in_capitals_as_they_are_looked_up() -> None:
    assert {word for word in WORDS | SPARK_WORDS if word != word.upper()} == set()


def test_each_function_on_the_list_may_be_called() -> None:
    assert {name.upper() for name in ALLOWED} - WORDS == set()


@pytest.mark.parametrize(
    "word",
    [
        "ALTER", "ATTACH", "CALL", "CHECKPOINT", "COPY", "CREATE", "DELETE", "DETACH", "DROP",
        "EXECUTE", "EXPORT", "IMPORT", "INSERT", "INSTALL", "INTO", "LOAD", "PRAGMA", "PREPARE",
        "READ_CSV", "READ_PARQUET", "SET", "UPDATE", "USE", "VACUUM", "GETENV",
    ],
)  # fmt: skip
def test_no_word_begins_another_statement_or_opens_a_file(word: str) -> None:
    assert word not in WORDS | SPARK_WORDS


def test_a_printed_name_without_quotes_is_no_reserved_word_of_the_engine() -> None:
    with duckdb.connect() as engine:
        rows = engine.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        ).fetchall()
    assert PRINTED_NAMES & {name for (name,) in rows} == frozenset()
