"""Facts about whole tables come from metadata where these have them exactly."""

import datetime as dt
from decimal import Decimal
from unittest.mock import patch

import pytest

import pykudu_sql
from pykudu_sql.executor.reading import queries, summaries

TYPES = [
    ("INT", "7", 7),
    ("DECIMAL(5,1)", "1.5", Decimal("1.5")),
    ("DECIMAL(10,2)", "-1.5", Decimal("-1.50")),
    ("DECIMAL(30,2)", "1.5", Decimal("1.50")),
    ("DATE", "DATE '2024-01-02'", dt.date(2024, 1, 2)),
    ("STRING", "'z'", "z"),
    ("DOUBLE", "2.5", 2.5),
]


@pytest.mark.parametrize(("data_type", "literal", "value"), TYPES)
def test_the_extremes_of_a_column_are_those_of_its_changed_cells(
    data_type: str, literal: str, value: object
) -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(f"CREATE TABLE t (k INT PRIMARY KEY, m {data_type})")
        connection.execute("INSERT INTO t (k) VALUES (1), (2)")
        connection.execute("FLUSH TABLE t")
        extremes = "SELECT min(m), max(m), count(*) FROM t"
        assert connection.execute(extremes).fetchall() == [(None, None, 2)]
        connection.execute(f"UPDATE t SET m = {literal} WHERE k = 2")
        assert connection.execute(extremes).fetchall() == [(value, value, 2)]


def test_a_row_that_is_deleted_is_none_of_the_table() -> None:
    with (
        pykudu_sql.connect(":memory:", autocommit=True) as connection,
        patch.object(queries, "summarize", wraps=summaries.summarize) as summarize,
    ):
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (1), (2), (3)")
        connection.execute("FLUSH TABLE t")
        connection.execute("DELETE FROM t WHERE k = 3")
        assert connection.execute("SELECT max(k), count(*) FROM t").fetchall() == [(2, 2)]
        assert connection.execute("SELECT max(k) FROM t WHERE k < 2").fetchall() == [(1,)]
        assert summarize.call_count == 1
