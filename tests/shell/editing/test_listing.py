"""Which statements list what a table or a database has."""

import pytest

from pykudu_sql.shell.editing.listing import is_listing


@pytest.mark.parametrize(
    "sql",
    [
        "DESCRIBE t",
        "desc formatted t",
        "/* all */ -- of them\n SHOW COLUMNS FROM t;",
        "show",
        "SHOW ROW",
        "SUMMARIZE SELECT 1",
        "PRAGMA table_info('t')",
    ],
)
def test_a_statement_of_names_is_a_listing(sql: str) -> None:
    assert is_listing(sql)


@pytest.mark.parametrize(
    "sql", ["", "-- DESCRIBE t", "SELECT 1", "FROM (DESCRIBE t)", "show row errors", "'DESCRIBE'"]
)
def test_rows_are_no_listing(sql: str) -> None:
    assert not is_listing(sql)
