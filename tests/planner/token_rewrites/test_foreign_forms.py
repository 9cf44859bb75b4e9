"""Forms of other databases, on tokens."""

import pytest
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.token_rewrites.foreign_forms import with_known_forms
from pykudu_sql.storage.errors import NotSupportedError


def texts(sql: str) -> str:
    tokens = with_known_forms(DuckDB().tokenize(sql))
    return " ".join(f"{token.text}:{token.token_type.name}" for token in tokens)


def same_as(sql: str, plain: str) -> bool:
    return texts(sql) == " ".join(
        f"{token.text}:{token.token_type.name}" for token in DuckDB().tokenize(plain)
    )


@pytest.mark.parametrize("count", ["5", "(5)", "?", "(?)"])
def test_a_number_of_rows_behind_select_is_a_limit(count: str) -> None:
    assert "TOP:TOP" in texts(f"SELECT DISTINCT TOP {count} a FROM t")


@pytest.mark.parametrize("sql", ["SELECT top, a FROM t", "SELECT a top FROM t", "SELECT top(a, 1)"])
def test_a_column_or_function_may_be_called_top(sql: str) -> None:
    assert same_as(sql, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT TOP 1 a FROM t UNION SELECT 2",
        "SELECT (SELECT 1) UNION SELECT TOP 1 a FROM t",
        "SELECT TOP 1 WITH TIES a FROM t",
        "SELECT TOP (10) PERCENT a FROM t",
    ],
)
def test_no_limit_stands_for_a_part_of_a_union_or_for_ties(sql: str) -> None:
    with pytest.raises(NotSupportedError, match="TOP"):
        with_known_forms(DuckDB().tokenize(sql))


def test_mod_between_operands_is_the_remainder() -> None:
    assert same_as("SELECT a MOD 2, (a) mod b", "SELECT a % 2, (a) % b")
    for sql in ("SELECT 1 mod, mod(5, 2)", "FROM t mod WHERE mod.a = 1", "SELECT mod FROM mod"):
        assert same_as(sql, sql)


def test_a_separator_is_the_second_argument() -> None:
    assert same_as(
        "SELECT f(a ORDER BY g(b) SEPARATOR ';'), g(a SEPARATOR ',')",
        "SELECT f(a , ';' ORDER BY g(b)), g(a, ',')",
    )
    assert same_as("SELECT separator FROM t", "SELECT separator FROM t")


def test_digits_in_binary_and_octal_are_one_number() -> None:
    assert same_as("SELECT 0b101, 0O17", "SELECT 5, 15")
    for sql in ("SELECT 0 b101", "SELECT 0b2", "SELECT 0 AS b1"):
        assert same_as(sql, sql)


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("VALUES ROW(1, (2)), row(3, 4)", "VALUES (1, (2)), (3, 4)"),
        ("SELECT * FROM (VALUES ROW(1)) v, u", "SELECT * FROM (VALUES (1)) v, u"),
        ("VALUES (ROW(1)), ROW(2)", "VALUES (ROW(1)), ROW(2)"),
        ("VALUES ROW(1", "VALUES (1"),
        ("VALUES", "VALUES"),
    ],
)
def test_rows_of_values_may_be_called_row(sql: str, plain: str) -> None:
    assert same_as(sql, plain)
