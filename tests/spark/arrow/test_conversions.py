"""What columns take of DataFrames and of files with types: the same, by either door."""

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import pykudu_sql
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.spark.tables import write_table
from pykudu_sql.storage.errors import DataError, InvalidSchemaError
from tests.spark.spark_jobs import load

Door = Callable[[DataFrame], None]

REFUSED = {
    "i": ("true", "'12'", "date'2026-01-01'"),
    "s": ("5", "true", "1.5", "date'2026-01-01'", "x'00'"),
    "d": ("true", "'1.5'"),
    "b": ("1", "'true'"),
    "day": ("7", "'2026-01-01'"),
    "ts": ("7L", "'2026-01-01'"),
    "x": ("'abc'", "5"),
    "f": ("'1.5'", "true"),
}
WRONG = {
    "i": ("1.5D", "cast(1.5 as decimal(5,2))", "3000000000L"),
    "d": ("1.2345", "1000.00", "1e9D", "999.999", "0.99999999999999999999999999999999999999"),
    "day": ("timestamp_ntz'2026-01-01 00:00:01'",),
    "f": ("9007199254740993L",),
}
TAKEN: dict[str, dict[str, object]] = {
    "i": {"cast(2 as double)": 2, "5L": 5, "7.00": 7, "CAST(NULL AS INT)": None},
    "s": {"'x'": "x"},
    "v": {"'abc'": "ab"},
    "d": {"1.2300": Decimal("1.23"), "7": Decimal(7), "1.2345D": Decimal("1.23")},
    "day": {"timestamp_ntz'2026-01-01 00:00:00'": dt.date(2026, 1, 1)},
    "ts": {"date'2026-01-01'": dt.datetime(2026, 1, 1)},
    "f": {
        "7": 7.0,
        "1.5": 1.5,
        "cast(1.005 as decimal(38,3))": 1.005,
        "9007199254740992L": 2.0**53,
    },
}


@pytest.fixture
def table(path: str) -> str:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, i INT, s STRING, d DECIMAL(5,2), b BOOLEAN, "
            "v VARCHAR(2), day DATE, ts TIMESTAMP, f DOUBLE, x BINARY)"
        )
    return path


@pytest.fixture(params=["write_table", "load"])
def door(request: pytest.FixtureRequest, table: str, tmp_path: Path) -> Door:
    def write(frame: DataFrame) -> None:
        if request.param == "write_table":
            write_table(frame, table, "t")
            return
        folder = str(tmp_path / "files")
        frame.write.mode("overwrite").parquet(folder)
        load(table, "t", [folder], LoadOptions("parquet"))

    return write


def one_row(spark: SparkSession, values: dict[str, str]) -> DataFrame:
    shown = ", ".join(f"{value} AS {name}" for name, value in values.items())
    return spark.sql(f"SELECT 1 AS id, {shown}")


@pytest.mark.parametrize("column", REFUSED)
def test_a_type_of_another_family_is_refused_with_the_cast_to_write(
    spark: SparkSession, door: Door, column: str
) -> None:
    for value in REFUSED[column]:
        with pytest.raises(InvalidSchemaError, match=f"column '{column}' is ") as caught:
            door(one_row(spark, {column: value}))
        assert re.search(rf"col\('{column}'\)\.cast\(|with that type", caught.value.hint or "")


@pytest.mark.parametrize("column", WRONG)
def test_a_value_that_would_lose_a_part_is_refused(
    spark: SparkSession, door: Door, column: str
) -> None:
    for value in WRONG[column]:
        with pytest.raises(DataError, match=f"column '{column}'"):
            door(one_row(spark, {column: value}))


def test_a_value_that_stays_what_it_is_is_taken(
    spark: SparkSession, table: str, door: Door
) -> None:
    rows = zip_longest(*([(column, *item) for item in TAKEN[column].items()] for column in TAKEN))
    for number, row in enumerate(rows):
        cells = [cell for cell in row if cell is not None]
        shown = ", ".join(f"{value} AS {column}" for column, value, _ in cells)
        door(spark.sql(f"SELECT {number} AS id, {shown}"))
        with pykudu_sql.connect(table, read_only=True) as conn:
            names = ", ".join(column for column, _, _ in cells)
            found = conn.execute(f"SELECT {names} FROM t WHERE id = {number}").fetchone()
        assert found == tuple(wanted for _, _, wanted in cells), names
