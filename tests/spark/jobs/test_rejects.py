"""Rows that a load leaves out: each with its place, its reason, and up to a limit."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.shell.cli import main
from pykudu_sql.storage.errors import DataError
from tests.pykudu_sql.jobs.job_tables import (
    RANGED_TABLE,
    REASONS_OF_REJECTS,
    REJECTED_ROWS,
    read_rejects,
    run,
)
from tests.spark.spark_jobs import load


@pytest.fixture
def table(path: str) -> str:
    run(path, RANGED_TABLE, "INSERT INTO t VALUES ('2026-01-07', 7, 'z', 0)")
    return path


def stored(path: str) -> list[tuple[str, int, str]]:
    with pykudu_sql.connect(path, read_only=True) as conn:
        found = conn.execute("SELECT CAST(day AS STRING), id, name FROM t ORDER BY day, id")
        return [tuple(row) for row in found.fetchall()]


@pytest.mark.parametrize("packed", [False, True])
def test_every_row_that_does_not_fit_has_its_line_and_its_reason(
    spark: SparkSession, table: str, tmp_path: Path, packed: bool
) -> None:
    source, aside = tmp_path / ("in x.csv.gz" if packed else "in x.csv"), tmp_path / "bad.jsonl"
    source.write_bytes(gzip.compress(REJECTED_ROWS.encode()) if packed else REJECTED_ROWS.encode())
    report = load(table, "t", [str(source)], LoadOptions(rejects=str(aside)))
    found = read_rejects(aside)
    assert [(one["line"], one["reason"]) for one in found] == REASONS_OF_REJECTS
    assert {one["file"] for one in found} == {str(source)}
    assert (report.rows, report.rejected) == (2, 7)
    assert "2 outside all ranges" in report.text()
    assert "1 with a key given twice" in report.text()
    assert stored(table) == [
        ("2026-01-05", 1, "a"),
        ("2026-01-07", 7, "z"),
        ("2026-03-01", 5, "ed"),
    ]


def test_rows_of_other_files_have_their_number(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    days = pa.array([20458, 20459, 20460], pa.int32()).cast(pa.date32())
    for number in range(2):
        rows = pa.table({"day": days, "id": [number, 1, 1], "price": [1.0, 2.5, 1e9]})
        pq.write_table(rows, tmp_path / f"{number}.parquet", row_group_size=1)
    aside = tmp_path / "bad.jsonl"
    sources = [str(tmp_path / "0.parquet"), str(tmp_path / "1.parquet")]
    report = load(table, "t", sources, LoadOptions(rejects=str(aside)))
    assert (report.rows, report.rejected) == (3, 3)
    found = [
        (one["file"][-9:], one["row_number"], one["reason"][:18]) for one in read_rejects(aside)
    ]
    too_large = "column 'price': va"
    assert sorted(found) == sorted(
        [
            ("0.parquet", 3, too_large),
            ("1.parquet", 3, too_large),
            (found_twice(found), 2, "key (day, id) = (2"),
        ]
    )


def found_twice(found: list[tuple[str, int, str]]) -> str:
    """The file whose second row was taken for the later one; files come in Spark's order."""
    return next(file for file, number, _ in found if number == 2)


def test_a_key_that_is_missing_is_a_reject_of_an_update(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    source, aside = tmp_path / "in.csv", tmp_path / "bad.jsonl"
    source.write_text("day,id,name\n2026-01-07,7,up\n2026-01-08,8,no\n")
    options = LoadOptions(rejects=str(aside), operation="update")
    assert load(table, "t", [str(source)], options).rejected == 1
    assert [one["reason"] for one in read_rejects(aside)] == [
        "key (day, id) = (2026-01-08, 8) does not exist"
    ]
    assert stored(table) == [("2026-01-07", 7, "up")]


def test_more_rejects_than_permitted_load_nothing(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    source, aside = tmp_path / "in.csv", tmp_path / "bad.jsonl"
    source.write_text(REJECTED_ROWS)
    for most, permitted in ((6, False), (7, True)):
        options = LoadOptions(rejects=str(aside), max_rejects=most)
        if permitted:
            assert load(table, "t", [str(source)], options).rejected == 7
            continue
        with pytest.raises(DataError, match="more than 6 rows do not fit") as caught:
            load(table, "t", [str(source)], options)
        assert f"{source}, line 4: key" in caught.value.message
        assert "--max-rejects" in (caught.value.hint or "")
        assert not aside.exists()
        assert stored(table) == [("2026-01-07", 7, "z")]


def test_a_load_without_rejects_tells_count_and_first_rows(
    spark: SparkSession, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.csv"
    source.write_text(REJECTED_ROWS)
    assert main(["load", "--engine", "spark", table, "t", str(source)]) == 1
    lines = capsys.readouterr().err.splitlines()
    first = "pykudu-sql load: 7 rows do not fit the table, so nothing was loaded; the first:"
    assert lines[0] == first
    assert lines[1].startswith(f"  {source}, line 4: key (day, id) = (2026-01-05, 1) is given")
    assert lines[-1].startswith("HINT: --rejects")
    assert len(lines) == 7
