"""Columns as arrays of numpy, and the cursor's and connection's names of DuckDB."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Error
from pykudu_sql.results.numpy_columns import numpy_column

_VALUES = (
    "CAST(v AS INT) AS i, v > 1 AS b, CAST(v AS DOUBLE) / 4 AS d, 'x' || v AS s, "
    "DATE '2026-01-31' AS day, TIMESTAMP '2026-01-31 12:00:00' AS at"
)


@pytest.mark.parametrize("rows", ["(1), (2), (3)", "(1), (NULL), (3)"])
def test_arrays_are_those_of_duckdb(rows: str) -> None:
    query = f"SELECT {_VALUES} FROM (VALUES {rows}) t(v)"
    expected = duckdb.sql(query).fetchnumpy()
    with pykudu_sql.connect(":memory:") as connection:
        arrays = connection.sql(query).fetchnumpy()
    assert list(arrays) == list(expected)
    for name, array in arrays.items():
        if name in ("day", "at"):  # of other units
            assert (array == expected[name]).all(), name
        else:
            assert array.tolist() == expected[name].tolist(), name
            assert array.dtype == expected[name].dtype, name


def test_a_column_with_nulls_is_masked() -> None:
    assert not np.ma.isMaskedArray(numpy_column(pa.chunked_array([[1, 2]])))
    array: Any = numpy_column(pa.chunked_array([pa.array([1, None], pa.int16())]))
    assert array.dtype == np.int16 and array.mask.tolist() == [False, True]
    assert numpy_column(pa.chunked_array([["a", None]])).tolist() == ["a", None]
    assert numpy_column(pa.chunked_array([pa.array([True, None])])).dtype == np.bool_


def test_a_table_is_read_by_its_name() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE `odd ``name` (id INT PRIMARY KEY)")
        connection.execute("INSERT INTO `odd ``name` VALUES (1)")
        assert connection.table("odd `name").fetchall() == [(1,)]
        assert connection.table("default.Odd `name").fetchall() == [(1,)]
        assert connection.sql("SELECT ? + 1", params=(1,)).fetchone() == (2,)
        for name in ("nope", "", "a.b.c.d"):
            with pytest.raises(Error):
                connection.table(name)


def test_columns_of_one_name_are_all_there() -> None:
    query = "SELECT 1 AS a, 2 AS a_1, 3 AS a, 4 AS a"
    with pykudu_sql.connect(":memory:") as connection:
        arrays = connection.execute(query).fetchnumpy()
    assert {name: array.tolist() for name, array in arrays.items()} == {
        **{"a": [1], "a_1": [2], "a_2": [3], "a_3": [4]}
    }


def test_integers_of_128_bits_are_doubles_as_in_duckdb() -> None:
    values = (
        "(0), (-1), (-5), (9007199254740993), (-9007199254740993), (NULL), (1::HUGEINT << 64), "
    )
    values += (
        "(170141183460469231731687303715884105727), (-170141183460469231731687303715884105728)"
    )
    query = f"SELECT CAST(v AS HUGEINT) AS v FROM (VALUES {values}) t(v)"
    expected = duckdb.sql(query).fetchnumpy()["v"]
    with pykudu_sql.connect(":memory:") as connection:
        array = connection.sql(query).fetchnumpy()["v"]
        total = connection.sql("SELECT sum(i) AS s FROM range(10) r(i)").fetchnumpy()["s"]
        unsigned = connection.sql(
            "SELECT CAST(2 AS UHUGEINT) ** 3 AS a, 1::UHUGEINT << 127 AS b, 7::UHUGEINT AS c"
        ).fetchnumpy()
        assert connection.sql("SELECT 1::HUGEINT AS a WHERE false").fetchnumpy()["a"].tolist() == []
    assert array.dtype == np.float64 and array.tolist() == expected.tolist()
    assert total.tolist() == [45.0] and unsigned["c"].tolist() == [7.0]
