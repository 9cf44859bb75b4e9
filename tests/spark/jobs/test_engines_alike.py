"""A load does the same on either engine: the same rows, counts and reasons."""

import json
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.jobs import load as load_job
from pykudu_sql.jobs.on_spark import local_files
from pykudu_sql.jobs.options import LoadOptions
from tests.pykudu_sql.jobs.job_tables import PLAIN_TABLE, run, write_texts
from tests.spark.jobs.odd_rows import OddFiles, make_odd_files

Outcome = tuple[object, list[str], object]


def outcome(folder: Path, engine: str, files: OddFiles, operation: str, rejects: bool) -> Outcome:
    """What a load says, what the table has then, and what is in the file of rejects."""
    database, aside = folder / engine, folder / f"{engine}.jsonl"
    shutil.copytree(folder / "before", database)
    options = LoadOptions(
        engine=engine, operation=operation, rejects=str(aside) if rejects else None
    )
    said: object
    try:
        report = load_job.load(str(database), "t", files.paths, options)
        kinds = report.text().partition("rejected (")[2].rstrip(")").split(", ")
        said = (report.rows, report.bytes, report.rejected, sorted(kinds))
    except pykudu_sql.Error as error:
        said = (type(error), str(error))
    with pykudu_sql.connect(str(database), read_only=True) as connection:
        rows = sorted(map(repr, connection.execute("SELECT * FROM t").fetchall()))
    lines = aside.read_text(encoding="utf-8").split("\n") if aside.exists() else []
    return said, rows, [json.loads(line) for line in lines if line]


def alike(folder: Path, files: OddFiles, operation: str, rejects: bool = True) -> Outcome:
    """What either engine does, which is the same."""
    run(str(folder / "before"), files.table, files.rows)
    local = outcome(folder, "local", files, operation, rejects)
    assert outcome(folder, "spark", files, operation, rejects) == local
    return local


@pytest.mark.parametrize(
    ("file_format", "table", "operation", "keys"),
    [
        ("csv", "all", "insert", 0),
        ("json", "all", "insert", 0),
        ("parquet", "all", "insert", 0),
        ("csv", "ranged", "insert_ignore", 0),
        ("json", "ranged", "insert", 0),
        ("csv", "ranged", "delete", 2),
        ("json", "all", "delete", 1),
        ("parquet", "ranged", "update", 0),
    ],
)
def test_random_files_of_rows_that_fit_and_rows_that_do_not(
    spark: SparkSession, tmp_path: Path, file_format: str, table: str, operation: str, keys: int
) -> None:
    files = make_odd_files(tmp_path, file_format, 1, table, keys)
    _, _, rejects = alike(tmp_path, files, operation)
    assert rejects


def test_an_error_names_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    files = make_odd_files(tmp_path, "csv", 3, "ranged", 0)
    said, _, _ = alike(tmp_path, files, "insert", rejects=False)
    assert isinstance(said, tuple) and "rows do not fit the table" in said[1]


@pytest.mark.parametrize(
    ("texts", "operation"),
    [
        ({"a.csv": "id\n1\n1\n5\n"}, "delete"),
        ({"a.json": '{"id":1,"i":10}\n{"id":2,"i":5}\n'}, "upsert"),
        ({"a.json": '{"id":1}\n{"id":9}\n'}, "delete"),
        ({"a.csv": "id,v\n8,a\n", "b.csv": "i,id\n5,9\n"}, "insert"),
        ({"a.csv": 'id,v\n8,"a"b\n9,a"b\n\n  \n10,"x\n11,y\n'}, "insert"),
        ({"a.csv": "id,v\n8," + "x" * 70_000 + "\n9,a\n"}, "insert"),
    ],
)
def test_files_whose_rows_are_read_with_care(
    spark: SparkSession, tmp_path: Path, texts: dict[str, str], operation: str
) -> None:
    paths = write_texts(tmp_path, texts)
    rows = "INSERT INTO t (id, v, i) VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)"
    alike(tmp_path, OddFiles(paths, PLAIN_TABLE, rows), operation)


@pytest.mark.parametrize("file_format", ["json", "parquet"])
def test_large_files_are_read_in_parts(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    monkeypatch.setattr(local_files, "PART_BYTES", 2000)
    files = make_odd_files(tmp_path, file_format, 5, "all", 0)
    _, _, rejects = alike(tmp_path, files, "insert")
    assert rejects


def test_files_that_leave_different_columns_alone_are_not_mixed(
    spark: SparkSession, tmp_path: Path
) -> None:
    paths = write_texts(tmp_path, {"a.csv": "id,v\n1,x\n", "b.csv": "id,i\n1,5\n"})
    run(str(tmp_path / "db"), PLAIN_TABLE)
    options = LoadOptions(engine="spark", operation="upsert")
    with pytest.raises(pykudu_sql.ProgrammingError, match="the files have different columns"):
        load_job.load(str(tmp_path / "db"), "t", paths, options)
