"""The registry of statements: what is planned is run, explained and offered, each by one entry."""

import typing

import pytest

import pykudu_sql
from pykudu_sql.executor.inspection import listings
from pykudu_sql.executor.statements import RUNNERS
from pykudu_sql.planner.commands.listing_commands import LISTINGS
from pykudu_sql.planner.plan.plan import Plan
from pykudu_sql.planner.statements import statements
from pykudu_sql.statements import list_show_statements, list_statements

# SHOW COLUMNS is a DESCRIBE, SHOW COLUMN STATS a query.
ELSEWHERE = {"COLUMNS", "COLUMN STATS"}


def test_every_kind_of_plan_without_rows_has_one_runner() -> None:
    with_headline = {kind for kind in typing.get_args(Plan) if hasattr(kind, "headline")}
    constant = {kind for kind in with_headline if kind.__name__ == "ConstantRow"}
    assert set(RUNNERS) == with_headline - constant


def test_every_listing_that_is_planned_is_listed_and_no_other() -> None:
    by_name = {"SETTING"}  # `SHOW name` of a setting
    kinds = {one.kind for one in LISTINGS}
    assert kinds - ELSEWHERE | by_name == set(listings._LISTED)


def test_no_two_entries_have_the_same_first_words() -> None:
    words = [entry.words for entry in statements()]
    assert len(set(words)) == len(words)
    assert all(word.isupper() for entry in words for word in entry)


def test_what_is_offered_begins_with_the_words_of_its_entry() -> None:
    for entry in statements():
        for text in entry.offered:
            first = text.split()
            assert first[0] == entry.words[0]
    assert {"SELECT", "SHOW CREATE TABLE", "DROP DATABASE"} <= set(list_statements())
    assert {"TABLES", "COLUMN STATS", "ROW ERRORS"} <= set(list_show_statements())


@pytest.mark.parametrize("text", list_statements())
def test_what_is_offered_is_read_by_its_own_entry(text: str) -> None:
    """Incomplete as it is, it is no unknown statement."""
    with pykudu_sql.connect(":memory:") as connection:
        try:
            connection.execute(text)
        except pykudu_sql.Error as error:
            assert "a statement starts with" not in (error.hint or "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("CREATE VIEW v AS SELECT 1 AS a", "CREATE VIEW v"),
        ("CREATE DATABASE d", "CREATE DATABASE d"),
        ("CREATE SNAPSHOT s", "CREATE SNAPSHOT s"),
        ("DROP VIEW IF EXISTS v", "DROP VIEW v"),
        ("DROP DATABASE IF EXISTS e", "DROP DATABASE e"),
        ("PRAGMA database_list", "PRAGMA database_list"),
        ("DESCRIBE DATABASE default", "DESCRIBE DATABASE default"),
        ("SHOW TABLES", "SHOW TABLES"),
        ("SET DATABASE history_max_age = 5", "SET DATABASE history_max_age"),
        ("COMMIT", "COMMIT"),
    ],
)
def test_explain_names_a_statement_as_it_is_written(text: str, line: str) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        rows = connection.execute(f"EXPLAIN {text}").fetchall()
    assert rows[0][0].strip() == line
