"""Rows of a scan as batches: their types are those of a result, whatever is stored."""

import pyarrow as pa

import pykudu_sql
from pykudu_sql.executor.reading.row_batches import result_arrow, table_batches
from pykudu_sql.storage.common.types.types import DataType, Kind

BYTES = 1 << 20


def test_all_rows_of_a_table_come_with_the_columns_that_a_star_shows() -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (d DECIMAL(5,2), s VARCHAR(9), NON UNIQUE PRIMARY KEY (d))"
        )
        connection.execute("INSERT INTO t VALUES (1.5, 'x'), (2.5, NULL)")
        state = connection._session._state
        table = state.catalog.table("t")
        rows = table_batches(state, table, state.transactions.reading(), BYTES)
        read = pa.Table.from_batches(rows.batches, rows.schema)
        expected = connection.execute("SELECT * FROM t").arrow()
    assert read.schema == expected.schema
    assert read.sort_by("d").equals(expected.sort_by("d"))


def test_a_decimal_has_sixteen_bytes_in_a_result() -> None:
    assert result_arrow(DataType(Kind.DECIMAL, 5, 2)) == pa.decimal128(5, 2)
    assert result_arrow(DataType(Kind.INT8)) == pa.int8()
