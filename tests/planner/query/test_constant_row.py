"""A row of literals needs no engine, and comes out as the engine would give it."""

import subprocess
import sys

import pytest

from pykudu_sql import connect
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.query.constant_row import constant_row

ROWS = [
    "select 1",
    "SELECT 1, 'it''s', true, FALSE;",
    "select 999999999, 0 -- nothing else",
    "select ''",
]
MORE_THAN_LITERALS = [
    "select 1.5", "select 3000000000", "select 01", "select -1", "select null", "select 1 one",
    "select 1 + 1", "select 1 from t", "select 1 limit 0", "select 1 union select 2",
    "select 1 as x",
    "select", "select 1,", "select x'00'", "select ?", "select date '2020-01-01'", "(select 1)",
]  # fmt: skip


@pytest.mark.parametrize("sql", ROWS)
def test_a_row_of_literals_has_the_names_types_and_values_that_the_engine_gives(sql: str) -> None:
    body = sql.partition("--")[0].rstrip("; ")
    with connect(":memory:") as connection:
        cursor = connection.cursor()
        short = cursor.execute(sql)
        described, rows = short.description, short.fetchall()
        through_engine = cursor.execute(f"{body} limit 1")
        assert constant_row(TokenStream(sql)) is not None
        assert [(c[0], str(c[1])) for c in described or ()] == [
            (c[0], str(c[1])) for c in through_engine.description or ()
        ]
        assert rows == through_engine.fetchall()


@pytest.mark.parametrize("sql", MORE_THAN_LITERALS)
def test_anything_more_is_left_to_the_query_planner(sql: str) -> None:
    assert constant_row(TokenStream(sql)) is None


def test_a_shell_asked_for_a_literal_loads_none_of_the_libraries_for_queries() -> None:
    libraries = {"sqlglot", "duckdb", "pandas", "pyspark", "pyarrow.compute"}
    program = (
        "import sys; from pykudu_sql.shell.cli import main; main(['-c', 'select 1']); "
        f"sys.exit(bool({libraries!r} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
