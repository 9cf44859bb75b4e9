"""What columns take of DataFrames and of files with types: the same, by either door.

A task that fails is run again, and each time in a worker that starts for it. So what a write does
on the driver and in its tasks is called here for each case, and by Spark itself for one; a load
sets rows aside, and tells of many at once.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import pykudu_sql
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.spark.options import WriteOptions
from pykudu_sql.spark.tables import write_table
from pykudu_sql.spark.writing.staged_job import StagedJob
from pykudu_sql.storage.errors import DataError, InvalidSchemaError
from tests.pykudu_sql.jobs.job_tables import read_rejects
from tests.spark.spark_jobs import load

Door = Callable[[DataFrame], None]

TYPES = {
    "i": "INT",
    "s": "STRING",
    "d": "DECIMAL(5,2)",
    "b": "BOOLEAN",
    "v": "VARCHAR(2)",
    "day": "DATE",
    "ts": "TIMESTAMP",
    "f": "DOUBLE",
    "x": "BINARY",
}

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

WRONG_ROWS = [(column, value) for column, values in WRONG.items() for value in values]


@pytest.fixture
def table(path: str) -> str:
    """Table `t` with a column of each type, and `wide` with one for each value of `TAKEN`."""
    make(path, "t", TYPES)
    make(path, "wide", {name: TYPES[column] for name, column, _, _ in taken()})
    return path


def make(path: str, name: str, types: Mapping[str, str]) -> None:
    columns = ", ".join(f"{column} {kind}" for column, kind in types.items())
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, {columns})")


def taken() -> list[tuple[str, str, str, object]]:
    """A name, the column, how Spark writes the value, and what it becomes."""
    return [
        (f"{column}{number}", column, value, wanted)
        for column, values in TAKEN.items()
        for number, (value, wanted) in enumerate(values.items())
    ]


@pytest.fixture(params=["write_table", "load"])
def door(request: pytest.FixtureRequest, table: str, tmp_path: Path) -> Door:
    """How a DataFrame gets into the table whose columns it has."""

    def write(frame: DataFrame) -> None:
        name = "wide" if "i0" in frame.columns else "t"
        if request.param == "write_table":
            write_table(frame, table, name)
            return
        load(table, name, [as_file(frame, tmp_path)], LoadOptions("parquet"))

    return write


def as_file(frame: DataFrame, folder: Path) -> str:
    """A file of Parquet with the rows of a DataFrame."""
    name = str(folder / "rows.parquet")
    pq.write_table(frame.toArrow(), name)
    return name


def one_row(spark: SparkSession, values: Mapping[str, str]) -> DataFrame:
    shown = ", ".join(f"{value} AS {name}" for name, value in values.items())
    return spark.sql(f"SELECT 1 AS id, {shown}")


def write_of(table: str, schema: StructType) -> StagedJob:
    """A write as its driver makes it before it starts tasks."""
    options = {"path": table, "table": "t", "operation": "insert"}
    return StagedJob.of(WriteOptions.of(options), schema, "w", False)


def is_refused(column: str) -> "pytest.RaisesExc[InvalidSchemaError]":
    return pytest.raises(InvalidSchemaError, match=f"column '{column}' is ")


@pytest.mark.parametrize("column", REFUSED)
def test_a_type_of_another_family_is_refused_with_the_cast_to_write(
    spark: SparkSession, table: str, tmp_path: Path, column: str
) -> None:
    for value in REFUSED[column]:
        frame = one_row(spark, {column: value})
        with is_refused(column) as written:
            write_of(table, frame.schema)
        with is_refused(column) as loaded:
            load(table, "t", [as_file(frame, tmp_path)], LoadOptions("parquet"))
        for caught in (written, loaded):
            hint = caught.value.hint or ""
            assert re.search(rf"col\('{column}'\)\.cast\(|with that type", hint)


def test_a_write_is_refused_for_its_types(spark: SparkSession, table: str) -> None:
    with is_refused("i") as caught:
        write_table(one_row(spark, {"i": "'12'"}), table, "t")
    assert "col('i').cast('int')" in (caught.value.hint or "")


@pytest.mark.parametrize(("column", "value"), WRONG_ROWS)
def test_a_value_that_would_lose_a_part_is_refused(
    spark: SparkSession, table: str, column: str, value: str
) -> None:
    frame = one_row(spark, {column: value})
    with pytest.raises(DataError, match=f"column '{column}'"):
        write_of(table, frame.schema).stage(frame.toArrow().to_batches())


def test_a_write_is_refused_for_a_value_that_would_lose_a_part(
    spark: SparkSession, table: str
) -> None:
    with pytest.raises(DataError, match="column 'd'"):
        write_table(one_row(spark, {"d": "1.2345"}), table, "t")


def test_a_load_sets_values_aside_that_would_lose_a_part(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    names = [f"{column}{number}" for number, (column, _) in enumerate(WRONG_ROWS)]
    make(path, "t", {name: TYPES[name.rstrip("0123456789")] for name in names})
    cells = [
        f"if(id = {number}, {value}, NULL) AS {names[number]}"
        for number, (_, value) in enumerate(WRONG_ROWS)
    ]
    rows = spark.range(len(names)).selectExpr("cast(id AS int) AS id", *cells)
    aside = tmp_path / "aside.jsonl"
    report = load(path, "t", [as_file(rows, tmp_path)], LoadOptions("parquet", rejects=str(aside)))
    assert (report.rows, report.rejected) == (0, len(names))
    reasons = sorted((one["row_number"], one["reason"]) for one in read_rejects(aside))
    for (_, reason), name in zip(reasons, names, strict=True):
        assert f"column '{name}'" in reason
    with pytest.raises(DataError, match="column"):
        load(path, "t", [as_file(rows, tmp_path)], LoadOptions("parquet"))


def test_a_value_that_stays_what_it_is_is_taken(
    spark: SparkSession, table: str, door: Door
) -> None:
    names, _, values, wanted = zip(*taken(), strict=True)
    door(one_row(spark, dict(zip(names, values, strict=True))))
    with pykudu_sql.connect(table, read_only=True) as conn:
        found = conn.execute(f"SELECT {', '.join(names)} FROM wide").fetchone()
    assert found == wanted
