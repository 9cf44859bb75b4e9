"""Batches of a result are sized by the width of what it is made of."""

from typing import Any

import duckdb
import pyarrow as pa
import pytest

from pykudu_sql.engine.batch_rows import rows_of_batch
from pykudu_sql.engine.relations.vector_batches import width_of

TEXT, NUMBER = duckdb.sqltype("VARCHAR"), duckdb.sqltype("BIGINT")
NARROW = pa.table({"a": ["word"] * 100})
WIDE = pa.table({"a": ["x" * 60_000] * 10})
CODED = pa.table({"a": pa.array(["x" * 60_000] * 1000 + ["y"] * 3).dictionary_encode()}).slice(0, 9)
LITERAL = "SELECT '" + "x" * 60_000 + "'"


@pytest.mark.parametrize(
    ("types", "relation", "sql", "parameters", "rows"),
    [
        ([TEXT], NARROW, "", [], 65_536),
        ([NUMBER], WIDE, "", [], 65_536),
        ([NUMBER, TEXT], WIDE, "", [], 279),
        ([TEXT], NARROW, "", [7, "x" * 60_000], 279),
        ([TEXT], NARROW, LITERAL, [], 279),
        ([TEXT], CODED, "", [], 279),
        ([TEXT, TEXT], WIDE, 'SELECT "a"."a", "b"."a" FROM "t" AS "a", "t" AS "b"', [], 139),
        ([TEXT, TEXT], WIDE, 'SELECT "t"."a", "t"."a" || 1 FROM "t"', [], 139),
        ([TEXT, NUMBER], WIDE, 'SELECT "t"."a", 1 FROM "t"', [], 279),
    ],
)
def test_rows_of_a_batch_are_as_many_as_fit_into_its_bytes(
    types: list[Any], relation: pa.Table, sql: str, parameters: list[Any], rows: int
) -> None:
    assert rows_of_batch(types, {"t": width_of(relation)}, sql, parameters, 0, 65_536) == rows


def test_a_small_engine_gets_smaller_batches_but_some_rows() -> None:
    assert rows_of_batch([TEXT], {"t": width_of(WIDE)}, "", [], 64 << 20, 65_536) == 69
    assert rows_of_batch([TEXT], {"t": width_of(WIDE)}, "", [], 1 << 20, 65_536) == 16
